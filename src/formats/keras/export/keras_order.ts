/**
 * The order in which Keras 3 has the layers of a graph when it has read its file: weights are found by it.
 *
 * Keras sorts them by how far they are from the outputs, and then as it comes by them from there. What it makes of masks by
 * itself counts: operations that no file tells stand between ids and the layers that take masks.
 */
import { isRecord } from '../../../base/options.js';

type Json = Readonly<Record<string, unknown>>;

/** One call, or one operation that Keras makes of masks. */
interface KerasNode {
  /** The layer that is called; an operation of a mask is one of its own. */
  readonly owner: string | symbol;
  readonly inputs: readonly KerasNode[];
}

/** The mask of a tensor, and the number of its dimensions. */
interface Mask {
  readonly node: KerasNode;
  readonly rank: number;
}

interface KerasTensor {
  readonly node: KerasNode;
  readonly rank: number;
  readonly mask: Mask | null;
}

const LOOPS = ['SimpleRNN', 'LSTM', 'GRU', 'Bidirectional'];
/** Layers of one tensor that take its mask. */
const TAKES_MASK = [
  ...LOOPS,
  'BatchNormalization',
  'Functional',
  'GlobalAveragePooling1D',
  'Sequential',
  'Softmax',
  'TimeDistributed',
];
/** Layers that give the mask of their first input to what they make. */
const PASSES_MASK = [
  'Activation',
  'AdditiveAttention',
  'AlphaDropout',
  'Attention',
  'BatchNormalization',
  'Dense',
  'Dropout',
  'ELU',
  'GaussianDropout',
  'GaussianNoise',
  'LayerNormalization',
  'LeakyReLU',
  'MultiHeadAttention',
  'Normalization',
  'PReLU',
  'ReLU',
  'Rescaling',
  'Softmax',
  'SpatialDropout1D',
  'TimeDistributed',
  'UnitNormalization',
];
const JOINS_MASKS = ['Add', 'Average', 'Maximum', 'Minimum', 'Multiply', 'Subtract'];

/** An operation that Keras makes while it reads a graph. */
function made(...inputs: (KerasNode | Mask | KerasTensor)[]): KerasNode {
  return { owner: Symbol('operation'), inputs: inputs.map((input) => ('node' in input ? input.node : input)) };
}

/** The mask that layers give which merge tensors: there is one where all have one. */
function eitherMask(masks: readonly (Mask | null)[]): Mask | null {
  return masks.reduce((a, b) =>
    a === null || b === null ? null : { node: made(a, b), rank: Math.max(a.rank, b.rank) },
  );
}

/** The mask of Concatenate: of its inputs, made as wide as these. */
function joinedMask(tensors: readonly KerasTensor[]): Mask | null {
  if (tensors.every(({ mask }) => mask === null)) return null;
  const wide = tensors.map((tensor) => {
    const { mask, rank } = tensor;
    if (mask === null) return made(tensor);
    return mask.rank < rank ? made(made(mask), made(tensor)) : mask.node;
  });
  return { node: made(made(...wide)), rank: Math.max(...tensors.map(({ rank }) => rank)) - 1 };
}

/** A tensor in the arguments of a call: the layer that gives it, which call of it and which tensor of that. */
interface TensorPlace {
  readonly history: readonly [layer: string, node: number, tensor: number];
  readonly rank: number;
}

/** The tensors of an argument in the order in which Keras has them: records by key. */
function placesIn(value: unknown): TensorPlace[] {
  if (Array.isArray(value)) return value.flatMap(placesIn);
  if (!isRecord(value)) return [];
  if (value['class_name'] === '__keras_tensor__') {
    const { keras_history: history, shape } = value['config'] as Json;
    return [{ history: history as TensorPlace['history'], rank: (shape as unknown[]).length }];
  }
  const keys = Object.keys(value).sort();
  return keys.flatMap((key) => placesIn(value[key]));
}

/** The calls of a graph as Keras makes them of its file. */
class KerasGraph {
  readonly #layers: ReadonlyMap<string, Json>;
  readonly #nodes = new Map<string, KerasNode>();
  readonly #masks = new Map<string, readonly (Mask | null)[]>();

  constructor(layers: readonly Json[]) {
    this.#layers = new Map(layers.map((layer) => [layer['name'] as string, layer]));
  }

