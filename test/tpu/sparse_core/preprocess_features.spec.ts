/** Features as CSR, against what the host kernels of TensorFlow gave, bit by bit. */
import * as tf from '@tensorflow/tfjs';
import { RaggedTensor } from 'tfjs-embeddings';
import {
  convertToCoo,
  PartitionedCsrFormatTensor,
  preprocessFeatures,
  stackGradients,
  type ConvertToCooArgs,
  type PreprocessFeaturesArgs,
} from 'tfjs-embeddings/tpu';
import { expectError } from '../../helpers/errors.js';
import { camel, pipeline, pipelineArgs, preprocessGoldens } from './goldens.js';

const f32 = (numbers: number[]): number[] => numbers.map(Math.fround);
const MEAN = 'one chip, one table, mean';
const DROPPING = 'id dropping when the static buffer is too small (32 slots)';

describe('convertToCoo', () => {
  for (const golden of preprocessGoldens.convert_to_coo) {
    it(`gives TensorFlow's triples: ${golden.case}, ${String(golden['combiner'])}`, () => {
      const { case: _, row_ids, col_ids, gains, ...given } = golden;
      const coo = convertToCoo(camel(given) as unknown as ConvertToCooArgs);
      expect([...coo.rowIds]).toEqual(row_ids);
      expect([...coo.colIds]).toEqual(col_ids);
      expect([...coo.gains]).toEqual(f32(gains));
    });
  }

  const valid: ConvertToCooArgs = {
    indicesOrRowSplits: [0, 1, 3],
    values: [1, 2, 3],
    weights: 1,
    sampleCount: 2,
    combiner: 'sum',
  };
  const refused: [string, object, string, string?][] = [
    ['an unknown combiner', { combiner: 'max' }, 'combiner'],
    ['another number of weights', { weights: [1, 2] }, 'weights'],
    ['another number of dense ids', { indicesOrRowSplits: [] }, 'values'],
    ['another number of row splits', { indicesOrRowSplits: [0, 1, 1, 3] }, 'indicesOrRowSplits'],
    ['values of rank 2', { values: [[1, 2, 3]] }, 'values'],
    [
      'rows out of order',
      {
        indicesOrRowSplits: [
          [0, 0],
          [1, 0],
          [0, 1],
        ],
      },
      'indicesOrRowSplits.indices',
    ],
    ['NaN as a weight', { weights: [1, NaN, 1] }, 'weights'],
    ['values of uneven rows', { values: [[1], [2, 3]] }, 'values', 'uneven'],
    ['weights of rank 2', { weights: [[1, 2, 3]] }, 'weights', '2 axes'],
    ['splits of another count than ids', { indicesOrRowSplits: [0, 1, 2] }, 'indicesOrRowSplits'],
    ['other numbers of sparse places', { indicesOrRowSplits: [[0, 0], [1, 0]] }, 'indicesOrRowSplits', '2'], // prettier-ignore
    ['places of three axes', { indicesOrRowSplits: [[[0, 0], [0, 1], [1, 0]]] }, 'indicesOrRowSplits', '3'], // prettier-ignore
    ['places beyond the samples', { indicesOrRowSplits: [[0, 0], [1, 0], [2, 0]] }, 'indicesOrRowSplits.indices', '2 at position 2'], // prettier-ignore
    ['places below 0', { indicesOrRowSplits: [[-1, 0], [1, 0], [1, 1]] }, 'indicesOrRowSplits.indices', '-1 at position 0'], // prettier-ignore
    ['a negative number of samples', { sampleCount: -1 }, 'sampleCount', '-1'],
    ['more samples than int32 holds', { sampleCount: 2 ** 31 }, 'sampleCount', '2147483648'],
  ];
  for (const [what, change, argument, received] of refused) {
    it(`refuses ${what}`, () => {
      expectError(() => convertToCoo({ ...valid, ...change }), 'ValueError', argument, received);
    });
  }

  it('takes places, tensors, typed arrays and one weight for all', () => {
    const expected = convertToCoo({ ...valid, weights: [0.5, 0.5, 0.5] });
    expect([...expected.rowIds]).toEqual([0, 1, 1]);
    expect([...expected.gains]).toEqual([0.5, 0.5, 0.5]);
    const places = [[0, 0], [1, 0], [1, 5]]; // prettier-ignore
    const before = tf.memory().numTensors;
    const others = {
      indicesOrRowSplits: tf.tensor2d(places, [3, 2], 'int32'),
      values: tf.tensor1d([1, 2, 3], 'int32'),
      weights: tf.scalar(0.5),
    };
    const typed = { indicesOrRowSplits: Int32Array.of(0, 1, 3), values: Int32Array.of(1, 2, 3) };
    for (const form of [{ indicesOrRowSplits: places, weights: 0.5 }, others, { ...typed, weights: 0.5 }]) {
      expect(convertToCoo({ ...valid, ...form } as ConvertToCooArgs)).toEqual(expected);
    }
    tf.dispose(others);
    expect(tf.memory().numTensors).toBe(before);
    const one = { values: [4, 6], weights: 1, sampleCount: 2, combiner: 'sum' } as const;
    expect([...convertToCoo({ ...one, indicesOrRowSplits: [] }).rowIds]).toEqual([0, 1]);
    expect([...convertToCoo({ ...one, values: [], sampleCount: 0, indicesOrRowSplits: [] }).rowIds]).toEqual([]);
  });
});

