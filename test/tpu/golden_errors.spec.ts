/** Every error that TensorFlow was seen to raise in its TPU embedding API: of the same class here, and telling the facts. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectError } from '../helpers/errors.js';
import { readGoldens } from './goldens.js';
import { pipeline, pipelineArgs } from './sparse_core/goldens.js';

const { tpu } = emb;

interface Goldens {
  readonly errors: readonly { readonly case: string; readonly error: { readonly type: string } }[];
}

/** What fails, the argument that the error names, and what it tells as received. */
type Refused = readonly [run: () => unknown, argument: string, received: string];

const table = (change: object = {}): emb.tpu.TableConfig =>
  new tpu.TableConfig({ vocabularySize: 8, dim: 4, ...change } as emb.tpu.TableConfigArgs);
const feature = (change: object): emb.tpu.FeatureConfig => new tpu.FeatureConfig({ table: table(), ...change });
const embedding = (): emb.tpu.TPUEmbedding<emb.tpu.FeatureConfig> =>
  new tpu.TPUEmbedding({ featureConfig: feature({}), optimizer: new tpu.SGD() });
const named = (name: string): emb.tpu.FeatureConfig => feature({ table: table({ name }) });

const OPTIMIZERS: Record<string, Refused> = {
  'SGD clipvalue without accumulation': [
    () => new tpu.SGD({ useGradientAccumulation: false, clipvalue: 1 }),
    'clipvalue',
    '1',
  ],
  'Adagrad initial_accumulator_value=0': [
    () => new tpu.Adagrad({ initialAccumulatorValue: 0 }),
    'initialAccumulatorValue',
    '0',
  ],
  'AdagradMomentum epsilon=0': [() => new tpu.AdagradMomentum({ epsilon: 0 }), 'epsilon', '0'],
  'AdagradMomentum exponent=0': [() => new tpu.AdagradMomentum({ exponent: 0 }), 'exponent', '0'],
  'FTRL initial_accumulator_value=0': [
    () => new tpu.FTRL({ initialAccumulatorValue: 0 }),
    'initialAccumulatorValue',
    '0',
  ],
  'Adam beta_1=1': [() => new tpu.Adam({ beta1: 1 }), 'beta1', '1'],
  'Adam beta_2=-1': [() => new tpu.Adam({ beta2: -1 }), 'beta2', '-1'],
  'Adam epsilon=0': [() => new tpu.Adam({ epsilon: 0 }), 'epsilon', '0'],
  'Adam non lazy without accumulation': [
    () => new tpu.Adam({ lazyAdam: false, useGradientAccumulation: false }),
    'lazyAdam',
    'false',
  ],
  'slot fn not callable': [
    () => new tpu.Adagrad({ slotVariableCreationFn: 3 as never }),
    'slotVariableCreationFn',
    '3',
  ],
  'TableConfig vocabulary_size=0': [() => table({ vocabularySize: 0 }), 'vocabularySize', '0'],
  'TableConfig vocabulary_size float': [() => table({ vocabularySize: 2.5 }), 'vocabularySize', '2.5'],
  'TableConfig dim=0': [() => table({ dim: 0 }), 'dim', '0'],
  'TableConfig initializer': [() => table({ initializer: 3 }), 'initializer', '3'],
  'TableConfig combiner': [() => table({ combiner: 'max' }), 'combiner', 'max'],
  'TableConfig combiner type': [() => table({ combiner: 3 }), 'combiner', '3'],
  'TableConfig dtype': [() => table({ dtype: 'float64' }), 'dtype', 'float64'],
  'FeatureConfig table': [() => feature({ table: 3 }), 'table', '3'],
  'FeatureConfig max_sequence_length=-1': [() => feature({ maxSequenceLength: -1 }), 'maxSequenceLength', '-1'],
  'FeatureConfig validate type': [() => feature({ validateWeightsAndIndices: 1 }), 'validateWeightsAndIndices', '1'],
  'QuantizationConfig num_buckets=1': [
    () => new tpu.QuantizationConfig({ numBuckets: 1, lower: 0, upper: 1 }),
    'numBuckets',
    '1',
  ],
  'duplicate table names': [
    () => new tpu.TPUEmbedding({ featureConfig: [named('a'), named('a')], optimizer: new tpu.SGD() }),
    'name',
    'several tables named a',
  ],
  'unsupported optimizer': [
    () => new tpu.TPUEmbedding({ featureConfig: feature({}), optimizer: tf.train.sgd(0.1) as never }),
    'optimizer',
    'SGD',
  ],
  'enqueue off TPU': [() => embedding().enqueue([1]), 'enqueue', 'cpu'],
  'dequeue off TPU': [() => embedding().dequeue(), 'dequeue', 'cpu'],
  'apply_gradients off TPU': [() => embedding().applyGradients(null), 'applyGradients', 'cpu'],
  'TPUEmbeddingV2 off TPU': [
    () => new tpu.TPUEmbeddingV2({ featureConfig: feature({}), optimizer: new tpu.SGD() }),
    'TPUEmbeddingV2',
    'cpu',
  ],
};

