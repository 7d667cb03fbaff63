/** Runs the programs whose results are frozen, each in a process of its own. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { outcomeOf } from '../../test/helpers/project.js';

const FOLDER = fileURLToPath(new URL('./programs/', import.meta.url));

/** Runs a program and reads the JSON that it prints. Throws with the end of its standard error where it fails. */
export function runProgram<T>(name: string, args: readonly string[] = [], flags: readonly string[] = []): Promise<T> {
  // The same instances of the kernels wherever there are several; results do not depend on the number of threads.
  const env = { TFJS_EMBEDDINGS_ISA: 'avx2', ...process.env };
  const program = spawn(process.execPath, [...flags, join(FOLDER, name), ...args], { env });
  return lastJson(program, `${name} ${args.join(' ')}`);
}

/** The JSON that a program prints last: tfjs greets on standard output. Throws with the end of its standard error. */
export async function lastJson<T>(program: Parameters<typeof outcomeOf>[0], name: string): Promise<T> {
  const { code, output, errors } = await outcomeOf(program);
  const json = output.slice(output.lastIndexOf('\n') + 1);
  if (code === 0 && json.startsWith('{')) return JSON.parse(json) as T;
  throw new Error(`${name} ended with ${code}: ${errors.slice(-2000)}`);
}

/** Runs jobs side by side, so many at a time; results in the order of the jobs. */
export async function sideBySide<T>(jobs: readonly (() => Promise<T>)[], most: number): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < jobs.length) {
      const i = next++;
      results[i] = await jobs[i]!();
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, jobs.length) }, worker));
  return results;
}
