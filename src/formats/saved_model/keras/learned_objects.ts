/** What `adapt()` found, among the objects of a SavedModel of Keras 2: variables, and tables that a function fills. */
import { described } from '../../../base/errors.js';
import { layerError } from '../../keras/layer_error.js';
import {
  boundariesOf,
  lacksBoundaries,
  lacksVocabulary,
  specialTokens,
  vocabularyFields,
  weighs,
} from '../../keras/learned/learned_fields.js';
import type { Json, LayerJson } from '../../keras/import/topology.js';
import type { BundleReader } from '../bundle/bundle_reader.js';
import { readTensor } from '../../../io/models/stored_model.js';
import type { SavedModelFolder } from '../saved_model_folder.js';
import type { SavedObjectMessage } from '../wire/object_messages.js';
import type { MetaGraphMessage } from '../wire/saved_model_messages.js';
import { GraphConstants, type NodeMessage } from './graph_constants.js';

/** Fills a table with vectors of keys and values. */
const IMPORT = 'LookupTableImportV2';
/** Fills a table with the lines of a file. */
const FROM_FILE = 'InitializeTableFromTextFileV2';
/** How TensorFlow says that a key is a whole line, and a value its number. */
const [WHOLE_LINE, LINE_NUMBER] = [-2, -1];

export class LearnedObjects {
  #constants: GraphConstants | null = null;

  constructor(
    private readonly folder: SavedModelFolder,
    private readonly graph: MetaGraphMessage<Uint8Array>,
    private readonly bundle: BundleReader,
    /** Keys in the bundle of variables, by the numbers of their objects. */
    private readonly keys: ReadonlyMap<number, string>,
  ) {}

  /** Fields that the config of a layer lacks. Those that are not found are left to the import, which misses them. */
  async fieldsOf(layer: LayerJson, object: number): Promise<Json> {
    const { className, config } = layer;
    if (className === 'Normalization' && (config['mean'] ?? null) === null) return this.#moments(object);
    if (lacksBoundaries(layer)) return this.#boundaries(layer, object);
    const isFile = typeof config['vocabulary'] === 'string';
    if (!lacksVocabulary(layer) && !isFile) return {};
    const inner = className === 'TextVectorization' ? this.#child(object, '_lookup_layer') : object;
    const tokens = inner === null ? null : await this.#tokens(layer, this.#child(inner, 'lookup_table'));
    if (inner === null || tokens === null) return {};
    const factors = weighs(layer) ? await this.#values(this.#child(inner, 'idf_weights')) : null;
    if (factors === null) return { vocabulary: tokens };
    const unknown = Array.from({ length: specialTokens(layer).unknown }, () => this.#unknownToken(layer));
    return vocabularyFields(layer, [...unknown, ...tokens], [...factors.values]);
  }

  /** What stands for unknown tokens where they have factors. */
  #unknownToken({ className, config }: LayerJson): number | string {
    return (config['oov_token'] ?? (className === 'IntegerLookup' ? -1 : '[UNK]')) as number | string;
  }

