/** A file of ONNX beside the model that it was written from: onnxruntime runs it on the same inputs. */
import * as tf from '@tensorflow/tfjs';
import type * as ort from 'onnxruntime-node';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { importUnbundled, loadPackage } from '../../base/platform.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';
import { pathOf } from '../../io/byte_source.js';
import { openOnnx } from '../../io/weights/onnx_file.js';
import { readKeys, type KeyKind } from '../../tables/keys/read_keys.js';
import { bigintsOf } from '../../tables/keys/read_keys.js';
import { keyInputKind } from '../../tfjs/models/key_inputs.js';
import { layerOf } from '../saved_model/model_graph.js';
import { fedInputs, type FedInput } from '../saved_model/ragged_inputs.js';
import { readSignatures, type Signature } from '../saved_model/signatures.js';
import { METADATA_KEY } from './model_file.js';

/** A tensor, ragged ids, or keys in any container. */
export type OnnxInput = unknown;
/** As `predict` takes them: one, a list, or an object by the names of the inputs. */
export type OnnxInputs = OnnxInput | readonly OnnxInput[] | Readonly<Record<string, OnnxInput>>;

interface Runtime {
  readonly InferenceSession: { create(path: string, options?: object): Promise<ort.InferenceSession> };
  readonly Tensor: new (type: string, data: unknown, dims: readonly number[]) => ort.Tensor;
}

/** Numbers, keys or texts one after the other. */
interface Flat {
  readonly values: ArrayLike<number | bigint | string>;
  readonly dims: readonly number[];
}

/** The inputs of a model in their order. */
function inOrder(model: tf.LayersModel, inputs: unknown, names: readonly string[]): unknown[] {
  const isByName =
    isRecord(inputs) && !(inputs instanceof tf.Tensor) && !(inputs instanceof RaggedTensor) && !('values' in inputs);
  const count = model.inputs.length;
  if (isByName) {
    return names.map((name, i) => {
      const own = model.inputNames[i]!;
      const value = inputs[own] ?? inputs[name];
      if (value === undefined) throw new ValueError('inputs', `a value for ${own}`, described('none'));
      return value;
    });
  }
  const isList = Array.isArray(inputs) && (count > 1 || inputs[0] instanceof tf.Tensor);
  const list = isList ? (inputs as unknown[]) : [inputs];
  if (list.length === count) return list;
  throw new ValueError('inputs', `${count} inputs`, described(`${list.length}`));
}

async function flatTensor(value: tf.Tensor): Promise<Flat> {
  return { values: (await value.data()) as unknown as Flat['values'], dims: value.shape };
}

/** What is fed for a dense input. */
async function denseInput(value: unknown, kind: KeyKind | null, path: string): Promise<Flat> {
  if (kind === null) {
    if (value instanceof tf.Tensor) return flatTensor(value);
    throw new ArgumentTypeError(path, 'a tensor', value);
  }
  const { layout, words, texts } = readKeys(value, kind, path);
  if (layout.kind !== 'dense')
    throw new ValueError(path, 'keys in rows of one length', described(`${layout.kind} ones`));
  return { values: texts === null ? bigintsOf(words) : (texts() as Flat['values']), dims: layout.shape };
}

/** Values and row splits of a ragged input. */
async function raggedInput(value: unknown, kind: KeyKind | null, path: string): Promise<[Flat, Flat]> {
  const flat = (values: Flat['values']): Flat => ({ values, dims: [values.length] });
  if (kind !== null) {
    const { layout, words, texts } = readKeys(value, kind, path);
    if (layout.kind === 'ragged' && layout.nestedRowSplits.length === 1) {
      const keys = texts === null ? bigintsOf(words) : (texts() as Flat['values']);
      return [flat(keys), flat(layout.nestedRowSplits[0]!)];
    }
    throw new ValueError(path, 'ragged rows of keys', described(`${layout.kind} ones`));
  }
  if (!(value instanceof RaggedTensor)) {
    throw new ArgumentTypeError(path, 'a RaggedTensor, as the file takes values and row splits', value);
  }
  return [flat(value.values), flat(value.rowSplits)];
}

function made({ Tensor }: Runtime, type: string, { values, dims }: Flat): ort.Tensor {
  const list = Array.from<number | bigint | string>(values);
  switch (type) {
    case 'string':
      return new Tensor(type, list.map(String), dims);
    case 'int64':
      return new Tensor(type, BigInt64Array.from(list, BigInt), dims);
    case 'int32':
      return new Tensor(type, Int32Array.from(list, Number), dims);
    case 'bool':
      return new Tensor(type, Uint8Array.from(list, Number), dims);
    default:
      return new Tensor('float32', Float32Array.from(list, Number), dims);
  }
}

