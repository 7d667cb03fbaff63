/** A SavedModel that TensorFlow runs, through tfjs-node. */
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { backendInfo } from '../../backends/registry.js';
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { checkWhole } from '../../base/live_tensor.js';
import { isInside } from '../../io/models/folder_file.js';
import { isRecord } from '../../base/options.js';
import { perProcess } from '../../base/per_process.js';
import { keepSignsOfInt64 } from '../../tfjs/tfjs_node/int64_inputs.js';
import type { NamedShapes, RunnableSavedModel } from '../../base/platform.js';
import { checkOps } from './checks/hostile_ops.js';
import { Replaced, type SavedModelFolder } from './saved_model_folder.js';
import { dataTypeName } from './wire/data_types.js';
import type { MetaGraphMessage, SignatureMessage, TensorInfoMessage } from './wire/saved_model_messages.js';
import { SERVING_DEFAULT } from './signatures.js';

interface TfjsNode {
  readonly node: {
    loadSavedModel(path: string, tags: string[], signature: string): Promise<tf.InferenceModel & { dispose(): void }>;
  };
}

const BACKEND = 'tensorflow';

/** tfjs-node takes the first place among the backends when it is imported; a load must not change that. */
async function importTfjsNode(): Promise<TfjsNode> {
  const before = tf.getBackend();
  try {
    return (await import('@tensorflow/tfjs-node')) as unknown as TfjsNode;
  } catch (error) {
    const note = `The system says: ${(error as Error).message.split('\n')[0]!}`;
    throw new RuntimeError('directory', '@tensorflow/tfjs-node, which runs it', described('none that works'), note);
  } finally {
    // Before anything was computed there is none.
    if (before && tf.getBackend() !== before) await tf.setBackend(before);
  }
}

/** Runs on the backend of tfjs-node, and goes back to the one in force. */
function onTensorFlow<T>(run: () => T): T {
  const before = tf.getBackend();
  // Both are there already, so nothing is waited for.
  if (before !== BACKEND) void tf.setBackend(BACKEND);
  try {
    return run();
  } finally {
    if (before && before !== BACKEND) void tf.setBackend(before);
  }
}

function shapesOf(infos: Readonly<Record<string, TensorInfoMessage>> = {}): NamedShapes {
  return Object.fromEntries(
    Object.entries(infos).map(([name, { dtype, shape }]) => {
      const sizes = (shape?.dim ?? []).map(({ size = 0 }) => (size < 0 ? null : size));
      return [name, { dtype: dataTypeName(dtype) ?? `type ${dtype ?? 0} of TensorFlow`, shape: sizes }];
    }),
  );
}

/** Those that can be called. */
function callable(signatures: Readonly<Record<string, SignatureMessage>> = {}): [string, SignatureMessage][] {
  return Object.entries(signatures).filter(([name]) => !name.startsWith('__saved_model'));
}

function checkNames(inputs: unknown, wanted: readonly string[]): tf.NamedTensorMap {
  const expected = `an object of tensors: ${wanted.join(', ')}`;
  if (!isRecord(inputs) || inputs instanceof tf.Tensor) throw new ArgumentTypeError('inputs', expected, inputs);
  for (const name of wanted) {
    if (!(inputs[name] instanceof tf.Tensor)) throw new ArgumentTypeError(`inputs.${name}`, 'a tensor', inputs[name]);
    checkWhole(inputs[name], `inputs.${name}`);
  }
  const stray = Object.keys(inputs).find((name) => !wanted.includes(name));
  if (stray !== undefined) throw new ValueError(`inputs.${stray}`, `one of ${wanted.join(', ')}`, stray);
  return inputs as tf.NamedTensorMap;
}

function run(model: tf.InferenceModel, inputs: tf.NamedTensorMap, what: string): tf.NamedTensorMap | tf.Tensor {
  try {
    return model.predict(inputs, {}) as tf.NamedTensorMap | tf.Tensor;
  } catch (error) {
    const note = `TensorFlow says: ${(error as Error).message.slice(0, 500)}`;
    throw new RuntimeError('predict', 'a signature that TensorFlow runs on these inputs', described(what), note);
  }
}

