// @ts-check
/**
 * `npm test`: sets up and runs the specs, see run.ts. Needs Node alone. With --changed nothing is bundled, which takes
 * most of a minute after each change of the sources: specs of bundles are left out then.
 */
import { fileURLToPath } from 'node:url';
import { PART_NAMES } from '../custom-ops/setup/parts.mjs';
import { exitCode, makeParts } from '../custom-ops/setup/program.mjs';
import { tableOf } from '../custom-ops/setup/table.mjs';
import { runTypescript } from '../custom-ops/typescript/run.mjs';

const RUN = fileURLToPath(new URL('run.ts', import.meta.url));

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit code
 */
async function main(args) {
  const only = args.includes('--changed') ? PART_NAMES.filter((name) => name !== 'bundles') : null;
  const rows = await makeParts({ only });
  if (rows === null) return 1;
  if (only === null || rows.some(({ state }) => state !== 'present')) process.stdout.write(`${tableOf(rows)}\n`);
  const code = exitCode(rows, process.env.CI);
  if (code !== 0) return code;
  return runTypescript(RUN, args);
}

process.exitCode = await main(process.argv.slice(2));
