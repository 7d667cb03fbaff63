/**
 * Attacks of any length, beyond what specs have time for: `npm run attack -- --rounds 100 --seed 7 --only addon`.
 *
 * An attack is a file of this folder that exports an `Attack` (attack.ts): `{name, describe, run(options)}`. To add one,
 * add it to ATTACKS. Progress and findings go to standard error; the last line on standard output is JSON with the
 * counts. Ends with 0 where nothing was found, 1 where something was, 2 for wrong options.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { addonCalls } from './addon_calls.js';
import { addonRaces } from './addon_races.js';
import type { Attack } from './attack.js';
import { capturedSteps } from './captured.js';
import { KILLED_SAVES } from './killed_saves.js';
import { modelFiles } from './model_files.js';
import { npyHeaders } from './npy_headers.js';
import { runAttacks } from './run_attacks.js';
import { deviceFaults } from './soak/device_faults.js';
import { kerasFiles } from './keras_files.js';
import { killedSetups } from './soak/killed_setups.js';
import { savedModels } from './saved_models.js';
import { sanitizedAddon } from './sanitized_addon.js';
import { sessionCalls } from './session_calls.js';
import { tensorFlowOps } from './tensorflow_ops.js';
import { threadPool } from './thread_pool.js';

const ATTACKS: readonly Attack[] = [
  addonCalls,
  addonRaces,
  tensorFlowOps,
  sessionCalls,
  ...KILLED_SAVES,
  modelFiles,
  npyHeaders,
  kerasFiles,
  savedModels,
  capturedSteps,
  sanitizedAddon,
  threadPool,
  deviceFaults,
  killedSetups,
];
const NAMES = ATTACKS.map(({ name }) => name);

const HELP = `npm run attack -- [--rounds N] [--seed S] [--only NAME]...

  --rounds N   rounds of each attack (10)
  --seed S     round r draws from seed S + r (1)
  --only NAME  this attack alone; may be given several times

${ATTACKS.map(({ name, describe }) => `  ${name.padEnd(12)} ${describe}`).join('\n')}
`;

interface Wanted {
  readonly rounds: number;
  readonly seed: number;
  readonly attacks: readonly Attack[];
}

/** What the options ask for; null: help. Throws with a sentence for wrong ones. */
function read(args: readonly string[]): Wanted | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h' },
      rounds: { type: 'string', default: '10' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', multiple: true, default: NAMES },
    },
  });
  if (values.help === true) return null;
  const unknown = values.only.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new Error(`--only: there is no attack ${unknown}, but ${NAMES.join(', ')}`);
  return {
    rounds: whole('rounds', values.rounds, 1),
    seed: whole('seed', values.seed, 0),
    attacks: ATTACKS.filter(({ name }) => values.only.includes(name)),
  };
}

function whole(option: string, text: string, least: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= 2 ** 31) return number;
  throw new Error(`--${option}: expected a whole number from ${least} on, received ${text}`);
}

/** Builds what is out of date; true where all went well. */
function isSetUp(): boolean {
  const program = fileURLToPath(new URL('../../custom-ops/setup.mjs', import.meta.url));
  return spawnSync(process.execPath, [program, '--quiet'], { stdio: 'inherit' }).status === 0;
}

async function main(): Promise<number> {
  let wanted: Wanted | null;
  try {
    wanted = read(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    return 2;
  }
  if (wanted === null) {
    process.stdout.write(HELP);
    return 0;
  }
  if (!isSetUp()) return 2;
  const summary = await runAttacks(wanted.attacks, wanted, (line) => console.error(line));
  console.log(JSON.stringify(summary));
  return summary.findings === 0 ? 0 : 1;
}

process.exitCode = await main();