/** An output as tfjs has numbers: those of 64 bits as int32. The output is disposed where it is replaced. */
function asTfjs(name: string, output: tf.Tensor): tf.Tensor {
  const values: unknown = output.dtype === 'int32' ? output.dataSync() : null;
  if (!(values instanceof BigInt64Array)) return output;
  const numbers = Int32Array.from(values, Number);
  const outside = values.find((value, i) => BigInt(numbers[i]!) !== value);
  const { shape } = output;
  output.dispose();
  if (outside === undefined) return tf.tensor(numbers, shape, 'int32');
  throw new RuntimeError(`outputs.${name}`, 'numbers of 32 bits, which are what tfjs has', described(`${outside}`));
}

/** SavedModels that tfjs-node holds, by their path: it knows them by that alone, and would take an old one for a new one. */
interface Held {
  identity: string;
  uses: number;
}
const held = (): Map<string, Held[]> => perProcess('SavedModels of tfjs-node', () => new Map<string, Held[]>());

/** A path that no other version of the SavedModel has, until all of its users have given it back. */
function holdPath({ path, identity }: SavedModelFolder): { readonly path: string; release(): void } {
  const all = held().get(path) ?? [];
  held().set(path, all);
  const same = all.findIndex((each) => each.uses > 0 && each.identity === identity);
  const free = all.findIndex((each) => each.uses === 0);
  const place = same >= 0 ? same : free >= 0 ? free : all.length;
  const mine = (all[place] ??= { identity, uses: 0 });
  mine.identity = identity;
  mine.uses += 1;
  return { path: `${path}${'/.'.repeat(place)}`, release: () => void (mine.uses -= 1) };
}

/** TensorFlow follows links wherever they lead. */
async function checkLinks(folder: string): Promise<void> {
  const whole = await realpath(folder);
  for (const each of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(each.parentPath, each.name);
    if (!each.isSymbolicLink()) continue;
    const found = await realpath(path).catch(() => null);
    if (found !== null && isInside(whole, found)) continue;
    const received = described(`${path}, a link that leaves the folder`);
    throw new ValueError('directory', 'files in the folder of the SavedModel', received);
  }
}

export async function runnable(
  folder: SavedModelFolder,
  graph: MetaGraphMessage<Uint8Array>,
  tags: string[],
  wanted: string | null,
): Promise<RunnableSavedModel> {
  const known = callable(graph.signatures);
  const names = known.map(([name]) => name);
  const signature = wanted ?? (names.includes(SERVING_DEFAULT) ? SERVING_DEFAULT : (names[0] ?? ''));
  if (!names.includes(signature)) {
    throw new ValueError(
      'signature',
      `one of ${names.length === 0 ? 'none in this SavedModel' : names.join(', ')}`,
      signature,
    );
  }
  const { path } = folder;
  checkOps(path, graph);
  await checkLinks(path);
  const { node } = await importTfjsNode();
  const signatures = Object.fromEntries(
    known.map(([name, { inputs, outputs }]) => [name, { inputs: shapesOf(inputs), outputs: shapesOf(outputs) }]),
  );
  let loaded: (tf.InferenceModel & { dispose(): void }) | null = null;
  const hold = holdPath(folder);
  try {
    loaded = await onTensorFlow(() => {
      // Registers the op of lookups, which exports with `customOps` hold.
      backendInfo();
      return node.loadSavedModel(hold.path, tags, signature);
    });
    await folder.check();
  } catch (error) {
    loaded?.dispose();
    hold.release();
    if (error instanceof Replaced) throw error;
    const note = `TensorFlow says: ${(error as Error).message.slice(0, 500)}`;
    throw new ValueError('directory', 'a SavedModel that TensorFlow loads', described(path), note);
  }
  const model = loaded;
  const inputNames = Object.keys(signatures[signature]!.inputs);
  return {
    signatures,
    predict(inputs) {
      const given = checkNames(inputs, inputNames);
      return onTensorFlow(() => {
        keepSignsOfInt64(tf.backend());
        const result = run(model, given, `the signature ${signature} of ${path}`);
        const [only] = Object.keys(signatures[signature]!.outputs);
        const named = result instanceof tf.Tensor ? { [only!]: result } : result;
        try {
          return Object.fromEntries(Object.entries(named).map(([name, output]) => [name, asTfjs(name, output)]));
        } catch (error) {
          tf.dispose(named);
          throw error;
        }
      });
    },
    dispose() {
      model.dispose();
      hold.release();
    },
  };
}
