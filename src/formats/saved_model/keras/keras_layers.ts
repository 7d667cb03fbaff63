/** A SavedModel of Keras 2, which tells of its layers in a file of its own, as a layers model. */
import * as tf from '@tensorflow/tfjs';
import { layerPath, type WeightSource } from '../../keras/import/weight_source.js';
import { isModel, readLayers, readTopology, type LayerJson, type Topology } from '../../keras/import/topology.js';
import { buildKerasModel } from '../../keras/load_keras_model.js';
import { isRecord } from '../../../base/options.js';
import { warnOnce } from '../../../base/warn_once.js';
import type { BundleReader, StoredTensor } from '../bundle/bundle_reader.js';
import { readTensor } from '../../../io/models/stored_model.js';
import type { SavedModelFolder } from '../saved_model_folder.js';
import { Message, many, one } from '../../../base/protobuf/message.js';
import type { SavedObjectMessage } from '../wire/object_messages.js';
import type { MetaGraphMessage } from '../wire/saved_model_messages.js';
import { LEARNING_CLASSES } from '../../keras/learned/learned_fields.js';
import { LearnedObjects } from './learned_objects.js';

export const KERAS_METADATA = 'keras_metadata.pb';

/** What Keras tells of one object of the graph. */
interface KerasNode {
  /** Its number among the objects; 0 is the model. */
  id?: number;
  metadata?: string;
}

const Node = new Message<KerasNode>({ id: one(2, 'int32'), metadata: one(5, 'string') });
const Metadata = new Message<{ nodes?: readonly KerasNode[] }>({ nodes: many(1, () => Node) });

/** What is known of a layer, by the number of its object. */
type Told = ReadonlyMap<number, Readonly<Record<string, unknown>>>;

/** What Python had as a tuple, as a list. */
function withoutTuples(_: string, value: unknown): unknown {
  return isRecord(value) && value['class_name'] === '__tuple__' ? value['items'] : value;
}

function readMetadata(bytes: Uint8Array): Told {
  const nodes = Metadata.decode(bytes).nodes ?? [];
  return new Map(
    nodes.flatMap(({ id = 0, metadata = '' }) => {
      const told: unknown = JSON.parse(metadata, withoutTuples);
      return isRecord(told) ? [[id, told] as const] : [];
    }),
  );
}

/** The model as Keras writes it in JSON. Throws ValueError for models of other classes, whose code is in Python. */
function topologyOf(told: Told): Topology {
  const root = told.get(0) ?? {};
  const own = { class_name: root['class_name'], config: root['config'] };
  // The metadata names the class, also where the model's own config has that of Keras.
  const written = root['model_config'];
  return readTopology(
    isRecord(written) && typeof own.class_name === 'string'
      ? { ...written, class_name: own.class_name }
      : (written ?? own),
    '2',
  );
}

/** Attributes of a model that hold its layers. */
const LAYER = /^layer-\d+$/;
const VALUE = '.ATTRIBUTES/VARIABLE_VALUE';

/** Keys in the bundle of all variables, each by the number of its object: TensorFlow names them by their shortest paths. */
function keysByObject(objects: readonly SavedObjectMessage[], bundle: BundleReader): ReadonlyMap<number, string> {
  const keys = new Set(bundle.keys);
  const longest = bundle.keys.reduce((most, { length }) => Math.max(most, length), 0);
  const found = new Map<number, string>();
  const seen = new Set<number>();
  const open: [id: number, path: string][] = [[0, '']];
  for (const [id, path] of open) {
    if (seen.has(id) || path.length > longest) continue;
    seen.add(id);
    if (keys.has(`${path}${VALUE}`)) found.set(id, `${path}${VALUE}`);
    for (const { nodeId = 0, localName = '' } of objects[id]?.children ?? [])
      open.push([nodeId, `${path}${localName}/`]);
  }
  return found;
}

/** The layers of models, as objects. */
class LayerObjects {
  readonly #byName = new Map<number, ReadonlyMap<unknown, number>>();

  constructor(
    private readonly objects: readonly SavedObjectMessage[],
    private readonly told: Told,
  ) {}

