/** Models of the layer of TPU tables, with inputs and how they are exported. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { OwnModel, PlainTensor } from './exports.js';

const { FeatureConfig, QuantizationConfig, TableConfig } = emb.tpu;

const PADDED = [
  [3, 7, -1, -1],
  [5, 5, 0, 8],
  [-1, -1, -1, -1],
];

const int = (rows: number[][]): tf.Tensor => tf.tensor2d(rows, undefined, 'int32');

function tableOf(combiner: 'sum' | 'mean' | 'sqrtn', more: object = {}): emb.tpu.TableConfig {
  return new TableConfig({ vocabularySize: 9, dim: 3, combiner, name: combiner, ...more });
}

/** One model of some features, each of which has an input of this shape. */
function modelOf(
  features: readonly emb.tpu.FeatureConfig[],
  shapes: readonly (number | null)[][],
  given: tf.Tensor[],
  args: object = {},
): OwnModel {
  const layer = emb.layers.tpuEmbedding({ featureConfig: features, optimizer: new emb.tpu.Adagrad(), ...args });
  const inputs = shapes.map((shape, i) => tf.input({ shape: shape as number[], dtype: 'int32', name: `ids_${i}` }));
  const outputs = layer.apply(inputs) as tf.SymbolicTensor[];
  return { model: tf.model({ inputs, outputs }), inputs: given };
}

const combiners = (args: object): OwnModel => {
  const tables = (['sum', 'mean', 'sqrtn'] as const).map((combiner) => tableOf(combiner));
  const features = [...tables, tables[1]!].map((table) => new FeatureConfig({ table }));
  const given = [int(PADDED), int(PADDED), int(PADDED), int([[4], [-1], [8]])];
  return modelOf(features, [[4], [null], [4], [1]], given, args);
};

const sequences = (): OwnModel => {
  const table = tableOf('mean');
  const features = [2, 4, 6].map((maxSequenceLength) => new FeatureConfig({ table, maxSequenceLength }));
  const more = [4, 6].map((maxSequenceLength) => new FeatureConfig({ table, maxSequenceLength }));
  const widths = [4, 4, 4, null, null];
  return modelOf(
    [...features, ...more],
    widths.map((width) => [width]),
    widths.map(() => int(PADDED)),
  );
};

const shapes = (): OwnModel => {
  const table = tableOf('sum');
  const deep = tf.tensor3d(
    [
      [
        [1, -1],
        [3, 4],
      ],
      [
        [-1, -1],
        [8, 8],
      ],
      [
        [0, 1],
        [2, -1],
      ],
    ],
    [3, 2, 2],
    'int32',
  );
  const outputShapes = [null, [null], [null, 4], [null, 2, 3], [null, null]];
  const features = [
    new FeatureConfig({ table, maxSequenceLength: 7 }),
    ...outputShapes.map((outputShape) => new FeatureConfig({ table, outputShape })),
  ];
  return modelOf(features, [[2, 2], [4], [4], [4], [4], [4]], [deep, ...outputShapes.map(() => int(PADDED))]);
};

const quantized = (options: object): OwnModel => {
  const quantizationConfig = new QuantizationConfig({ numBuckets: 5, lower: -0.5, upper: 0.75 });
  const table = tableOf('mean', { quantizationConfig });
  const features = [new FeatureConfig({ table }), new FeatureConfig({ table, maxSequenceLength: 3 })];
  return { ...modelOf(features, [[4], [4]], [int(PADDED), int(PADDED)]), ...options };
};

const raggedIds = (): OwnModel => {
  const table = tableOf('sqrtn');
  const features = [new FeatureConfig({ table }), new FeatureConfig({ table, maxSequenceLength: 3 })];
  const values: PlainTensor = { dtype: 'int32', shape: [6], values: [3, 7, 5, 5, 0, 8] };
  const splits: PlainTensor = { dtype: 'int32', shape: [4], values: [0, 2, 6, 6] };
  const fed = { ids_0_values: values, ids_0_row_splits: splits, ids_1_values: values, ids_1_row_splits: splits };
  const model = modelOf(features, [[null], [null]], [int(PADDED), int(PADDED)]);
  return { ...model, fed, options: { ragged: 'components' } };
};

export const TPU_MODELS: readonly (readonly [string, () => OwnModel])[] = [
  ['tpuEmbedding, combiners', () => combiners({})],
  ['tpuEmbedding of version 2', () => combiners({ version: 2 })],
  ['tpuEmbedding, custom ops', () => ({ ...combiners({}), options: { customOps: true } })],
  ['tpuEmbedding, sequences', sequences],
  ['tpuEmbedding, output shapes', shapes],
  ['tpuEmbedding, quantized', () => quantized({})],
  ['tpuEmbedding, quantized, custom ops', () => quantized({ options: { customOps: true } })],
  ['tpuEmbedding, ragged as components', raggedIds],
];
