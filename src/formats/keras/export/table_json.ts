/** Embedding layers of this package as layers of Keras and Keras RS. */
import { isWeighing } from '../../../base/types.js';
import type * as tf from '@tensorflow/tfjs';
import { described } from '../../../base/errors.js';
import type { DistributedEmbedding } from '../../../layers/distributed_embedding/layer.js';
import type { TableLayer } from '../../../layers/embedding/table_layer.js';
import { isRecord } from '../../../base/options.js';
import { layerError } from '../layer_error.js';
import { keras, namedLayer, type LayerEntry } from './layer_json.js';
import { constraintJson, initializerJson, regularizerJson } from './python_config.js';

type Json = Record<string, unknown>;
type AnyTableLayer = TableLayer & tf.layers.Layer;

/** What neither Keras nor Keras RS can do. */
function checkRule(layer: tf.layers.Layer, rule: Json, at = ''): void {
  const { combiner = null, maxNorm, outOfRange } = rule;
  const named = namedLayer(layer);
  if (combiner !== null && !isWeighing(combiner))
    throw layerError(named, `${at}combiner`, "'sum', 'mean' or 'sqrtn': Keras RS has no other", combiner);
  if (maxNorm !== undefined && maxNorm !== null)
    throw layerError(named, `${at}maxNorm`, 'null: Keras has none', maxNorm);
  if (outOfRange === 'zero')
    throw layerError(named, `${at}outOfRange`, "'error': Keras has no rows of zeros", outOfRange);
}

/**
 * `Embedding` of Keras without a combiner, `EmbedReduce` of Keras RS with one. `frozen`: how many rows are written of an
 * open table, and what the table says of itself.
 */
export function tableEntry(
  layer: AnyTableLayer,
  frozen: { readonly inputDim: number; readonly config: Json } | null = null,
): LayerEntry {
  const config = { ...(layer.getConfig() as Json), ...frozen?.config };
  const named = namedLayer(layer);
  checkRule(layer, config);
  if (frozen === null && isRecord(config['table'])) {
    const received = described(`the table ${String(config['table']['name'])}, which other layers may share`);
    throw layerError(named, 'table', 'a table of its own: a layer of Keras owns its table', received);
  }
  const { combiner } = layer;
  const written: Json = {
    name: layer.name,
    trainable: layer.trainable,
    dtype: 'float32',
    input_dim: frozen?.inputDim ?? layer.inputDim,
    output_dim: layer.outputDim,
    embeddings_initializer: initializerJson(config['embeddingsInitializer'], named, 'embeddingsInitializer'),
    embeddings_regularizer: regularizerJson(config['embeddingsRegularizer'], named, 'embeddingsRegularizer'),
    embeddings_constraint: constraintJson(config['embeddingsConstraint'], named, 'embeddingsConstraint'),
    // With a combiner the weights of ids say it.
    mask_zero: combiner === null && layer.maskZero,
  };
  if (combiner === null) return keras('Embedding', written);
  return {
    module: 'keras_rs.src.layers.embedding.embed_reduce',
    class_name: 'EmbedReduce',
    config: { ...written, combiner },
    registered_name: 'keras_rs>EmbedReduce',
  };
}

/** Features nested as in Keras RS, with the number of each in place of the feature. */
type Numbered = number | Numbered[] | { [key: string]: Numbered };

interface Structure {
  readonly kind: string;
  readonly items?: readonly Structure[];
  readonly entries?: readonly { readonly name: string; readonly value: Structure }[];
}

interface Features {
  readonly nested: Numbered;
  /** By number, in the order in which the layer takes them: name and number of the table. */
  readonly list: readonly { readonly name: string; readonly table: number }[];
}

function readStructure(structure: Structure): Features {
  const list: { name: string; table: number }[] = [];
  const visit = (part: Structure): Numbered => {
    if (part.kind === 'list') return part.items!.map(visit);
    if (part.kind === 'record') return Object.fromEntries(part.entries!.map(({ name, value }) => [name, visit(value)]));
    return list.push(part as unknown as { name: string; table: number }) - 1;
  };
  return { nested: visit(structure), list };
}

function readItems(items: readonly Json[], inputTableMap: readonly number[]): Features {
  const list = inputTableMap.map((item, i) => ({ name: `feature_${i}`, table: items[item]!['table'] as number }));
  return { nested: list.map((_, i) => i), list };
}