/** The largest |a - b|; NaN equals NaN. */
function difference(found: ort.Tensor, expected: ArrayLike<number>): number {
  let most = 0;
  Array.from(found.data as ArrayLike<number | bigint>, Number).forEach((value, i) => {
    const both = Object.is(value, expected[i]) ? 0 : Math.abs(value - expected[i]!);
    if (!(both <= most)) most = Number.isNaN(both) ? Infinity : both;
  });
  return most;
}

async function feedsOf(
  runtime: Runtime,
  session: ort.InferenceSession,
  fed: readonly FedInput[],
  values: ReadonlyMap<number, unknown>,
): Promise<Record<string, ort.Tensor>> {
  const types = new Map(session.inputMetadata.map((each) => [each.name, each.isTensor ? each.type : '']));
  const feeds: Record<string, ort.Tensor> = {};
  const add = (name: string, flat: Flat): void => {
    const type = types.get(name);
    if (type !== undefined) feeds[name] = made(runtime, type, flat);
  };
  for (const each of fed) {
    const { symbolic, name } = each.input;
    const path = `inputs.${name}`;
    const kind = keyInputKind(layerOf(symbolic)) as KeyKind | null;
    const value = values.get(symbolic.id);
    if (each.kind === 'dense') add(each.spec.name, await denseInput(value, kind, path));
    else if (each.splitsInput !== null) {
      add(each.values.name, await denseInput(value, null, path));
      add(each.rowSplits.name, await denseInput(values.get(each.splitsInput.symbolic.id), null, path));
    } else {
      const [flat, splits] = await raggedInput(value, kind, path);
      add(each.values.name, flat);
      add(each.rowSplits.name, splits);
    }
  }
  return feeds;
}

/** How the file was written: with keys or rows, and whether ragged features come as values and row splits. */
async function formOf(path: string): Promise<{ keys: unknown }> {
  const file = await openOnnx(path, () => false);
  file.close();
  try {
    const text = JSON.parse(file.metadata.get(METADATA_KEY) ?? 'null') as { keys?: unknown } | null;
    if (text !== null) return { keys: text.keys };
  } catch {
    // The error below says it.
  }
  throw new ValueError('file', 'a file that emb.onnx.export wrote', described(path));
}

export async function checkOnnx(file: unknown, model: unknown, inputs: unknown): Promise<number> {
  if (typeof file !== 'string') throw new ArgumentTypeError('file', 'a path', file);
  if (!(model instanceof tf.LayersModel)) throw new ArgumentTypeError('model', 'a layers model', model);
  const note = 'Install it: npm install --ignore-scripts onnxruntime-node.';
  const runtime = await loadPackage<Runtime>(
    'onnxruntime-node',
    'check',
    async () => {
      const found = (await importUnbundled('onnxruntime-node')) as Runtime & { default?: Runtime };
      return found.InferenceSession === undefined ? found.default! : found;
    },
    note,
  );
  const path = pathOf(file);
  const { keys } = await formOf(path);
  const [signature] = readSignatures(model, undefined) as [Signature];
  const ordered = inOrder(
    model,
    inputs,
    signature.inputs.map(({ name }) => name),
  );
  const values = new Map(model.inputs.map(({ id }, i) => [id, ordered[i]]));
  const isKeyed = signature.inputs.some(({ symbolic }) => keyInputKind(layerOf(symbolic)) !== null);
  if (isKeyed && keys !== 'embedded') {
    throw new ValueError('file', 'a file that takes keys', described(`${path}, which takes rows (keys: 'rows')`));
  }
  const session = await sessionOf(runtime, path);
  try {
    const isRagged = session.inputNames.some((name) => name.endsWith('_row_splits'));
    const fed = fedInputs(signature, isRagged ? 'components' : null);
    const found = await session.run(await feedsOf(runtime, session, fed, values));
    return await compared(model, inputs, signature, found);
  } finally {
    await session.release();
  }
}

async function sessionOf({ InferenceSession }: Runtime, path: string): Promise<ort.InferenceSession> {
  try {
    return await InferenceSession.create(path, { logSeverityLevel: 3 });
  } catch (error) {
    const message = `onnxruntime says: ${(error as Error).message.slice(0, 500)}`;
    throw new ValueError('file', 'a file that onnxruntime loads', described(path), message);
  }
}

async function compared(
  model: tf.LayersModel,
  inputs: unknown,
  { outputs }: Signature,
  found: Readonly<Record<string, ort.Tensor>>,
): Promise<number> {
  const predicted = [model.predict(inputs as tf.Tensor)].flat();
  try {
    let most = 0;
    for (const [i, { name }] of outputs.entries()) {
      const own = found[name];
      const { shape } = predicted[i]!;
      if (own === undefined || own.dims.join() !== shape.join()) {
        const received = own === undefined ? 'none' : `[${own.dims.join(', ')}]`;
        throw new ValueError('file', `an output ${name} of shape [${shape.join(', ')}]`, described(received));
      }
      most = Math.max(most, difference(own, (await predicted[i]!.data()) as unknown as ArrayLike<number>));
    }
    return most;
  } finally {
    tf.dispose(predicted);
  }
}
