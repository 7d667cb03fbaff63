/** Files of ONNX, run by onnxruntime: in Node, and as WebAssembly. */
import * as tf from '@tensorflow/tfjs';
import type { InferenceSession, Tensor, TensorConstructor } from 'onnxruntime-node';
import { drawModel } from '../saved_model/drawn/model.js';
import { drawRun, type DrawnRun } from '../saved_model/drawn/run.js';
import type { PlainInput, PlainTensor } from '../saved_model/exports.js';

export interface Runtime {
  readonly InferenceSession: {
    create(file: string | Uint8Array, options?: InferenceSession.SessionOptions): Promise<InferenceSession>;
  };
  readonly Tensor: TensorConstructor;
}

export async function nodeRuntime(): Promise<Runtime> {
  return (await import('onnxruntime-node')) as unknown as Runtime;
}

export async function wasmRuntime(): Promise<Runtime> {
  const web = await import('onnxruntime-web/wasm');
  web.env.wasm.numThreads = 1;
  web.env.logLevel = 'error';
  return web as unknown as Runtime;
}

const ARRAYS = { float32: Float32Array, int32: Int32Array, bool: Uint8Array } as const;

/** A tensor as the runtime takes it; `wide`: whole numbers as int64. */
export function fed({ Tensor }: Runtime, { dtype, shape, values }: PlainTensor, wide: boolean): Tensor {
  if (dtype === 'str' || dtype === 'string') return new Tensor('string', values as unknown as string[], shape);
  if (dtype === 'int64' || (wide && dtype === 'int32')) {
    return new Tensor(
      'int64',
      BigInt64Array.from(values, (each) => BigInt(each)),
      shape,
    );
  }
  const data = ARRAYS[dtype as keyof typeof ARRAYS].from(values);
  return new Tensor(dtype as 'float32', data as Float32Array, shape);
}

/** Outputs by name, as numbers. */
export async function runOnce(
  runtime: Runtime,
  session: InferenceSession,
  inputs: Readonly<Record<string, PlainTensor>>,
  wide = false,
): Promise<Record<string, number[]>> {
  const feeds = Object.fromEntries(Object.entries(inputs).map(([name, each]) => [name, fed(runtime, each, wide)]));
  const outputs = await session.run(feeds);
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { data }]) => [name, Array.from(data as Float32Array, Number)]),
  );
}

export function plainInputs(names: readonly string[], inputs: readonly tf.Tensor[]): Record<string, PlainTensor> {
  return Object.fromEntries(
    inputs.map((input, i) => [
      names[i]!,
      { dtype: input.dtype, shape: input.shape, values: Array.from(input.dataSync()) },
    ]),
  );
}

/** What a SavedModel takes of ragged features, in whichever form, as values and row splits of 32 bits. */
export function componentInputs(named: Readonly<Record<string, PlainInput>>): Record<string, PlainTensor> {
  const given: Record<string, PlainTensor> = {};
  for (const [name, each] of Object.entries(named)) {
    const splits = named[`${name}_1`];
    const isSplits = (other: PlainInput | undefined): other is PlainTensor =>
      other !== undefined && 'dtype' in other && other.dtype === 'int64' && other.shape.length === 1;
    const set = (values: PlainTensor, rowSplits: PlainTensor): void => {
      given[`${name}_values`] = values;
      given[`${name}_row_splits`] = { ...rowSplits, dtype: 'int32' };
    };
    if ('rowSplits' in each) set(each.values, each.rowSplits);
    else if (isSplits(splits)) set(each, splits);
    else if (!(name.endsWith('_1') && isSplits(each) && name.slice(0, -2) in named)) given[name] = each;
  }
  return given;
}

/**
 * So many models of layers of this package, drawn by seeds from one on, each in a scope of tfjs. Models of tfjs alone are
 * left out: `predict` there has no masks as exports have them, and some do not run (`mendTfjs` mends all models of a
 * process).
 */
export async function eachDrawn(
  first: number,
  count: number,
  use: (seed: number, run: DrawnRun) => Promise<void>,
): Promise<void> {
  for (let seed = first, left = count; left > 0; seed++) {
    tf.engine().startScope();
    try {
      const run = drawnModel(seed);
      if (run === null) continue;
      left--;
      await use(seed, run);
      run.dispose();
    } finally {
      tf.engine().endScope();
    }
  }
}

/** null: one of tfjs alone. */
function drawnModel(seed: number): DrawnRun | null {
  const text = JSON.stringify(drawModel(seed).model.getConfig());
  return text.includes('TfjsEmbeddings>') ? drawRun(seed) : null;
}
