/** A SavedModel of Keras 2, which tells of its layers in a file of its own, as a layers model. */
import * as tf from '@tensorflow/tfjs';
import { loadKerasModel } from '../keras/load_keras_model.js';
import { isRecord } from '../options.js';
import type { BundleReader } from './bundle/bundle_reader.js';
import type { SavedModelFolder } from './saved_model_folder.js';
import { Message, many, one } from '../protobuf/message.js';
import type { MetaGraphMessage } from './wire/saved_model_messages.js';
import { dataTypeName } from './wire/data_types.js';

export const KERAS_METADATA = 'keras_metadata.pb';

interface KerasNode {
  id?: number;
  path?: string;
  metadata?: string;
}

const Node = new Message<KerasNode>({ id: one(2, 'int32'), path: one(3, 'string'), metadata: one(5, 'string') });
const Metadata = new Message<{ nodes?: readonly KerasNode[] }>({ nodes: many(1, () => Node) });

/** The config of the whole model, which Keras keeps at the root; null where that is no model made of known parts. */
function modelConfig(bytes: Uint8Array): object | null {
  const root = (Metadata.decode(bytes).nodes ?? []).find(({ path }) => path === 'root');
  try {
    const value: unknown = JSON.parse(root?.metadata ?? 'null');
    if (!isRecord(value)) return null;
    const config = value['model_config'] ?? { class_name: value['class_name'], config: value['config'] };
    return isRecord(config) && isRecord(config['config']) ? config : null;
  } catch {
    return null;
  }
}

/** No key is longer. */
const LONGEST_PATH = 10_000;

/** Names of variables, which the graph of objects tells, and their keys in the bundle. */
function namedKeys({ objects }: MetaGraphMessage<Uint8Array>, bundle: BundleReader): [name: string, key: string][] {
  const nodes = objects?.nodes ?? [];
  const keys = new Set(bundle.keys);
  const found = new Map<string, string>();
  const seen = new Set<number>();
  // Each node by its shortest path, as TensorFlow names values.
  const open: [id: number, path: string][] = [[0, '']];
  for (const [id, path] of open) {
    const node = nodes[id];
    if (node === undefined || seen.has(id) || path.length > LONGEST_PATH) continue;
    seen.add(id);
    const key = `${path}.ATTRIBUTES/VARIABLE_VALUE`;
    const { name, dtype } = node.variable ?? {};
    if (name !== undefined && dataTypeName(dtype) !== null && keys.has(key)) found.set(name.replace(/:0$/, ''), key);
    for (const { nodeId = 0, localName = '' } of node.children ?? []) open.push([nodeId, `${path}${localName}/`]);
  }
  return [...found];
}

async function readWeights(
  bundle: BundleReader,
  named: readonly (readonly [string, string])[],
): Promise<[tf.io.WeightsManifestEntry[], ArrayBuffer]> {
  const stored = named.flatMap(([name, key]) => {
    const tensor = bundle.find(key);
    return tensor === null ? [] : [{ name, tensor }];
  });
  await bundle.checkRoom(stored.map(({ tensor }) => tensor.key));
  const data = new Uint8Array(stored.reduce((sum, { tensor }) => sum + tensor.bytes, 0));
  let at = 0;
  for (const { tensor } of stored) {
    for await (const piece of bundle.pieces(tensor.key)) {
      data.set(piece, at);
      at += piece.length;
    }
  }
  const specs = stored.map(({ name, tensor }): tf.io.WeightsManifestEntry => {
    return { name, shape: [...tensor.shape], dtype: tensor.dtype };
  });
  return [specs, data.buffer];
}

/** The model, or null where its layers are not all known here. */
export async function loadKerasLayers(
  folder: SavedModelFolder,
  graph: MetaGraphMessage<Uint8Array>,
): Promise<tf.LayersModel | null> {
  const config = modelConfig(await folder.bytes(KERAS_METADATA));
  if (config === null) return null;
  const bundle = await folder.bundle();
  const [weightSpecs, weightData] = await readWeights(bundle, namedKeys(graph, bundle));
  const modelTopology = { keras_version: '2', backend: 'tensorflow', model_config: config };
  const artifacts: tf.io.ModelArtifacts = { format: 'layers-model', modelTopology, weightSpecs, weightData };
  try {
    return await loadKerasModel(tf.io.fromMemory(artifacts));
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return null;
  }
}
