/** Lets a second process load the saved model and predict, so that nothing of the first one can help. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TextTable } from './data/csv.js';
import type { Machine } from './device_options.mjs';
import type { BackendName } from './options.mjs';

/** What the second process is given: files and a name, no weights and no ids. */
export interface ReloadRequest {
  readonly model: string;
  readonly backend: BackendName;
  readonly machine: Machine | null;
  readonly rows: TextTable;
  /** Where it writes its answer. */
  readonly output: string;
}

/** What the second process answers. */
export interface ReloadAnswer {
  /** Float32 bytes in base64. */
  readonly predictions: string;
  /** Number of tables whose rows lie on several devices. */
  readonly tablesByRows: number;
}

/** What another process makes of a saved model. */
export interface Elsewhere {
  readonly probabilities: Float32Array;
  readonly tablesByRows: number;
}

/** Lets another process load the model and predict rows of text. */
export function predictElsewhere({ rows, ...where }: Omit<ReloadRequest, 'output'>): Elsewhere {
  const folder = mkdtempSync(join(tmpdir(), 'wide-and-deep-reload-'));
  try {
    const request: ReloadRequest = { ...where, rows, output: join(folder, 'answer.json') };
    const requestPath = join(folder, 'request.json');
    writeFileSync(requestPath, JSON.stringify(request));
    const program = fileURLToPath(new URL('./reload.ts', import.meta.url));
    const { status, error, stderr } = spawnSync(process.execPath, [...process.execArgv, program, requestPath], {
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    });
    if (error !== undefined) throw error;
    if (status !== 0) throw new Error(`the second process ended with exit code ${status}\n${stderr}`);
    const { predictions, tablesByRows } = JSON.parse(readFileSync(request.output, 'utf8')) as ReloadAnswer;
    return {
      probabilities: new Float32Array(Uint8Array.from(Buffer.from(predictions, 'base64')).buffer),
      tablesByRows,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether two lists of float32 are the same to the bit. */
export function sameBits(a: Float32Array, b: Float32Array): boolean {
  const bits = (values: Float32Array): Buffer => Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return a.length === b.length && bits(a).equals(bits(b));
}