  node(layer: string, call: number): KerasNode {
    const key = `${call}/${layer}`;
    if (!this.#nodes.has(key)) this.#make(layer, call, key);
    return this.#nodes.get(key)!;
  }

  #tensor({ history: [layer, call, tensor], rank }: TensorPlace): KerasTensor {
    const node = this.node(layer, call);
    return { node, rank, mask: this.#masks.get(`${call}/${layer}`)![tensor] ?? null };
  }

  #make(name: string, call: number, key: string): void {
    const layer = this.#layers.get(name)!;
    const className = layer['class_name'] as string;
    // Operations of Keras are no layers: they know no masks.
    const isLayer = !String(layer['module']).startsWith('keras.src.ops');
    const { args = [], kwargs = {} } = ((layer['inbound_nodes'] as Json[])[call] ?? {}) as {
      args?: readonly unknown[];
      kwargs?: Json;
    };
    const list = (value: unknown): KerasTensor[] => placesIn(value).map((place) => this.#tensor(place));
    const given = args.map(list);
    const named = new Map(Object.entries(kwargs).map(([field, value]) => [field, list(value)]));
    const [first = []] = given;
    const told = [kwargs['mask'] ?? []].flat().map((value) => list(value)[0] ?? null);
    // Keras notes the masks that it fills in where it had nothing to convert: one tensor of its dtype, or a model.
    const isWhole = args.length === 1 && Object.keys(kwargs).length === 0;
    const isPlain = isRecord(args[0]) && (args[0]['config'] as Json | undefined)?.['dtype'] === 'float32';
    const noted = isLayer && isWhole && (isPlain ? TAKES_MASK.includes(className) : className === 'Functional');
    const fields = [...named.keys()].sort();
    const inputs = [
      ...given.flat(),
      ...(noted ? first.flatMap(({ mask }) => mask ?? []) : []),
      ...fields.flatMap((field) => named.get(field)!),
    ];
    this.#nodes.set(key, { owner: name, inputs: inputs.map((input) => input.node) });
    const before = told.length > 0 ? told : first.map(({ mask }) => mask);
    this.#masks.set(key, isLayer ? outputMasks(className, layer['config'] as Json, first, before) : []);
  }
}

/** The masks of what a layer gives, as Keras makes them. */
function outputMasks(
  className: string,
  config: Json,
  inputs: readonly KerasTensor[],
  masks: readonly (Mask | null)[],
): readonly (Mask | null)[] {
  const [input] = inputs;
  const [mask = null] = masks;
  if (className === 'Embedding') return config['mask_zero'] === true ? [{ node: made(input!), rank: input!.rank }] : [];
  if (className === 'Masking') return [{ node: made(made(input!)), rank: input!.rank - 1 }];
  if (JOINS_MASKS.includes(className)) return [eitherMask(masks)];
  if (className === 'Concatenate') return [joinedMask(inputs)];
  if (LOOPS.includes(className)) {
    const inner = className === 'Bidirectional' ? ((config['layer'] as Json)['config'] as Json) : config;
    if (inner['return_sequences'] !== true) return [];
    return config['merge_mode'] === null ? [mask, mask] : [mask];
  }
  return PASSES_MASK.includes(className) ? [mask] : [];
}

/** Names of the layers and operations that outputs need, in the order of Keras. */
export function kerasOrder(
  layers: readonly Json[],
  outputs: readonly (readonly [layer: string, node: number, tensor: number])[],
): string[] {
  const graph = new KerasGraph(layers);
  const places = new Map<string | symbol, number>();
  const finished = new Set<KerasNode>();
  const sorted: KerasNode[] = [];
  const visit = (node: KerasNode): void => {
    if (finished.has(node)) return;
    if (!places.has(node.owner)) places.set(node.owner, places.size);
    node.inputs.forEach(visit);
    if (finished.has(node)) return;
    finished.add(node);
    sorted.push(node);
  };
  for (const [layer, node] of outputs) visit(graph.node(layer, node));
  const depths = new Map<KerasNode, number>();
  const ofOwners = new Map<string | symbol, number>();
  for (const node of sorted.reverse()) {
    const depth = Math.max(depths.get(node) ?? 0, ofOwners.get(node.owner) ?? 0);
    ofOwners.set(node.owner, depth);
    for (const input of node.inputs) depths.set(input, Math.max(depth + 1, depths.get(input) ?? 0));
  }
  const named = [...ofOwners.keys()].filter((owner) => typeof owner === 'string');
  return named.sort((a, b) => ofOwners.get(b)! - ofOwners.get(a)! || places.get(a)! - places.get(b)!);
}
