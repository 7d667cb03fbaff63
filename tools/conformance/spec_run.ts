/** One run of specs in a process of its own, and what it tells. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { runProgram } from '../attack/child_program.js';

export interface SpecRun {
  /** The program that `bundleTfjs` wrote. */
  readonly bundle: string;
  readonly backend: string;
  readonly withPackage: boolean;
  /** Settings of the `tpu-emulator`. */
  readonly emulator?: object;
  readonly texts: readonly string[];
  /** The file that gets the results. */
  readonly results: string;
}

/** A spec that ended; the last line has the status `end`. */
export interface SpecLine {
  readonly name: string;
  readonly status: string;
  readonly message: string;
}

const PROGRAM = new URL('spec_program.ts', import.meta.url);
const TIMEOUT_MS = 3_600_000;

/** The results by name; a process that ended before its specs did adds a failure that tells how. */
export async function runSpecs(run: SpecRun): Promise<Map<string, SpecLine>> {
  rmSync(run.results, { force: true });
  const { problem } = await runProgram(PROGRAM, [JSON.stringify(run)], { timeoutMs: TIMEOUT_MS });
  const text = existsSync(run.results) ? readFileSync(run.results, 'utf8') : '';
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SpecLine);
  const results = new Map(lines.filter(({ status }) => status !== 'end').map((line) => [line.name, line]));
  if (lines.at(-1)?.status !== 'end' || problem !== null) {
    const message = problem ?? 'ended before its specs';
    results.set('the process', { name: 'the process', status: 'failed', message });
  }
  return results;
}
