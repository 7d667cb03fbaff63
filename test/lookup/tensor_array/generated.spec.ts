/** Programs over TensorArrays drawn by chance, against a plain model of the semantics. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { Random } from '../../helpers/random.js';
import { expectNoLeak } from '../../helpers/tensors.js';
import { NaiveArray, type NaiveSettings, type Value } from './naive_array.js';

const PROGRAMS = 30;
const STEPS = 40;
const SHAPES: readonly (readonly number[])[] = [[2], [2], [2], [3], [1, 2], []];

/** One array in both forms. */
interface Pair {
  readonly real: emb.TensorArray;
  readonly naive: NaiveArray;
}

type Answer = Value | number | null;

interface Action {
  readonly text: string;
  real(): Answer | Pair['real'];
  naive(): Answer | NaiveArray;
}

const plain = (tensor: tf.Tensor): Value => ({ shape: tensor.shape, values: Array.from(tensor.dataSync()) });
const tensorOf = ({ shape, values }: Value): tf.Tensor => tf.tensor(values as number[], shape as number[]);

function drawValue(random: Random, shape: readonly number[] = random.pick(SHAPES)): Value {
  const size = shape.reduce((product, each) => product * each, 1);
  return { shape, values: Array.from({ length: size }, () => random.whole(-9, 10)) };
}

function drawRows(random: Random, rows: number): Value {
  return random.chance(0.05) ? drawValue(random, []) : drawValue(random, [rows, ...random.pick([[2], [2], []])]);
}

function drawSettings(random: Random): NaiveSettings {
  return {
    size: random.whole(0, 6),
    elementShape: random.pick([null, null, [2], [null], [null, 2]]),
    dynamicSize: random.chance(0.4),
    clearAfterRead: random.chance(0.4),
  };
}

/** A step on one of the arrays, mostly one that is allowed. */
function drawAction(random: Random, { real, naive }: Pair): Action {
  const places = naive.cells.length;
  const at = random.whole(random.chance(0.03) ? -1 : 0, places + (random.chance(0.2) ? 2 : 0) || 1);
  const indices = Array.from({ length: random.whole(0, 4) }, () => random.whole(0, Math.max(1, places)));
  const kind = random.pick([
    'write',
    'write',
    'write',
    'read',
    'read',
    'gather',
    'scatter',
    'split',
    'concat',
    'size',
    'grad',
    'grad',
    'close',
  ]);
  const nothing = (run: () => unknown) => (): null => (run(), null);
  switch (kind) {
    case 'write': {
      const value = drawValue(random);
      const text = `write ${at} [${value.shape.join()}]`;
      return {
        text,
        real: nothing(() => real.write(at, tensorOf(value))),
        naive: nothing(() => naive.write(at, value)),
      };
    }
    case 'read':
      return { text: `read ${at}`, real: () => plain(real.read(at)), naive: () => naive.read(at) };
    case 'gather': {
      const some = random.chance(0.3) ? indices : [...new Set(indices)];
      const text = `gather ${some.join()}`;
      return { text, real: () => plain(real.gather(some)), naive: () => naive.gather(some) };
    }
    case 'scatter': {
      const some = [...new Set(indices)];
      const value = drawRows(random, random.chance(0.1) ? some.length + 1 : some.length);
      return {
        text: `scatter ${some.join()} [${value.shape.join()}]`,
        real: nothing(() => real.scatter(some, tensorOf(value))),
        naive: nothing(() => naive.scatter(some, value)),
      };
    }
    case 'split': {
      const lengths = Array.from({ length: random.chance(0.8) ? places : places + 1 }, () => random.whole(0, 3));
      const value = drawRows(
        random,
        lengths.reduce((sum, length) => sum + length, 0),
      );
      return {
        text: `split [${value.shape.join()}] by ${lengths.join()}`,
        real: nothing(() => real.split(tensorOf(value), lengths)),
        naive: nothing(() => naive.split(value, lengths)),
      };
    }
    case 'concat':
      return {
        text: 'concat',
        real: () => {
          const { value, lengths } = real.concat();
          return { shape: [...value.shape, ...lengths], values: Array.from(value.dataSync()) };
        },
        naive: () => {
          const { shape, values, lengths } = naive.concat();
          return { shape: [...shape, ...lengths], values };
        },
      };
    case 'size':
      return { text: 'size', real: () => real.size(), naive: () => naive.size() };
    case 'grad': {
      const source = random.pick(['gradients', 'gradients', 'gradients_1']);
      const prepend = random.chance(0.2) ? [2] : [];
      const { handle } = real;
      const make = (): emb.TensorArrayGradient =>
        prepend.length === 0
          ? emb.tensorArrayGrad(handle, tf.scalar(0), source)
          : emb.tensorArrayGradWithShape(handle, tf.scalar(0), prepend, source);
      return {
        text: `grad ${source} ${prepend.join()}`,
        real: () => emb.tensorArray(make().gradHandle),
        naive: () => naive.gradient(source, prepend),
      };
    }
    default:
      // Seldom: nothing can be done with the array afterwards.
      if (random.chance(0.8)) return { text: 'size', real: () => real.size(), naive: () => naive.size() };
      return { text: 'close', real: nothing(() => real.close()), naive: nothing(() => naive.close()) };
  }
}

