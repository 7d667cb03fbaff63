/** Runs models as a user does: as processes of their own. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { WITH_DIST } from '../helpers/programs.js';

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `variables`: of the environment, beside those of this process. */
export function runModel(
  model: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const main = fileURLToPath(new URL(`../../models/${model}/main.ts`, import.meta.url));
  const child = spawn(process.execPath, [...WITH_DIST, main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...variables },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** The JSON of the last line. */
export function reportOf<T>({ code, stdout, stderr }: Outcome): T {
  expect(code).withContext(stderr).toBe(0);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as T;
}
