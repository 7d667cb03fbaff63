/** The proof that an export is whole: TensorFlow loads it in other processes, through tfjs-node and Python. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { EncodedRows } from './data/encoder.js';

/** How far probabilities may be apart: TensorFlow adds up in another order. */
const TOLERANCE = 1e-6;

/** Rows that are compared; the JSON of more is large. */
const MOST_ROWS = 2000;

/** What another process is given. */
export interface ExportedRequest {
  readonly directory: string;
  readonly inputs: Readonly<Record<string, { readonly shape: readonly number[]; readonly values: readonly number[] }>>;
  /** Where it writes its predictions, a list of numbers. */
  readonly output: string;
}

export interface ExportProof {
  /** Largest differences; null where there is no TensorFlow of that kind. */
  readonly exportedEqual: { readonly tfjsNode: number | null; readonly python: number | null };
  readonly isWhole: boolean;
  readonly lines: readonly string[];
}

function programPath(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Runs a program on a request; what it wrote, or why there is nothing. */
function predictions(
  command: string,
  args: readonly string[],
  request: ExportedRequest,
  file: string,
): number[] | string {
  rmSync(request.output, { force: true });
  const env = { ...process.env, TF_CPP_MIN_LOG_LEVEL: '2' };
  const { status, error, stderr } = spawnSync(command, [...args, file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    env,
  });
  if (error !== undefined) return error.message;
  if (status !== 0) return stderr.trim().split('\n').at(-1) ?? `exit code ${status}`;
  return JSON.parse(readFileSync(request.output, 'utf8')) as number[];
}

/** Whether Python finds a module; importing TensorFlow takes seconds. */
function hasModule(python: string, name: string): boolean {
  const program = `import importlib.util, sys; sys.exit(importlib.util.find_spec("${name}") is None)`;
  return spawnSync(python, ['-c', program], { stdio: 'ignore' }).status === 0;
}

async function hasTfjsNode(): Promise<boolean> {
  return import('@tensorflow/tfjs-node').then(
    () => true,
    () => false,
  );
}

function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Infinity;
  return Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
}

/** Exports the model and lets other processes predict the rows, which it gave these probabilities. */
export async function proveExport(
  model: tf.LayersModel,
  directory: string,
  rows: EncodedRows,
  probabilities: Float32Array,
): Promise<ExportProof> {
  const start = performance.now();
  await emb.savedModel.export(model, directory, { overwrite: true });
  const seconds = ((performance.now() - start) / 1000).toFixed(2);
  const count = Math.min(rows.count, MOST_ROWS);
  const expected = probabilities.subarray(0, count);
  const folder = mkdtempSync(join(tmpdir(), 'wide-and-deep-export-'));
  try {
    const inputs = rows.inputs.map(({ ids, width }, i): [string, { shape: number[]; values: number[] }] => {
      return [model.inputNames[i]!, { shape: [count, width], values: Array.from(ids.subarray(0, count * width)) }];
    });
    const request: ExportedRequest = {
      directory,
      inputs: Object.fromEntries(inputs),
      output: join(folder, 'answer.json'),
    };
    const file = join(folder, 'request.json');
    writeFileSync(file, JSON.stringify(request));
    const python = process.env['PYTHON'] ?? 'python3';
    const node = [...process.execArgv, programPath('./exported.ts')];
    const found = {
      tfjsNode: (await hasTfjsNode()) ? predictions(process.execPath, node, request, file) : null,
      python: hasModule(python, 'tensorflow')
        ? predictions(python, [programPath('./exported.py')], request, file)
        : null,
    };
    return proofOf(found, expected, `exported to ${directory} in ${seconds} s`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function proofOf(
  found: Readonly<Record<'tfjsNode' | 'python', number[] | string | null>>,
  expected: Float32Array,
  first: string,
): ExportProof {
  const tried = (['tfjsNode', 'python'] as const).map((who) => {
    const name = who === 'python' ? 'Python' : 'tfjs-node';
    const given = found[who];
    if (given === null) return { who, apart: null, line: `${name}: no TensorFlow there` };
    if (typeof given === 'string') return { who, apart: Infinity, line: `${name}: FAILED, ${given}` };
    const apart = largestDifference(given, expected);
    const outcome = apart <= TOLERANCE ? 'the same predictions' : 'OTHER predictions';
    return { who, apart, line: `${name} loaded the export: ${outcome}, at most ${apart.toExponential(1)} apart` };
  });
  const [tfjsNode, python] = tried.map(({ apart }) => apart) as [number | null, number | null];
  return {
    exportedEqual: { tfjsNode, python },
    isWhole: tried.every(({ apart }) => apart === null || apart <= TOLERANCE),
    lines: [first, ...tried.map(({ line }) => line)],
  };
}