  /** Numbers of a model's layers by their names. */
  layersOf(model: number): ReadonlyMap<unknown, number> {
    const known = this.#byName.get(model);
    if (known !== undefined) return known;
    const layers = (this.objects[model]?.children ?? []).filter(({ localName = '' }) => LAYER.test(localName));
    const byName = new Map(layers.map(({ nodeId = 0 }) => [this.told.get(nodeId)?.['name'], nodeId]));
    this.#byName.set(model, byName);
    return byName;
  }

  /** Numbers of a layer's variables, in the order of Keras. */
  variablesOf(layer: number): number[] {
    const list = this.objects[layer]?.children?.find(({ localName }) => localName === 'variables');
    return (this.objects[list?.nodeId ?? -1]?.children ?? []).map(({ nodeId = 0 }) => nodeId);
  }
}

/**
 * Numbers of the variables of each layer, by the names of the layer and of the models around it. What layers of
 * preprocessing have learned goes into their configs.
 */
async function variablesByLayer(
  root: LayerJson,
  objects: LayerObjects,
  learned: LearnedObjects,
): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  const visit = async (model: LayerJson, id: number, names: readonly string[]): Promise<void> => {
    const layers = objects.layersOf(id);
    for (const layer of readLayers(model)) {
      const [object = -1, path] = [layers.get(layer.name), [...names, layer.name]];
      if (isModel(layer)) await visit(layer, object, path);
      else found.set(layerPath(path), objects.variablesOf(object));
      if (LEARNING_CLASSES.has(layer.className)) Object.assign(layer.config, await learned.fieldsOf(layer, object));
    }
  };
  await visit(root, 0, []);
  return found;
}

/** The variables of the layers, read before they are needed. */
class SavedWeights implements WeightSource {
  readonly names: readonly string[];
  readonly groups = null;
  readonly #stored = new Map<string, StoredTensor>();
  readonly #tensors = new Map<string, tf.Tensor>();

  constructor(
    private readonly bundle: BundleReader,
    readonly layers: ReadonlyMap<string, readonly string[]>,
  ) {
    for (const key of [...layers.values()].flat()) {
      const stored = bundle.find(key);
      if (stored !== null) this.#stored.set(key, stored);
    }
    this.names = [...this.#stored.keys()];
  }

  async open(): Promise<void> {
    await this.bundle.checkRoom(this.names);
    for (const stored of this.#stored.values())
      this.#tensors.set(stored.key, await readTensor(this.bundle.array(stored)));
  }

  shapeOf(name: string): readonly number[] {
    return this.#stored.get(name)!.shape;
  }

  read(name: string): tf.Tensor {
    return this.#tensors.get(name)!.clone();
  }

  dispose(): void {
    tf.dispose([...this.#tensors.values()]);
  }
}

async function weightsOf(
  folder: SavedModelFolder,
  graph: MetaGraphMessage<Uint8Array>,
  { root }: Topology,
  told: Told,
  bundle: BundleReader,
): Promise<SavedWeights> {
  const nodes = graph.objects?.nodes ?? [];
  const keys = keysByObject(nodes, bundle);
  const learned = new LearnedObjects(folder, graph, bundle, keys);
  const found = await variablesByLayer(root, new LayerObjects(nodes, told), learned);
  const layers = [...found].map(([path, variables]) => {
    return [path, variables.map((id) => keys.get(id) ?? `object ${id}`)] as const;
  });
  return new SavedWeights(bundle, new Map(layers));
}

/** The model; null where its layers are not all known here, which a warning tells. */
export async function loadKerasLayers(
  folder: SavedModelFolder,
  graph: MetaGraphMessage<Uint8Array>,
): Promise<tf.LayersModel | null> {
  const bytes = await folder.bytes(KERAS_METADATA);
  const bundle = await folder.bundle();
  let weights: SavedWeights | null = null;
  try {
    const told = readMetadata(bytes);
    const topology = topologyOf(told);
    weights = await weightsOf(folder, graph, topology, told, bundle);
    await weights.open();
    return buildKerasModel({ topology, weights, close: () => {} }, true);
  } catch (error) {
    await folder.check();
    warnOnce(`${folder.path} is a function and no layers model: ${(error as Error).message}`);
    return null;
  } finally {
    weights?.dispose();
  }
}