function outcomeOf(run: () => unknown): { result: unknown; error: string | null } {
  try {
    return { result: run(), error: null };
  } catch (error) {
    const { name, as } = error as Error & { as?: string };
    return { result: null, error: as ?? name };
  }
}

/** A step that the model takes, where one is found soon, and seldom one that it refuses. */
function drawLikely(random: Random, pairs: readonly Pair[], which: number): Action {
  for (let tries = 0; ; tries++) {
    const action = drawAction(random, pairs[which]!);
    const restore = pairs.map(({ naive }) => naive.snapshot());
    const { error } = outcomeOf(action.naive);
    for (const put of restore) put();
    if (error === null || tries === 20 || random.chance(0.01)) return action;
  }
}

/** Runs a program until a step is refused, which must be the same one; returns how many steps were taken. */
function runProgram(random: Random): { taken: number; refused: boolean } {
  const settings = drawSettings(random);
  const pairs: Pair[] = [{ real: new emb.TensorArray({ ...settings, name: 'ta' }), naive: new NaiveArray(settings) }];
  const told = [JSON.stringify(settings)];
  for (let step = 0; step < STEPS; step++) {
    const which = random.whole(0, pairs.length);
    const action = drawLikely(random, pairs, which);
    told.push(`${which}: ${action.text}`);
    const [actual, expected] = [outcomeOf(action.real), outcomeOf(action.naive)];
    const context = told.join(' | ');
    expect(actual.error).withContext(context).toBe(expected.error);
    if (actual.error !== expected.error) return { taken: step, refused: true };
    if (expected.error !== null) return { taken: step, refused: true };
    if (expected.result instanceof NaiveArray) {
      const known = pairs.findIndex(({ naive }) => naive === expected.result);
      if (known < 0) pairs.push({ real: actual.result as emb.TensorArray, naive: expected.result });
      else expect(actual.result).withContext(context).toBe(pairs[known]!.real);
    } else expect(actual.result).withContext(context).toEqual(expected.result);
  }
  return { taken: STEPS, refused: false };
}

describeForBackends(
  'TensorArray, programs drawn by chance',
  () => {
    it(`${PROGRAMS} programs give what a plain model of the semantics gives, up to the first step that it refuses`, () => {
      const runs = Array.from({ length: PROGRAMS }, (_, seed) =>
        expectNoLeak(() => tf.tidy(() => JSON.stringify(runProgram(new Random(seed + 1))))),
      ).map((text) => JSON.parse(text) as { taken: number; refused: boolean });
      // Programs of a few steps, and of many, and refusals.
      expect(runs.filter(({ taken }) => taken > 8).length).toBeGreaterThan(PROGRAMS / 4);
      expect(runs.filter(({ refused }) => refused).length).toBeGreaterThan(PROGRAMS / 4);
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
