/** Ops of embeddings: ours, NVIDIA's of distributed-embeddings 23.03, and those of TPUs. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, ValueError, described } from '../../base/errors.js';
import { embeddingBag } from '../../lookup/embedding_bag.js';
import { embeddingBagGrad } from '../../lookup/embedding_bag_grad.js';
import { GrowingVocabulary } from '../../preprocessing/growing_vocabulary.js';
import { atEndOfModel, modelOf } from '../../tfjs/graph_models/graph_run.js';
import type { Combiner, OutOfRange } from '../../base/types.js';
import { graphOp, type GraphOp } from './graph_op.js';
import { findObject } from './resources/handles.js';
import { GraphVariable, valueOf } from './resources/variable_ops.js';

/** An attribute of text; op definitions give those that a graph leaves out. */
function text(node: tf.GraphNode, name: string, fallback: string): string {
  return (node.attrs[name] as string | undefined) ?? fallback;
}

function bag([table, values, rowSplits, weights]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const maxNorm = Number(node.attrs['max_norm'] ?? 0);
  return embeddingBag(table as tf.Tensor2D, values as tf.Tensor1D, rowSplits as tf.Tensor1D, {
    combiner: text(node, 'combiner', 'sum') as Combiner,
    outOfRange: text(node, 'out_of_range', 'error') as OutOfRange,
    ...(maxNorm > 0 && { maxNorm }),
    ...(weights!.size > 0 && { weights: weights as tf.Tensor1D }),
  });
}

function variableHotness([param, ids, offsets]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const combiner = text(node, 'combiner', 'sum') as Combiner;
  const table = valueOf(param!) as tf.Tensor2D;
  return embeddingBag(table, ids as tf.Tensor1D, offsets as tf.Tensor1D, { combiner });
}

function variableHotnessGrad([ids, offsets, grad, param]: tf.Tensor[], node: tf.GraphNode): tf.Tensor[] {
  const combiner = text(node, 'combiner', 'sum') as Combiner;
  const rows = valueOf(param!).shape[0]!;
  const found = embeddingBagGrad(grad as tf.Tensor2D, ids as tf.Tensor1D, offsets as tf.Tensor1D, { combiner, rows });
  return [found.uniqueIds, found.rowGradients];
}

/** Row splits of sorted sparse indices. */
function rowToSplit([rowIds, shape]: tf.Tensor[]): tf.Tensor {
  const rows = shape!.dataSync()[0]!;
  const places = rowIds!.dataSync();
  const width = rowIds!.rank === 1 ? 1 : rowIds!.shape[1]!;
  const splits = new Int32Array(rows + 1);
  for (let at = 0; at < places.length; at += width) {
    const row = places[at]!;
    if (row < 0 || row >= rows) throw new ValueError('row_ids', `rows in [0, ${rows})`, row);
    splits[row + 1]!++;
  }
  for (let row = 0; row < rows; row++) splits[row + 1]! += splits[row]!;
  return tf.tensor1d(splits, 'int32');
}

/** By model, then by the variable or the node that holds the table. */
const vocabularies = new WeakMap<object, Map<unknown, GrowingVocabulary>>();

/** The vocabulary behind a table's handle; it begins empty. */
function vocabularyOf(table: tf.Tensor, counts: tf.Tensor, node: tf.GraphNode): GrowingVocabulary {
  const model = modelOf(node);
  const known = vocabularies.get(model) ?? new Map<unknown, GrowingVocabulary>();
  vocabularies.set(model, known);
  const key = findObject(table, GraphVariable) ?? table.dataId;
  const found = known.get(key);
  if (found !== undefined) return found;
  const used = findObject(counts, GraphVariable);
  const isUsed =
    (used?.isInitialized ?? true) &&
    valueOf(counts)
      .dataSync()
      .some((count: number) => count !== 0);
  if (isUsed) {
    const received = described('one that was filled on a GPU, in an order of its own');
    throw new RuntimeError('table_handle', 'an empty table', received);
  }
  const vocabulary = new GrowingVocabulary(Number(node.attrs['capacity']) - 1);
  known.set(key, vocabulary);
  atEndOfModel(node, () => known.delete(key));
  return vocabulary;
}

/** Indices of keys, by order of first appearance; 0 once the table is full. */
function integerLookup([table, counts, keys]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const vocabulary = vocabularyOf(table!, counts!, node);
  const indices = Int32Array.from(keys!.dataSync(), (key) => vocabulary.take(key));
  return tf.tensor(indices, keys!.shape, 'int32');
}

export const EMBEDDING_OPS: readonly GraphOp[] = [
  graphOp('EmbeddingBag(table: float32, values: int32, row_splits: int32, weights: float32) -> pooled: float32', bag),
  graphOp('EmbeddingLookupVariableHotness(param: T, ids: Tindices, offsets: Tindices) -> output: T', variableHotness),
  graphOp(
    'EmbeddingLookupVariableHotnessGrad(ids: Tindices, offset: Tindices, grad: T, param: T) -> ' +
      'unique_ids: Tindices, unique_grad: T',
    variableHotnessGrad,
  ),
  graphOp('RowToSplit(row_ids: Tindices, shape: int32) -> row_split: Tindices', rowToSplit),
  graphOp('IntegerLookup(table_handle: resource, count_handle: resource, keys: T) -> values: T', integerLookup),
  graphOp(
    'TPUEmbeddingActivations(embedding_variable: float32, sliced_activations: float32) -> output: float32',
    ([, activations]) => activations!.clone(),
  ),
];
