/** Lets other processes predict with what this one saved, so that nothing of this one can help. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns what `work` gives for a folder, made where there is none; null: a temporary one, removed afterwards. */
export async function inFolder<T>(path: string | null, work: (folder: string) => Promise<T>): Promise<T> {
  if (path !== null) {
    mkdirSync(path, { recursive: true });
    return work(path);
  }
  const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-model-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a program made of a request. */
export interface Outcome {
  readonly predictions: Float32Array;
  /** What it printed. */
  readonly printed: string;
}

/**
 * Runs a program with two more arguments: a file that holds the request as JSON, and one to write float32 predictions to.
 * Throws with what it said where it fails.
 */
export function runElsewhere(command: string, args: readonly string[], request: object): Promise<Outcome> {
  return inFolder(null, async (folder) => {
    const [input, output] = [join(folder, 'request.json'), join(folder, 'predictions')];
    writeFileSync(input, JSON.stringify(request));
    const { status, error, stdout, stderr } = spawnSync(command, [...args, input, output], {
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
      env: { TF_CPP_MIN_LOG_LEVEL: '2', ...process.env },
    });
    if (error !== undefined) throw error;
    if (status !== 0) throw new Error(`${command} ended with exit code ${status}\n${stderr.trimEnd()}`);
    return { predictions: new Float32Array(Uint8Array.from(readFileSync(output)).buffer), printed: stdout };
  });
}

/** Whether two lists of float32 are the same to the bit. */
export function sameBits(a: Float32Array, b: Float32Array): boolean {
  const bits = (values: Float32Array): Buffer => Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return bits(a).equals(bits(b));
}

/** NaN where one is not a number or the lengths differ. */
export function largestDifference(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return NaN;
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
}
