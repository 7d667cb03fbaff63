/**
 * Trains models with hostile steps op by op and captured, in a process of its own.
 *   node --import tsx tools/attack/programs/captured_program.ts <seed> [part of parts, as 0/2] [words in the names of those that run]
 * Every step of hostile/steps, fields of all layers that change, and trainings that are put together at random; of
 * those, each `parts`-th one. Says on standard error how many there are, and which one runs and what came of it. Prints
 * a JSON line with what fell, how many trainings were captured and equal, in how many of them nothing changes whatever
 * is done to them (idle), and why others ran op by op.
 */
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-node';
import { Random } from '../../../test/helpers/random.js';
import { CALLBACKS } from '../hostile/steps/callbacks.js';
import { changedFields } from '../hostile/steps/changed_fields.js';
import { FUNCTIONS } from '../hostile/steps/functions.js';
import { INNER_PARTS } from '../hostile/steps/inner_parts.js';
import type { HostileStep } from '../hostile/steps/hostile_step.js';
import { UNSEEN } from '../hostile/steps/unseen.js';
import { STATES } from '../hostile/steps/states.js';
import { STEPS, trainTwice } from '../hostile/steps/trained_twice.js';

/** Trainings in which several things happen. */
const GENERATED = 100;

const seed = Number(process.argv[2] ?? 1);
const [part, parts] = (process.argv[3] ?? '0/1').split('/').map(Number) as [number, number];
const only = process.argv[4];
const random = new Random(seed);
await tf.setBackend('tensorflow');
tf.engine().startScope();
const drawn = changedFields(random);
const all = [...UNSEEN, ...CALLBACKS, ...FUNCTIONS, ...STATES, ...INNER_PARTS];

/** Several hostile steps on one model, one after the other. */
function generated(): HostileStep {
  const first = random.pick(all);
  const others = [...all, ...drawn].filter(({ model, compile, batch }) => model === first.model && !compile && !batch);
  const acts = [first, ...Array.from({ length: random.whole(1, 4) }, () => random.pick(others))];
  const at = acts.map(() => random.whole(0, STEPS));
  return {
    ...first,
    name: acts.map(({ name }, i) => `${name} at ${at[i]}`).join(', '),
    when: 'always',
    act: async (training) => {
      for (const [i, { act, when }] of acts.entries()) {
        if (when === 'always' ? training.step >= at[i]! : training.step === at[i]!) await act(training);
      }
    },
  };
}

const named = [...all, ...drawn, ...Array.from({ length: GENERATED }, generated)].map((program) => ({
  program,
  name: `${program.name} (${program.model}, ${program.when})`,
}));
const wanted = named.filter(({ name }, i) => i % parts === part && (only === undefined || name.includes(only)));
const fallen: string[] = [];
const reasons: Record<string, number> = {};
let captured = 0;
let idle = 0;
console.error(`${wanted.length} trainings`);
for (const { program, name } of wanted) {
  tf.engine().startScope();
  // One that hangs is told by what was tried last.
  console.error(name);
  const { kind, what } = await trainTwice(program, seed);
  tf.engine().endScope();
  // Models of before would make each later recording look at their variables.
  tf.disposeVariables();
  if (kind === 'captured') captured += 1;
  else if (kind === 'idle') idle += 1;
  else if (kind === 'different') fallen.push(`${name}: ${what}`);
  else {
    const reason = what.replace(/\b(layer|table|weight) \S+/g, '$1 …').replace(/\d+/g, 'N');
    reasons[reason] = (reasons[reason] ?? 0) + 1;
  }
  console.error(`  ${kind} ${name}: ${what}`);
}
console.log(JSON.stringify({ tried: wanted.length, captured, idle, reasons, fallen }));
