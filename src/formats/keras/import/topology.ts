/** The JSON in which Keras writes a model, checked before anything of it is believed. */
import { ValueError, describe, described } from '../../../base/errors.js';
import { isDeeperThan } from '../../../io/depth.js';
import { isRecord } from '../../../base/options.js';
import type { NamedLayer } from '../layer_error.js';
import { tensorName, tensorNames } from './names/tensor_names.js';
import { classNames } from './names/user_classes.js';

export type Json = Readonly<Record<string, unknown>>;

/** A layer or a model as it is written. */
export interface LayerJson extends NamedLayer {
  readonly config: Json;
  /** As it stands in the file: whose class it is. */
  readonly written: Json;
  /** Whether it is a user's class, which may have the name of one of Keras; then `className` is its full name. */
  readonly isCustom: boolean;
  /** As `keras_rs>EmbedReduce`, where the file tells it. */
  readonly registeredName: string | null;
  /** As `keras.layers`, where the file tells it; converters leave it out. */
  readonly module: string | null;
  readonly inboundNodes: readonly unknown[];
  /** Ids that do not count; only the graph of a file tells it. */
  readonly absent?: 'negative' | 'below 1' | 'zero';
  /** The name that the layer has here, where TensorFlow.js does not take that of the file. */
  readonly tensorName?: string;
  /** Whether it computes as in inference while the model trains. */
  readonly isInference?: boolean;
  /** Shape with which the layer was built; null where the file does not tell. */
  readonly buildConfig: Json | null;
  /** Whether it is an input that exportKeras wrote of one with rows of different lengths. */
  readonly isRagged: boolean;
}

/** A model, and who wrote it. */
export interface Topology {
  readonly root: LayerJson;
  /** Major version of Keras: functions of one name differ between them. */
  readonly version: 2 | 3;
}

const DEEPEST = 200;
/** Each layer is built, so a file with more is no model. */
const MOST_LAYERS = 100_000;

function jsonError(expected: string, received: unknown): ValueError {
  return new ValueError('source', expected, received);
}

/** Reads one layer, of a list or alone. Throws ValueError, which names `path`. */
/** A ReLU that begins later: TensorFlow.js and Keras 2 have it as a layer of its own. */
function thresholded(className: string, config: Json): Pick<LayerJson, 'className' | 'config'> {
  const { threshold, max_value: most = null, negative_slope: slope = 0, ...own } = config;
  const isLater = className === 'ReLU' && typeof threshold === 'number' && threshold !== 0;
  if (!isLater || most !== null || slope !== 0) return { className, config };
  return { className: 'ThresholdedReLU', config: { ...own, theta: threshold } };
}

export function readLayer(value: unknown, path: string): LayerJson {
  if (!isRecord(value)) throw jsonError(`a layer in ${path}`, value);
  const className = value['class_name'];
  if (typeof className !== 'string') throw jsonError(`a layer with its class_name in ${path}`, className);
  // Old Keras wrote the layers of a Sequential in place of its config.
  const config = Array.isArray(value['config']) ? { layers: value['config'] as unknown[] } : value['config'];
  if (!isRecord(config)) throw jsonError(`the config of the ${className} in ${path}`, config);
  const name = value['name'] ?? config['name'];
  if (name !== undefined && typeof name !== 'string') throw jsonError(`a name of the ${className} in ${path}`, name);
  const nodes = value['inbound_nodes'] ?? [];
  if (!Array.isArray(nodes)) throw jsonError(`a list of inbound_nodes in ${path}`, nodes);
  const { registered_name: registered, module, build_config: built, tfjs_embeddings: own } = value;
  const { plain, given } = classNames(value);
  return {
    ...thresholded(given?.[0] ?? plain, config),
    written: value,
    isCustom: given !== null,
    name: name ?? className,
    registeredName: typeof registered === 'string' ? registered : className.includes('>') ? className : null,
    module: typeof module === 'string' ? module : null,
    inboundNodes: nodes,
    buildConfig: isRecord(built) ? built : null,
    isRagged: isRecord(own) && own['ragged'] === true,
  };
}

/** The layers of a model. */
export function readLayers(model: LayerJson): LayerJson[] {
  const { layers } = model.config;
  if (!Array.isArray(layers)) throw jsonError(`a list of layers in the model ${describe(model.name)}`, layers);
  if (layers.length > MOST_LAYERS) {
    throw jsonError(`at most ${MOST_LAYERS} layers`, described(`${layers.length} in the model ${model.name}`));
  }
  const read = layers.map((layer, i) => readLayer(layer, `layers[${i}] of the model ${describe(model.name)}`));
  const names = tensorNames(read.map(({ name }) => name));
  return read.map((layer) => {
    const own = names.get(layer.name)!;
    return own === layer.name ? layer : { ...layer, tensorName: own };
  });
}

/** The name that a layer has here. */
export function nameHere({ name, tensorName: own }: LayerJson): string {
  return own ?? tensorName(name);
}

export function isModel({ className, isCustom, config }: LayerJson): boolean {
  return isCustom ? Array.isArray(config['layers']) : ['Functional', 'Model', 'Sequential'].includes(className);
}

/** The name of the class in Python, by which Keras finds weights. */
export function pythonName({ className, isCustom, written }: LayerJson): string {
  const { plain } = classNames(written);
  // Graphs of old files have the name of the base class.
  return !isCustom && className === 'Model' ? 'Functional' : plain;
}

/** Keras 2 gave its version, or that of TensorFlow, which was 2 as well. */
function versionOf(keras: unknown, root: unknown): 2 | 3 {
  if (typeof keras === 'string') return keras.startsWith('3') ? 3 : 2;
  const text = JSON.stringify(root);
  return text.includes('"keras_history"') || text.includes('"batch_shape"') || text.includes('"DTypePolicy"') ? 3 : 2;
}

/**
 * Reads a model: the model itself as JSON, or within `model_config` as converters and HDF5 files have it.
 *
 * `kerasVersion`: what stands beside the model, where it is known. Throws ValueError for what is no model of Keras.
 */
export function readTopology(json: unknown, kerasVersion?: unknown): Topology {
  if (isDeeperThan(json, DEEPEST)) throw jsonError(`at most ${DEEPEST} levels`, described('a topology nested deeper'));
  const outer = isRecord(json) ? json : null;
  if (outer === null) throw jsonError('the topology of a Keras model', json);
  const inner = outer['model_config'] ?? outer;
  const root = readLayer(inner, 'the topology');
  if (!isModel(root)) {
    const note =
      "A model of a class of its own has no layers in its file. Write it in Python as a SavedModel, model.export('folder'), " +
      "and run it here: await emb.savedModel.load('folder').";
    throw new ValueError('source', 'a Functional or Sequential model', described(`a ${pythonName(root)}`), note);
  }
  return { root, version: versionOf(kerasVersion ?? outer['keras_version'], inner) };
}