  #node(id: number): SavedObjectMessage | undefined {
    return this.graph.objects?.nodes?.[id];
  }

  #child(id: number, name: string): number | null {
    const found = this.#node(id)?.children?.find(({ localName }) => localName === name);
    return found === undefined ? null : (found.nodeId ?? 0);
  }

  async #values(id: number | null): Promise<{ shape: readonly number[]; values: Float32Array } | null> {
    const key = id === null ? undefined : this.keys.get(id);
    const stored = key === undefined ? null : this.bundle.find(key);
    if (stored === null || stored.dtype !== 'float32') return null;
    await this.bundle.checkRoom([stored.key]);
    const tensor = await readTensor(this.bundle.array(stored));
    const values = tensor.dataSync<'float32'>();
    tensor.dispose();
    return { shape: stored.shape, values };
  }

  async #moments(object: number): Promise<Json> {
    const [mean, variance] = [
      await this.#values(this.#child(object, 'mean')),
      await this.#values(this.#child(object, 'variance')),
    ];
    if (mean === null || variance === null) return {};
    return { mean: nested(mean.shape, mean.values), variance: nested(variance.shape, variance.values) };
  }

  async #boundaries(layer: LayerJson, object: number): Promise<Json> {
    const summary = await this.#values(this.#child(object, 'summary'));
    if (summary === null) return {};
    const boundaries = boundariesOf(layer, summary.shape, summary.values);
    const used = this.#graph().boundaries(layer.name);
    // The ops have those of the last adapt(): what was seen may be more.
    const isUsed = used.some((list) => {
      return list.length === boundaries.length && list.every((each, i) => each === Math.fround(boundaries[i]!));
    });
    if (isUsed) return { bin_boundaries: boundaries };
    const expected = 'those of its ops, found again in what adapt() saw';
    throw layerError(layer, 'bin_boundaries', expected, described(`[${boundaries.join(', ')}]`));
  }

  #graph(): GraphConstants {
    this.#constants ??= new GraphConstants(this.graph.graph ?? new Uint8Array(0));
    return this.#constants;
  }

  /** The tokens of a table in the order of their ids, without special ones; null where nothing fills the table. */
  async #tokens(layer: LayerJson, table: number | null): Promise<(number | string)[] | null> {
    const initialize = table === null ? null : this.#child(table, '_initialize');
    const [name] = this.#node(initialize ?? -1)?.function?.concreteFunctions ?? [];
    if (name === undefined) return null;
    const body = this.#graph().function(name);
    const given = this.graph.objects?.concreteFunctions?.[name]?.boundInputs ?? [];
    const names = (body?.signature?.inputs ?? []).map((each) => each.name);
    /** The number of the object that a function is given for an input of a node. */
    const objectOf = ({ inputs = [] }: NodeMessage, place: number): number => {
      return given[names.indexOf(inputs[place] ?? '')] ?? -1;
    };
    const { mask, unknown } = specialTokens(layer);
    for (const node of body?.nodes ?? []) {
      if (objectOf(node, 0) !== table) continue;
      if (node.op === FROM_FILE) return this.#lines(layer, node, objectOf(node, 1), mask + unknown);
      if (node.op !== IMPORT) continue;
      const [keys, ids] = [1, 2].map((place) => {
        return this.#graph().vector(this.#node(objectOf(node, place))?.constant?.operation ?? '');
      });
      return keys && ids ? inOrder(layer, keys, ids, mask + unknown) : null;
    }
    return null;
  }

  /** The lines of a file, which is an asset of the SavedModel. */
  async #lines(
    layer: LayerJson,
    { attributes = {} }: NodeMessage,
    asset: number,
    first: number,
  ): Promise<(number | string)[] | null> {
    const found = this.#node(asset)?.asset;
    const filename = found === undefined ? undefined : this.graph.assets?.[found.index ?? 0]?.filename;
    const number = (name: string): number => attributes[name]?.i ?? 0;
    const isPlain = number('key_index') === WHOLE_LINE && number('value_index') === LINE_NUMBER;
    if (filename === undefined || !isPlain || number('offset') !== first) return null;
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const lines = text.decode(await this.folder.bytes(`assets/${filename}`)).split('\n');
    if (lines.at(-1) === '') lines.pop();
    if (layer.className !== 'IntegerLookup') return lines;
    return lines.every((line) => /^[+-]?\d+$/.test(line)) ? lines.map(Number) : null;
  }
}

/** Numbers as nested arrays of a shape. */
function nested(shape: readonly number[], values: Float32Array): unknown {
  const [size, ...inner] = shape;
  if (size === undefined) return values[0];
  const step = values.length / Math.max(size, 1);
  return Array.from({ length: size }, (_, i) => nested(inner, values.subarray(i * step, (i + 1) * step)));
}

/** Keys by their ids, which go up by one from the first. */
function inOrder(
  layer: LayerJson,
  keys: readonly (number | string)[],
  ids: readonly (number | string)[],
  first: number,
): (number | string)[] {
  const tokens = new Map(keys.map((key, i) => [ids[i], key]));
  const list = Array.from(keys, (_, i) => tokens.get(first + i));
  if (keys.length === ids.length && tokens.size === keys.length && !list.includes(undefined)) {
    return list as (number | string)[];
  }
  const received = described(`a table of ${keys.length} tokens`);
  throw layerError(layer, 'vocabulary', `tokens with the ids from ${first} on, each once`, received);
}
