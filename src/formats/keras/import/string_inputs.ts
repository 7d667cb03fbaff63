/** Inputs of strings: what looks them up in Keras becomes a column of a pipeline, whose numbers enter the model. */
import type * as tf from '@tensorflow/tfjs';
import { nextName } from '../../../base/layer_names.js';
import { Operation } from '../../../layers/operations/operation.js';
import { HashedCrossing, Hashing, Pipeline, StringLookup, TextVectorization } from '../../../preprocessing/index.js';
import { layerError, naming } from '../layer_error.js';
import { refsOf, type CallJson } from './nodes.js';
import { nameHere, type LayerJson } from './topology.js';

type Columns = ConstructorParameters<typeof Pipeline>[0]['columns'];

/** Of several inputs. */
const CROSSING = 'HashedCrossing';
const CLASSES = { Hashing, StringLookup, TextVectorization };

export function takesStrings({ className }: LayerJson): boolean {
  return Object.hasOwn(CLASSES, className);
}

export function isStringInput({ className, config }: LayerJson): boolean {
  return className === 'InputLayer' && config['dtype'] === 'string';
}

function preprocessorOf(layer: LayerJson): StringLookup | TextVectorization | Hashing {
  const { className, config } = layer;
  const { batch_input_shape: _shape, build_config: _built, ...own } = config;
  if (own['invert'] === true) throw layerError(layer, 'invert', 'false: a layers model gives no strings', true);
  if (className !== 'Hashing' && !Array.isArray(own['vocabulary'])) {
    const note =
      'That of adapt() lies in .keras files and SavedModels of Keras 2: make the layer with vocabulary=layer.get_vocabulary().';
    throw layerError(layer, 'vocabulary', 'the vocabulary, given when the layer was made', own['vocabulary'], note);
  }
  const { fromConfig } = CLASSES[className as keyof typeof CLASSES];
  return naming(layer, () => fromConfig({ ...own, name: layer.name }) as StringLookup);
}

function crossingOf(layer: LayerJson): HashedCrossing<unknown> {
  const { fromConfig } = HashedCrossing;
  return naming(layer, () => fromConfig({ ...layer.config, name: layer.name }) as unknown as HashedCrossing<unknown>);
}

/** Those of one model. */
export class StringInputs {
  /** What a pipeline does, by the inputs that the model has for it. */
  readonly columns: Record<string, Columns[string]> = {};
  readonly #inputs = new Map<string, LayerJson>();
  /** By inputs of the file. */
  readonly #made = new Map<string, tf.SymbolicTensor[]>();

  add(input: LayerJson): void {
    this.#inputs.set(input.name, input);
    this.#made.set(input.name, []);
  }

  get isEmpty(): boolean {
    return this.#inputs.size === 0;
  }

  /** What stands for an input of strings: one input for each call of a layer that takes it. Undefined for other inputs. */
  standingFor(input: string): tf.SymbolicTensor[] | undefined {
    return this.#made.get(input);
  }

  /** What a call of a layer gives, where it takes strings; null where it does not. Throws for other layers that do. */
  call(layer: LayerJson, { args, kwargs }: CallJson, node: number, made: tf.layers.Layer[]): tf.SymbolicTensor | null {
    const found = refsOf([args, kwargs]).map((ref) => this.#inputs.get(ref.layer));
    const from = found.find((each) => each !== undefined);
    if (from === undefined) return null;
    const isCrossed = layer.className === CROSSING && found.length > 1 && !found.includes(undefined);
    if (isCrossed) return this.#lookUpAll(layer, found as LayerJson[], node, made);
    if (takesStrings(layer) && found.length === 1) return this.lookUp(layer, from, node, made);
    const known = [...Object.keys(CLASSES), `${CROSSING} of strings alone`].join(', ');
    throw layerError(layer, 'inbound_nodes', `numbers: strings of an input enter ${known} alone`, from.name);
  }

  /** The numbers that a layer makes of the strings of an input. */
  lookUp(layer: LayerJson, from: LayerJson, node: number, made: tf.layers.Layer[]): tf.SymbolicTensor {
    return this.#lookUpAll(layer, [from], node, made);
  }

  #lookUpAll(layer: LayerJson, all: readonly LayerJson[], node: number, made: tf.layers.Layer[]): tf.SymbolicTensor {
    const shapes = all.map(({ config }) => config['batch_shape'] ?? config['batch_input_shape']);
    const ranks = shapes.map((each) => (Array.isArray(each) ? each.length : 0));
    const odd = ranks.findIndex((each, i) => each !== 1 && !(each === 2 && (shapes[i] as unknown[])[1] === 1));
    const [shape, rank] = [shapes[Math.max(0, odd)], ranks[0]!];
    if (odd >= 0 || ranks.some((each) => each !== rank)) {
      const note = `For others apply emb.preprocessing.${layer.className} first, and begin the model with what it gives.`;
      throw layerError(layer, 'inputs', 'one string in each row, [null] or [null, 1]', shape, note);
    }
    const type = layer.className === CROSSING ? crossingOf(layer) : preprocessorOf(layer);
    const isVector = rank === 1 && layer.className !== 'TextVectorization';
    if (isVector && type.outputMode !== 'int') {
      throw layerError(layer, 'inputs', `[null, 1] for the outputMode ${type.outputMode}`, shape);
    }
    const name = node === 0 ? nameHere(layer) : `${nameHere(layer)}_${node}`;
    const column =
      type instanceof HashedCrossing
        ? { cross: all.map((each) => each.name), by: type }
        : { column: all[0]!.name, type };
    this.columns[name] = column;
    const input = new Pipeline({ columns: { [name]: column } }).inputs()[name]!;
    this.#made.get(all[0]!.name)!.push(input);
    if (!isVector) return input;
    const squeeze = new Operation({ name: nextName('keras_string'), operation: 'Squeeze', settings: { axis: 1 } });
    made.push(squeeze);
    return squeeze.apply(input) as tf.SymbolicTensor;
  }

  /** Lets the pipeline make the other inputs, too, that hold a number in each row. `column`: the name that the file has. */
  addNumbers({ sourceLayer, shape, dtype }: tf.SymbolicTensor, column: string): void {
    const { name } = sourceLayer;
    if (shape.length !== 2 || shape[1] !== 1 || dtype === 'bool') return;
    const type = dtype === 'int32' ? 'int' : 'float';
    this.columns[name] ??= column === name ? type : { column, type };
  }
}