describe('preprocessFeatures', () => {
  for (const golden of preprocessGoldens.pipelines) {
    it(`gives TensorFlow's buffers to the bit: ${golden.case}`, () => {
      const result = preprocessFeatures({ ...pipelineArgs(golden), allowIdDropping: golden.case === DROPPING });
      expect(Object.keys(result)).toEqual(Object.keys(golden.csr));
      for (const [stack, csr] of Object.entries(golden.csr)) {
        const { droppedIds, ...found } = result[stack]!;
        expect(result[stack]).toBeInstanceOf(PartitionedCsrFormatTensor);
        expect(droppedIds).toBe(golden.case === DROPPING ? 6 : 0);
        const lists = Object.fromEntries(
          Object.entries(found).map(([key, value]) => [key, typeof value === 'number' ? value : [...value]]),
        );
        expect(lists).toEqual({ ...camel({ ...csr }), sortedGains: f32(csr.sorted_gains) });
      }
    });
  }

  it('takes tensors, ragged tensors and typed arrays, and leaves no tensor behind', () => {
    const args = pipelineArgs(pipeline('ragged, two chips (8 shards)'));
    const [input] = args.inputs as [{ values: number[]; rowSplits: number[] }];
    const expected = preprocessFeatures(args);
    const ragged = RaggedTensor.fromRowSplits(input.values, input.rowSplits);
    const typed = { values: Int32Array.from(input.values), rowSplits: Int32Array.from(input.rowSplits) };
    const before = tf.memory().numTensors;
    const tensors = { values: tf.tensor1d(input.values, 'int32'), rowSplits: tf.tensor1d(input.rowSplits, 'int32') };
    for (const form of [ragged, typed, tensors]) {
      expect(preprocessFeatures({ ...args, inputs: [form] })).toEqual(expected);
    }
    tf.dispose(tensors);
    const dense = pipelineArgs(pipeline('dense, two chips'));
    const column = tf.tensor2d([[3], [0], [63], [3]], [4, 1], 'int32');
    expect(preprocessFeatures({ ...dense, inputs: [column] })).toEqual(preprocessFeatures(dense));
    column.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('multiplies gains with weights', () => {
    const args = pipelineArgs(pipeline('dense, two chips'));
    const { sortedGains } = preprocessFeatures({ ...args, weights: [[2, 3, 4, 5]] })['a']!;
    expect([...sortedGains].filter((gain) => gain < 100).sort()).toEqual([2, 3, 4, 5]);
  });

  it('takes a table that begins within the rows of the shards, as TensorFlow does', () => {
    const [rotation, offset] = [4, 21] as const;
    const { a: csr } = preprocessFeatures({
      numChips: 2,
      numScPerChip: 4,
      tables: [{ name: 'a', paddedVocab: 64, paddedDim: 8, combiner: 'sum' }],
      stackedTableToTables: { a: ['a'] },
      tableToStackedTableOffset: { a: ['a', offset, rotation] },
      featureToSampleOffset: { 0: 0 },
      tableToSampleCount: { a: 4 },
      features: [{ table: 'a', outputShape: [4] }],
      inputs: [[0, 9, 63, 3]],
    });
    // The columns 4 + 21, 5 + 8 + 21, 3 + 56 + 21 and 7 + 21 of 8 shards.
    expect([0, 8, 16, 24].map((slot) => csr!.sortedTokenIds[slot])).toEqual([3, 4, 10, 3]);
    const pointers = [...csr!.rowPointers.subarray(0, 32)];
    const first = [0, 1, 2, 3].map((core) => pointers.slice(8 * core, 8 * core + 8).indexOf(8 * core + 1));
    expect(first).toEqual([1, 2, 0, 4]);
  });

  const args = (): PreprocessFeaturesArgs => pipelineArgs(pipeline(MEAN));
  const refused: [string, () => object, string, RegExp | string][] = [
    [
      'more ids of one core than the limit',
      () => ({ maxIdsPerTable: { a: 1 } }),
      'maxIdsPerTable',
      '2, which core 0 asks SparseCore 1',
    ],
    [
      'more unique ids than the limit',
      () => ({ maxUniqueIdsPerTable: { a: 1 } }),
      'maxUniqueIdsPerTable',
      '2, which core 2',
    ],
    ['ids that do not fit the buffer', () => ({ maxIdsPerChipPerSample: 4 }), 'maxIdsPerChipPerSample', '6 ids more'],
    ['shards that are no power of two', () => ({ numChips: 3 }), 'numChips', '12'],
    ['slots that are no multiple of 8', () => ({ ...twelveSlots() }), 'maxIdsPerChipPerSample', '12'],
    ['an input of unknown type', () => ({ inputs: ['text'] }), 'inputs[0]', 'text'],
    ['a weight of another type', () => ({ weights: [[1, 1]] }), 'weights[0]', 'Tensor'],
    ['ids outside the table', () => ({ inputs: [withValue(64)] }), 'inputs[0]', '64 at position 0'],
    ['negative ids', () => ({ inputs: [withValue(-1)] }), 'inputs[0]', '-1 at position 0'],
    [
      'rows outside the batch',
      () => ({ inputs: [{ indices: [[8, 0]], values: [1], denseShape: [9, 1] }] }),
      'inputs[0].indices',
      '8',
    ],
    ['dense ids for other samples', () => ({ inputs: [[1, 2]] }), 'inputs[0]', '2 ids'],
    [
      'samples that do not divide by the cores',
      () => ({ features: [{ table: 'a', outputShape: [6] }] }),
      'features[0].outputShape',
      '6',
    ],
  ];
  for (const [what, change, argument, received] of refused) {
    it(`refuses ${what}`, () => {
      expectError(() => preprocessFeatures({ ...args(), ...change() }), 'ValueError', argument, received);
    });
  }

  it('says which field is meant', () => {
    expectError(() => preprocessFeatures({ ...args(), numChip: 1 } as never), 'ValueError', 'numChip');
  });

  function twelveSlots(): object {
    const features = [{ table: 'a', outputShape: [4] }];
    return { maxIdsPerChipPerSample: 3, features, tableToSampleCount: { a: 4 }, inputs: [[1, 2, 3, 4]] };
  }

  function withValue(value: number): object {
    return { indices: [[0, 0]], values: [value], denseShape: [8, 1] };
  }
});

describe('stackGradients', () => {
  const golden = preprocessGoldens.stack_gradients;
  const stacked = {
    numScPerChip: 4,
    tables: [
      { name: 'a', paddedVocab: 64, paddedDim: 8, combiner: 'sum' as const },
      { name: 'b', paddedVocab: 128, paddedDim: 8, combiner: 'sum' as const },
    ],
    stackedTableToTables: { a_b: ['a', 'b'] },
    tableToStackedTableOffset: { a: ['a_b', 0, 0] as const, b: ['a_b', 64, 0] as const },
    featureToSampleOffset: { 0: 0, 1: 4 },
    tableToSampleCount: { a_b: 12 },
    features: [
      { table: 'a', outputShape: [4] },
      { table: 'b', outputShape: [2, 4] },
    ],
  };

  it('lays gradients out as TensorFlow does', () => {
    const gradients = [golden.gradient_0, golden.gradient_1];
    expect(stackGradients({ ...stacked, gradients })).toEqual(golden.stacked);
  });

  it('gives tensors for tensors, and zeros for null, also where rows are padded', () => {
    const before = tf.memory().numTensors;
    const second = tf.tensor3d(golden.gradient_1);
    const { a_b: result } = stackGradients({ ...stacked, gradients: [null, second] }) as { a_b: tf.Tensor2D };
    const expected = golden.stacked.a_b.map((row, i) => (i % 3 === 0 ? row.map(() => 0) : row));
    expect(result.arraySync()).toEqual(expected);
    tf.dispose([second, result]);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('refuses features that overlap in the samples of their stack, and stacks of other things than names', () => {
    const gradients = [null, null];
    for (const members of [[1, 'a'], ['a', 1], 'a'])
      expectError(
        () => stackGradients({ ...stacked, gradients, stackedTableToTables: { a_b: members as never } }),
        'TypeError',
        'stackedTableToTables.a_b',
      );
    const rest = { ...stacked, numChips: 1, inputs: [[1, 2, 3, 4], Array.from({ length: 8 }, (_, i) => [i])] };
    const place = (first: number, second: number): unknown =>
      preprocessFeatures({ ...rest, featureToSampleOffset: { 0: first, 1: second } } as never);
    expect(() => place(0, 4)).not.toThrow();
    expect(() => place(8, 0)).not.toThrow();
    for (const [first, second, received] of [
      [0, 3, '3'],
      [7, 0, '7'],
    ] as const)
      expectError(() => place(first, second), 'ValueError', 'featureToSampleOffset', received);
  });

  it('refuses what is no tensor, and other shapes', () => {
    const wrong = (gradient: unknown): unknown => stackGradients({ ...stacked, gradients: [gradient as never, null] });
    expectError(() => wrong(1), 'ValueError', 'gradients[0]', 'non-tensor type');
    expectError(() => wrong([[1, 2]]), 'ValueError', 'gradients[0]', '[1, 2]');
    expectError(() => wrong(golden.gradient_0.map((row) => [...row, 0, 0, 0])), 'ValueError', 'gradients[0]', '9');
  });
});
