/** The models of the bench with our layers and optimizers. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { ModelSpec } from './model_specs.js';

export interface BuiltModel {
  readonly model: tf.LayersModel;
  /** Those with weights, in the order of weightShapes. */
  readonly layers: readonly tf.layers.Layer[];
  readonly optimizer: tf.Optimizer;
}

type Symbolic = tf.SymbolicTensor;
const PENALTY = 1e-3;

export const inputsOf = ({ inputs, kind }: ModelSpec): Symbolic[] =>
  inputs.map(({ hot }, i) => tf.input({ shape: [kind === 'ragged' ? null : hot], dtype: 'int32', name: `ids_${i}` }));

/** Dense layers one after the other. */
export function chain(
  x: Symbolic,
  sizes: readonly number[],
  last: 'relu' | 'sigmoid' | 'softmax' | 'linear',
  to: tf.layers.Layer[],
) {
  sizes.forEach((units, i) => {
    const layer = tf.layers.dense({ units, activation: i + 1 < sizes.length ? 'relu' : last });
    to.push(layer);
    x = layer.apply(x) as Symbolic;
  });
  return x;
}

const add = (...parts: Symbolic[]): Symbolic => tf.layers.add().apply(parts) as Symbolic;
const concat = (parts: Symbolic[]): Symbolic => tf.layers.concatenate().apply(parts) as Symbolic;
const sigmoid = (x: Symbolic): Symbolic => tf.layers.activation({ activation: 'sigmoid' }).apply(x) as Symbolic;
const dot = (a: Symbolic, b: Symbolic): Symbolic => tf.layers.dot({ axes: 1 }).apply([a, b]) as Symbolic;
export interface Parts {
  /** One row of each table per sample, for the inputs that read it. */
  readonly rows: readonly Symbolic[];
  readonly inputs: readonly Symbolic[];
  /** All products of pairs of vectors. */
  readonly interaction: (vectors: Symbolic[]) => Symbolic;
}

/** Which input each lookup reads, and which table. */
export function lookupsOf({ kind, tables }: ModelSpec): { readonly input: number; readonly table: number }[] {
  if (kind === 'wide_and_deep') return tables.map((_, table) => ({ input: table >> 1, table }));
  if (kind === 'matrix_factorization') return tables.map((_, table) => ({ input: table % 2, table }));
  if (kind !== 'two_towers') return tables.map((_, table) => ({ input: table, table }));
  return [
    { input: 0, table: 0 },
    { input: 1, table: 1 },
    { input: 2, table: 1 },
  ];
}

/** What stands above the tables: the same for our layers and for stock ones. */
export function headOf(
  spec: ModelSpec,
  { rows, inputs, interaction }: Parts,
): { model: tf.LayersModel; dense: tf.layers.Layer[] } {
  const dense: tf.layers.Layer[] = [];
  if (spec.kind === 'wide_and_deep') {
    const vectors = rows.filter((_, i) => i % 2 === 0);
    const dropped = vectors.map((each) => tf.layers.dropout({ rate: spec.dropout }).apply(each) as Symbolic);
    const logit = chain(concat(dropped), [32, 1], 'linear', dense);
    const outputs = sigmoid(add(...rows.filter((_, i) => i % 2 === 1), logit));
    return { model: tf.model({ inputs: [...inputs], outputs }), dense };
  }
  if (spec.kind === 'dlrm') {
    const numbers = tf.input({ shape: [13], name: 'numbers' });
    const x = chain(numbers, [512, 256, spec.tables[0]!.dim], 'relu', dense);
    const products = interaction([x, ...rows]);
    const outputs = chain(concat([x, products]), [512, 256, 1], 'sigmoid', dense);
    return { model: tf.model({ inputs: [numbers, ...inputs], outputs }), dense };
  }
  if (spec.kind === 'text' || spec.kind === 'next_item') {
    const [x] = rows as [Symbolic];
    const outputs =
      spec.kind === 'text' ? chain(x, [64, 1], 'sigmoid', dense) : chain(x, [spec.classes!], 'softmax', dense);
    return { model: tf.model({ inputs: [...inputs], outputs }), dense };
  }
  if (spec.kind === 'ragged') {
    const outputs = chain(concat([...rows]), [64, 1], 'sigmoid', dense);
    return { model: tf.model({ inputs: [...inputs], outputs }), dense };
  }
  if (spec.kind === 'tables') {
    const outputs = chain(concat([...rows]), [1], 'sigmoid', dense);
    return { model: tf.model({ inputs: [...inputs], outputs }), dense };
  }
  if (spec.kind === 'matrix_factorization') {
    const [user, item, userBias, itemBias] = rows as [Symbolic, Symbolic, Symbolic, Symbolic];
    const outputs = sigmoid(add(dot(user, item), userBias, itemBias));
    return { model: tf.model({ inputs: [...inputs], outputs }), dense };
  }
  // The softmax of two logits is the sigmoid of their difference, and made of stock layers.
  const [user, better, worse] = rows as [Symbolic, Symbolic, Symbolic];
  const logits = concat([dot(user, better), dot(user, worse)]);
  const outputs = tf.layers.activation({ activation: 'softmax' }).apply(logits) as Symbolic;
  return { model: tf.model({ inputs: [...inputs], outputs }), dense };
}

