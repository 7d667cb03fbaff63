/** The proof that an export is whole: TensorFlow loads it in other processes, through tfjs-node and Python. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type * as tf from '@tensorflow/tfjs';
import { largestDifference, runElsewhere, type Outcome } from './other_process.js';

/** How far predictions may be apart: TensorFlow adds up in another order. */
const TOLERANCE = 1e-6;
/** Rows that are compared; the JSON of more is large. */
const MOST_ROWS = 2000;

/** What another process is given. */
export interface ExportedRequest {
  readonly directory: string;
  readonly inputs: Readonly<Record<string, { readonly shape: readonly number[]; readonly values: readonly number[] }>>;
}

/** Inputs of a model, row-major int32 [count, width], and what it predicted for each row: one number. */
interface Predicted {
  readonly inputs: readonly { readonly ids: Int32Array; readonly width: number }[];
  readonly predictions: Float32Array;
}

export interface ExportProof {
  /** Largest differences; null where there is no TensorFlow of that kind. */
  readonly exportedEqual: { readonly tfjsNode: number | null; readonly python: number | null };
  readonly isWhole: boolean;
  readonly lines: readonly string[];
}

const programPath = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Whether Python finds a module; importing TensorFlow takes seconds. */
function hasModule(python: string, name: string): boolean {
  const program = `import importlib.util, sys; sys.exit(importlib.util.find_spec("${name}") is None)`;
  return spawnSync(python, ['-c', program], { stdio: 'ignore' }).status === 0;
}

/** Lets other processes predict with the export of `model` in `directory`. */
export async function proveExport(
  model: tf.LayersModel,
  directory: string,
  { inputs, predictions }: Predicted,
): Promise<ExportProof> {
  const expected = predictions.subarray(0, MOST_ROWS);
  const named = inputs.map(({ ids, width }, i) => {
    const values = Array.from(ids.subarray(0, expected.length * width));
    return [model.inputNames[i]!, { shape: [expected.length, width], values }];
  });
  const request: ExportedRequest = { directory, inputs: Object.fromEntries(named) as ExportedRequest['inputs'] };
  const compare = async (who: string, isThere: boolean, run: () => Promise<Outcome>) => {
    if (!isThere) return { apart: null, line: `${who}: no TensorFlow there` };
    try {
      const difference = largestDifference((await run()).predictions, expected);
      const apart = Number.isNaN(difference) ? Infinity : difference;
      const outcome = apart <= TOLERANCE ? 'the same predictions' : 'OTHER predictions';
      return { apart, line: `${who} loaded the export: ${outcome}, at most ${apart.toExponential(1)} apart` };
    } catch (error) {
      return { apart: Infinity, line: `${who}: FAILED, ${(error as Error).message.split('\n').at(-1)}` };
    }
  };
  const hasTfjsNode = await import('@tensorflow/tfjs-node').then(
    () => true,
    () => false,
  );
  const program = [...process.execArgv, programPath('./exported.ts')];
  const tfjsNode = await compare('tfjs-node', hasTfjsNode, () => runElsewhere(process.execPath, program, request));
  const command = process.env['PYTHON'] ?? 'python3';
  const python = await compare('Python', hasModule(command, 'tensorflow'), () =>
    runElsewhere(command, [programPath('./exported.py')], request),
  );
  return {
    exportedEqual: { tfjsNode: tfjsNode.apart, python: python.apart },
    isWhole: [tfjsNode, python].every(({ apart }) => apart === null || apart <= TOLERANCE),
    lines: [tfjsNode.line, python.line],
  };
}