/** The layer, and how its features are nested. */
export interface DistributedEntry {
  readonly entry: LayerEntry;
  readonly nested: Numbered;
  /** Number of the table of each feature, in the order in which the layer takes them. */
  readonly tables: readonly number[];
}

/** Numbers in the order in which Keras counts them: objects by their sorted keys. */
export function flattenNumbered(nested: Numbered): number[] {
  if (typeof nested === 'number') return [nested];
  if (Array.isArray(nested)) return nested.flatMap(flattenNumbered);
  return Object.keys(nested)
    .sort()
    .flatMap((key) => flattenNumbered(nested[key]!));
}

export function mapNumbered<T>(nested: Numbered, map: (feature: number) => T): unknown {
  if (typeof nested === 'number') return map(nested);
  if (Array.isArray(nested)) return nested.map((each) => mapNumbered(each, map));
  return Object.fromEntries(Object.entries(nested).map(([key, each]) => [key, mapNumbered(each, map)]));
}

/** `shapes`: of the ids of each feature. */
export function distributedEntry(
  layer: DistributedEmbedding,
  shapes: readonly (readonly (number | null)[])[],
): DistributedEntry {
  const config = layer.getConfig() as unknown as Json;
  const named = namedLayer(layer);
  if (layer.outputForm !== 'structure') {
    throw layerError(named, 'output', "'structure': Keras RS gives a result for each feature", layer.outputForm);
  }
  const items = config['embeddings'] as readonly Json[] | undefined;
  const tables = config['tables'] as readonly Json[];
  const features =
    items === undefined
      ? readStructure(config['features'] as Structure)
      : readItems(items, (config['inputTableMap'] as number[] | null) ?? items.map((_, i) => i));
  const rules = items ?? tables;
  rules.forEach((rule, i) => {
    const at = `${items === undefined ? 'tables' : 'embeddings'}[${i}].`;
    checkRule(layer, rule, at);
    if (rule['ragged'] === true || rule['maskZero'] === true) {
      const received = described(rule['ragged'] === true ? 'ragged rows' : 'maskZero');
      throw layerError(named, `${at}ids`, 'ids that all count, as in Keras RS', received);
    }
    const { combiner } = rule;
    if (combiner === null) throw layerError(named, `${at}combiner`, "'sum', 'mean' or 'sqrtn' for Keras RS", combiner);
  });
  tables.forEach((table, i) => {
    for (const field of ['embeddingsRegularizer', 'embeddingsConstraint']) {
      if (table[field] === undefined || table[field] === null) continue;
      throw layerError(named, `tables[${i}].${field}`, 'null: a table of Keras RS has none', table[field]);
    }
  });
  const combinerOf = (table: number): unknown => {
    const own = new Set((items ?? []).filter((item) => item['table'] === table).map(({ combiner }) => combiner));
    if (own.size > 1) {
      throw layerError(
        named,
        'embeddings',
        'one combiner for each table, as in Keras RS',
        described([...own].join(' and ')),
      );
    }
    return items === undefined ? tables[table]!['combiner'] : [...own][0];
  };
  const dims = tables.map((table) => table[items === undefined ? 'embeddingDim' : 'outputDim']);
  const written: Json = {
    name: layer.name,
    trainable: layer.trainable,
    dtype: 'float32',
    feature_configs: mapNumbered(features.nested, (feature) => {
      const { name, table } = features.list[feature]!;
      const shape = shapes[feature]!;
      return { name, table, input_shape: shape, output_shape: [...shape.slice(0, -1), dims[table]] };
    }),
    tables: tables.map((table, i) => ({
      name: table['name'],
      vocabulary_size: table[items === undefined ? 'vocabularySize' : 'inputDim'],
      embedding_dim: dims[i],
      initializer: initializerJson(
        table['initializer'] ?? table['embeddingsInitializer'],
        named,
        `tables[${i}].initializer`,
      ),
      optimizer: 'adam',
      combiner: combinerOf(i),
      placement: 'default_device',
      max_ids_per_partition: table['maxIdsPerPartition'] ?? 256,
      max_unique_ids_per_partition: table['maxUniqueIdsPerPartition'] ?? 256,
    })),
  };
  const entry = {
    module: 'keras_rs.src.layers.embedding.distributed_embedding',
    class_name: 'DistributedEmbedding',
    config: written,
    registered_name: 'keras_rs>DistributedEmbedding',
  };
  return { entry, nested: features.nested, tables: features.list.map(({ table }) => table) };
}