/** One table without the layer of many, as for texts. */
function rowsOfOne(spec: ModelSpec, ids: Symbolic): { rows: Symbolic; layer: tf.layers.Layer } {
  const [{ rows: inputDim, dim: outputDim }] = spec.tables as [ModelSpec['tables'][0]];
  const combiner = spec.hasPoolingLayer ? null : 'mean';
  const layer = emb.layers.embedding({ name: 'table_0', inputDim, outputDim, combiner });
  const found = layer.apply(ids) as Symbolic;
  const rows = spec.hasPoolingLayer ? (tf.layers.globalAveragePooling1d({}).apply(found) as Symbolic) : found;
  return { rows, layer };
}

function optimizerOf({ optimizer, learningRate, everyRow, epsilon }: ModelSpec): tf.Optimizer {
  if (optimizer === 'sgd') return emb.train.sgd({ learningRate });
  if (optimizer === 'adagrad') return emb.train.adagrad({ learningRate, epsilon });
  return emb.train.adam({ learningRate, lazy: !everyRow, epsilon });
}

export function buildOurs(spec: ModelSpec): BuiltModel {
  const inputs = inputsOf(spec);
  const lookups = lookupsOf(spec);
  const interaction = (vectors: Symbolic[]): Symbolic => emb.layers.dotInteraction().apply(vectors) as Symbolic;
  if (spec.kind === 'text' || spec.kind === 'next_item') {
    const { rows, layer } = rowsOfOne(spec, inputs[0]!);
    const { model, dense } = headOf(spec, { rows: [rows], inputs, interaction });
    return { model, layers: [layer, ...dense], optimizer: optimizerOf(spec) };
  }
  if (spec.kind === 'ragged') {
    const tables = spec.tables.map(({ rows: inputDim, dim: outputDim }) =>
      emb.layers.raggedEmbedding({ inputDim, outputDim, combiner: 'mean' }),
    );
    const rows = tables.map((table, i) => table.apply(inputs[i]!) as Symbolic);
    const { model, dense } = headOf(spec, { rows, inputs, interaction });
    return { model, layers: [...tables, ...dense], optimizer: optimizerOf(spec) };
  }
  const hasPenalty = (table: number): boolean => spec.kind === 'wide_and_deep' && table % 2 === 0;
  const layer = emb.layers.distributedEmbedding({
    embeddings: spec.tables.map(({ rows, dim }, table) =>
      emb.layers.embedding({
        name: `table_${table}`,
        inputDim: rows,
        outputDim: dim,
        combiner: 'sum',
        ...(hasPenalty(table) ? { embeddingsRegularizer: tf.regularizers.l2({ l2: PENALTY }) } : {}),
      }),
    ),
    inputTableMap: lookups.map(({ table }) => table),
  });
  const rows = layer.apply(lookups.map(({ input }) => inputs[input]!)) as Symbolic[];
  const { model, dense } = headOf(spec, { rows, inputs, interaction });
  return { model, layers: [layer, ...dense], optimizer: optimizerOf(spec) };
}
