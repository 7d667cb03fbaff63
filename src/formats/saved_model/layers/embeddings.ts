/** The embedding layers of tfjs and of this package. */
import { ConcatOneHotEmbedding } from '../../../layers/embedding/concat_one_hot_embedding.js';
import { DistributedEmbedding } from '../../../layers/distributed_embedding/layer.js';
import { Embedding } from '../../../layers/embedding/embedding.js';
import { RaggedEmbedding } from '../../../layers/embedding/ragged_embedding.js';
import { isOpenTable } from '../../../tables/keys/is_open_table.js';
import type { Operations } from '../graph/operations.js';
import type { Value } from '../graph/value.js';
import type { Emitter, LayerCall } from './layer_call.js';
import { lookUpKeys, maskOfKeys } from '../frozen_keys.js';
import { lookUpRagged, lookUpTable } from './lookup.js';
import { paddedRows } from './ragged.js';

const stock: Emitter = (call) => {
  const table = call.variable('embeddings')!;
  return call.o.gatherRows(table, call.o.cast(call.input, 'int32'), 'any');
};

function weightsOrNull(call: LayerCall, value: Value | undefined): Value | null {
  return value === undefined ? null : call.o.cast(value, 'float32');
}

const embedding: Emitter = (call) => {
  const { o, context, inputs } = call;
  if (isOpenTable((call.layer as Embedding).table)) return lookUpKeys(call);
  const { feature, embeddings } = call.layer as Embedding;
  const table = context.variableOf(embeddings!);
  const ids = o.cast(call.input, 'int32');
  return lookUpTable(o, { feature, table, ids, weights: weightsOrNull(call, inputs[1]) }, context.customOps);
};

/** Padded ids, or values and row splits, which are padded first. */
const ragged: Emitter = (call) => {
  const { o, context, inputs } = call;
  if (isOpenTable((call.layer as RaggedEmbedding).table)) return lookUpKeys(call);
  const { feature, embeddings } = call.layer as RaggedEmbedding;
  const table = context.variableOf(embeddings!);
  const ids = o.cast(call.input, 'int32');
  if (ids.shape.length > 1) {
    return lookUpTable(o, { feature, table, ids, weights: weightsOrNull(call, inputs[1]) }, context.customOps);
  }
  const splits = o.cast(inputs[1]!, 'int32');
  const weights = weightsOrNull(call, inputs[2]);
  return lookUpRagged(o, context, { feature, table, ids, weights }, splits);
};

const distributed: Emitter = (call) => {
  const { o, context, inputs } = call;
  const layer = call.layer as DistributedEmbedding;
  const { features } = layer.lookups;
  const tables = layer.weights.map((weight) => context.variableOf(weight));
  const weighted = layer.weightedFeatures;
  const results = features.map((feature, i) => {
    const ids = o.cast(inputs[i]!, 'int32');
    const place = weighted.indexOf(i);
    const weights = place < 0 ? null : weightsOrNull(call, inputs[features.length + place]);
    return lookUpTable(o, { feature, table: tables[feature.table]!, ids, weights }, context.customOps);
  });
  return layer.outputForm === 'concat' ? o.concat(results, -1) : results;
};

/** Rows of the common table; an id outside its own feature becomes one beyond the table, which is an error there. */
const concatOneHot: Emitter = (call) => {
  const { o, context } = call;
  const { embeddings, featureSizes, offsets, inputDim } = call.layer as ConcatOneHotEmbedding;
  const ids = o.cast(call.input, 'int32');
  const isInside = o.and(o.compare('GreaterEqual', ids, 0), insideOf(o, ids, featureSizes));
  const rows = o.where(isInside, o.add(ids, o.ints(offsets)), o.graph.scalar(inputDim, 'int32'));
  return o.gatherRows(context.variableOf(embeddings!), rows);
};

function insideOf(o: Operations, ids: Value, sizes: readonly number[]): Value {
  return o.binary('Less', ids, o.ints(sizes), 'bool');
}

export const EMBEDDING_LAYERS: Readonly<Record<string, Emitter>> = {
  Embedding: stock,
  [Embedding.className]: embedding,
  [RaggedEmbedding.className]: ragged,
  [DistributedEmbedding.className]: distributed,
  [ConcatOneHotEmbedding.className]: concatOneHot,
};

/** Where ids count, for layers that come after; null where all do. */
export function embeddingMask(call: LayerCall): Value | null {
  const { layer, o, input, inputs } = call;
  if ((layer instanceof Embedding || layer instanceof RaggedEmbedding) && isOpenTable(layer.table)) {
    return maskOfKeys(call, layer instanceof RaggedEmbedding || layer.maskZero);
  }
  if (layer instanceof Embedding) {
    if (!layer.maskZero) return null;
    const present = o.compare('Greater', o.cast(input, 'int32'), 0);
    if (layer.combiner === null) return present;
    return input.shape.length < 3 ? null : o.reduce('Any', present, [-1]);
  }
  if (layer instanceof RaggedEmbedding) {
    if (layer.combiner !== null) return null;
    const ids = o.cast(input, 'int32');
    const padded = input.shape.length > 1 ? ids : paddedRows(o, ids, o.cast(inputs[1]!, 'int32'), -1);
    const isPair = input.shape.length === 1;
    return o.compare('GreaterEqual', padded, layer.maskZero && !isPair ? 1 : 0);
  }
  return null;
}