const coo = (change: object) => (): unknown =>
  tpu.convertToCoo({
    ...{ indicesOrRowSplits: [0, 1, 2], values: [1, 2], weights: 1, sampleCount: 2, combiner: 'sum' },
    ...change,
  } as emb.tpu.ConvertToCooArgs);
const preprocess = (change: object) => (): unknown =>
  tpu.preprocessFeatures({ ...pipelineArgs(pipeline('one chip, one table, mean')), ...change });

const unsorted = [
  [1, 0],
  [0, 0],
];
const fourSamples = {
  features: [{ table: 'a', outputShape: [4] }],
  tableToSampleCount: { a: 4 },
  inputs: [[1, 2, 3, 4]],
};

const SPARSE_CORES: Record<string, Refused> = {
  'coo bad combiner': [coo({ combiner: 'max' }), 'combiner', 'max'],
  'coo weights count': [coo({ weights: [1, 1, 1] }), 'weights', '3'],
  'coo dense count': [coo({ indicesOrRowSplits: [], sampleCount: 3 }), 'values', '2'],
  'coo ragged splits count': [coo({ sampleCount: 3 }), 'indicesOrRowSplits', '3'],
  'coo values rank': [coo({ values: [[1, 2]] }), 'values', '2'],
  'coo unsorted sparse rows': [
    coo({ indicesOrRowSplits: unsorted }),
    'indicesOrRowSplits.indices',
    'row 0 after row 1',
  ],
  'max_ids_per_sparse_core exceeded': [preprocess({ maxIdsPerTable: { a: 1 } }), 'maxIdsPerTable', '2'],
  'max_unique_ids_per_sparse_core exceeded': [
    preprocess({ maxUniqueIdsPerTable: { a: 1 } }),
    'maxUniqueIdsPerTable',
    '2',
  ],
  'ids do not fit the chip buffer, dropping off': [
    preprocess({ maxIdsPerChipPerSample: 4 }),
    'maxIdsPerChipPerSample',
    '6 ids',
  ],
  'num_sc_shards not a power of two': [preprocess({ numChips: 3 }), 'numChips', '12'],
  'max_ids_per_chip not a multiple of 8': [
    preprocess({ maxIdsPerChipPerSample: 3, ...fourSamples }),
    'maxIdsPerChipPerSample',
    '12',
  ],
  'input of unknown type': [preprocess({ inputs: ['text'] }), 'inputs[0]', 'text'],
  'weight type': [preprocess({ weights: [[1, 1]] }), 'weights[0]', 'Tensor'],
  'unshuffle rows not multiple of cores': [
    () =>
      tpu.unshuffle({
        ...{ t: [[1], [2]], numSparseCores: 4, offsetInShard: 0, sizeInShard: 1, shardRotation: 0 },
      }),
    't',
    '2',
  ],
};

for (const [file, refused] of [
  ['optimizers', OPTIMIZERS],
  ['sparsecore_preprocess', SPARSE_CORES],
] as const) {
  describe(`Errors of TensorFlow's TPU embedding API, ${file}`, () => {
    beforeAll(() => tf.setBackend('cpu'));
    const { errors } = readGoldens<Goldens>(file);

    it('are all known here', () => {
      expect(errors.map((each) => each.case)).toEqual(Object.keys(refused));
    });

    for (const { case: what, error } of errors) {
      it(`have their class and tell what came: ${what}`, () => {
        // InvalidArgumentError is a ValueError here.
        const type = error.type === 'InvalidArgumentError' ? 'ValueError' : error.type;
        const [run, argument, received] = refused[what]!;
        expectError(run, type as 'ValueError' | 'RuntimeError', argument, received);
      });
    }
  });
}

describe('Gradients of stacks that TensorFlow refuses', () => {
  const args = {
    ...{ numScPerChip: 4, stackedTableToTables: { a: ['a'] }, tableToStackedTableOffset: { a: ['a', 0, 0] as const } },
    ...{ featureToSampleOffset: { 0: 0 }, tableToSampleCount: { a: 4 } },
    features: [{ table: 'a', outputShape: [4] }],
  };
  const of = (paddedDim: number, gradients: unknown[]): unknown =>
    tpu.stackGradients({
      ...args,
      tables: [{ name: 'a', paddedVocab: 64, paddedDim, combiner: 'sum' }],
      gradients: gradients as never[],
    });

  it('are refused where they are no tensors, and are zeros where they are null, padded or not', () => {
    expectError(() => of(8, [1]), 'ValueError', 'gradients[0]', 'non-tensor type');
    for (const dim of [6, 8])
      expect(of(dim, [null])).toEqual({ a: Array.from({ length: 4 }, () => new Array(dim).fill(0)) });
  });
});
