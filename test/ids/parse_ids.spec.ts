import * as tf from '@tensorflow/tfjs';
import { parseIds, type IdBatch, type IdsInput, type WeightsInput } from '../../src/ids/parse_ids.js';
import { RaggedTensor } from '../../src/ids/ragged_tensor.js';
import { expectError } from '../helpers/errors.js';
import { expectNoLeak } from '../helpers/tensors.js';

const read = (ids: unknown, weights?: unknown): IdBatch => parseIds(ids as IdsInput, weights as WeightsInput);

function whole(vector: Int32Array | tf.Tensor): number[] {
  return Array.from(vector instanceof tf.Tensor ? vector.dataSync() : vector);
}

describe('readIds', () => {
  let before: number;
  beforeEach(() => (before = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left behind').toBe(before));

  it('takes dense ids of every rank and kind', () => {
    const cases: [unknown, number[], number[] | null, number[]][] = [
      [7, [7], null, []],
      [[3, 1], [3, 1], null, [2]],
      [Int32Array.of(3, 1), [3, 1], null, [2]],
      [Float64Array.of(3, 1), [3, 1], null, [2]],
      [BigInt64Array.of(3n), [3], null, [1]],
      [
        [
          [3, 1],
          [4, 1],
        ],
        [3, 1, 4, 1],
        [0, 2, 4],
        [2, 2],
      ],
      [
        [
          [[1], [2]],
          [[3], [4]],
        ],
        [1, 2, 3, 4],
        [0, 1, 2, 3, 4],
        [2, 2, 1],
      ],
      [[], [], null, [0]],
      [[[], []], [], [0, 0, 0], [2, 0]],
    ];
    for (const [ids, values, rowSplits, idsShape] of cases) {
      const batch = read(ids);
      expect(batch.kind).toBe('dense');
      expect(whole(batch.values)).toEqual(values);
      expect(batch.rowSplits === null ? null : Array.from(batch.rowSplits)).toEqual(rowSplits);
      expect([...batch.idsShape!]).toEqual(idsShape);
      expect([...batch.batchShape]).toEqual(idsShape.slice(0, -1));
      expect(batch.ragged).toBeNull();
    }
  });

  it('hands int32 tensors through without reading them', () => {
    tf.tidy(() => {
      const ids = tf.tensor2d(
        [
          [3, -1],
          [4, 1],
        ],
        [2, 2],
        'int32',
      );
      const spies = [spyOn(ids, 'dataSync'), spyOn(ids, 'data')];
      const batch = read(ids);
      for (const spy of spies) expect(spy).not.toHaveBeenCalled();
      expect(batch.values === ids).toBeTrue();
      expect(batch.rowSplits).toEqual(Int32Array.of(0, 2, 4));
      expect(read(tf.zeros([0, 3], 'int32')).rowSplits).toEqual(Int32Array.of(0));
      expect(read(tf.zeros([2, 0], 'int32')).rowSplits).toEqual(Int32Array.of(0, 0, 0));
      expect(read(tf.scalar(3, 'int32')).rowSplits).toBeNull();
    });
  });

  it('takes float32 tensors of whole numbers below 2^24 and refuses others', () => {
    tf.tidy(() => {
      expect(whole(read(tf.tensor1d([16777215, 3])).values)).toEqual([16777215, 3]);
      // It may have been 16777217.
      expectError(() => read(tf.tensor1d([16777216])), 'ValueError', 'ids', '16777216 at position 0');
      expectError(() => read(tf.tensor1d([0, 16777218])), 'ValueError', 'ids', '16777218 at position 1');
      expectError(() => read(tf.tensor1d([0.5])), 'ValueError', 'ids', '0.5 at position 0');
      expectError(() => read(tf.tensor1d([NaN])), 'ValueError', 'ids', 'NaN at position 0');
    });
  });

  it('makes uneven arrays ragged and never truncates them', () => {
    const batch = read([[3, 1], [4], []]);
    expect(batch.kind).toBe('ragged');
    expect(whole(batch.values)).toEqual([3, 1, 4]);
    expect(batch.rowSplits).toEqual(Int32Array.of(0, 2, 3, 3));
    expect(batch.ragged!.toRows()).toEqual([[3, 1], [4], []]);
    // As many values as rows is no sign of one id per row.
    expect(read([[1, 2], [], [3]]).rowSplits).toEqual(Int32Array.of(0, 2, 2, 3));
    const nested = read([[[1], [2, 3]], []]);
    expect(nested.rowSplits).toEqual(Int32Array.of(0, 1, 3));
    expect([...nested.batchShape]).toEqual([2]);
    expect(nested.nestedRowSplits!.length).toBe(2);
  });

  it('takes ragged tensors and pairs of values and splits', () => {
    tf.tidy(() => {
      const values = tf.tensor1d([3, 1, 4], 'int32');
      const splits = tf.tensor1d([0, 2, 2, 3], 'int32');
      const forms = [
        RaggedTensor.fromRows([[3, 1], [], [4]]),
        [values, splits],
        { values, rowSplits: Int32Array.of(0, 2, 2, 3) },
        { values: Int32Array.of(3, 1, 4), rowSplits: Int32Array.of(0, 2, 2, 3) },
        { values: Float64Array.of(3, 1, 4), rowSplits: splits },
        { values: [3, 1, 4], rowSplits: [0, 2, 2, 3] },
      ];
      for (const form of forms) {
        const batch = read(form);
        expect(batch.kind).toBe('ragged');
        expect(whole(batch.values)).toEqual([3, 1, 4]);
        expect(Array.from(batch.rowSplits!)).toEqual([0, 2, 2, 3]);
        expect([...batch.batchShape]).toEqual([3]);
        expect(batch.ragged!.toRows()).toEqual([[3, 1], [], [4]]);
      }
      expect(read([values, splits]).values).toBe(values);
      expect(read({ values, rowSplits: splits }).values).toBe(values);
    });
  });

  it('refuses ids that are none', () => {
    for (const bad of [
      undefined,
      null,
      'a',
      true,
      {},
      () => 1,
      Symbol('ids'),
      new Map(),
      new DataView(new ArrayBuffer(8)),
    ]) {
      expectError(() => read(bad), 'TypeError', 'ids');
    }
    for (const bad of [['a'], [[true]], [[null]], [undefined], [[1], ['b']]]) {
      expectError(() => read(bad), 'TypeError', 'ids');
    }
    for (const bad of [
      [1, [2]],
      [[1], 2],
      [[1], [[2]]],
    ])
      expectError(() => read(bad), 'ValueError', 'ids');
    expectError(() => read([[1, 0.5]]), 'ValueError', 'ids', '0.5 at position 1');
    expectError(() => read([[1], [2, 2 ** 31]]), 'ValueError', 'ids', 'position 2');
    tf.tidy(() => {
      for (const bad of [tf.tensor1d(['a']), tf.tensor1d([true], 'bool'), tf.complex([1], [1])]) {
        expectError(() => read(bad), 'TypeError', 'ids');
      }
      const gone = tf.tensor1d([1], 'int32');
      gone.dispose();
      expectError(() => read(gone), 'ValueError', 'ids', 'disposed');
    });
  });

  it('refuses pairs that do not fit', () => {
    const values = Int32Array.of(1, 2);
    const pair = (rowSplits: unknown): (() => unknown) => {
      return () => read({ values, rowSplits });
    };
    expectError(pair(Int32Array.of(0, 1)), 'ValueError', 'ids.rowSplits', '1');
    expectError(pair(Int32Array.of(0, 2, 1, 2)), 'ValueError', 'ids.rowSplits');
    expectError(pair(Float32Array.of(0, 1.5, 2)), 'ValueError', 'ids.rowSplits', '1.5');
    expectError(pair('0, 2'), 'TypeError', 'ids.rowSplits');
    expectError(() => read({ rowSplits: [0, 2] }), 'TypeError', 'ids.values');
    expectError(() => read({ values: [[1, 2]], rowSplits: [0, 1] }), 'TypeError', 'ids.values');
    tf.tidy(() => {
      const matrix = tf.ones([1, 2], 'int32');
      const splits = tf.tensor1d([0, 2], 'int32');
      expectError(() => read([matrix, splits]), 'ValueError', 'ids[0]');
      expectError(() => read([tf.tensor1d(values, 'int32'), matrix]), 'ValueError', 'ids[1]');
      expectError(() => read([tf.tensor1d(values, 'int32'), tf.tensor1d([0, 1], 'int32')]), 'ValueError', 'ids[1]');
    });
    const inner = RaggedTensor.fromRowSplits([1, 2], [0, 1], [2]);
    expectError(() => read(inner), 'ValueError', 'ids', 'inner shape');
  });

  it('tells what to write for arrays of which nobody knows whether they are rows or a pair', () => {
    const [values, splits] = [Int32Array.of(1, 2), Int32Array.of(0, 2)];
    tf.tidy(() => {
      const tensor = tf.tensor1d(values, 'int32');
      for (const arrays of [
        [values, splits],
        [values, values],
        [values, [0, 2]],
        [values, values, values],
        [values],
        [tensor, splits],
        [tensor],
      ]) {
        for (const [argument, run] of [
          ['ids', () => read(arrays)],
          ['weights', () => read([[1, 2]], arrays)],
        ] as const) {
          expectError(run, 'TypeError', argument);
          expect(run).toThrowError(/Write \{values, rowSplits\} .* RaggedTensor\.fromRows/);
        }
      }
    });
  });

  it('calls arguments as its caller does', () => {
    const names = { ids: 'features.age', weights: 'features.age.weights' };
    expectError(() => parseIds('x' as never, null, names), 'TypeError', 'features.age');
    expectError(() => parseIds([[1]], [[1, 2]], names), 'ValueError', 'features.age.weights');
  });
});

describe('weights of ids', () => {
  let before: number;
  beforeEach(() => (before = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left behind').toBe(before));

  const dense = [
    [1, 2],
    [3, 4],
  ];
  const ragged = RaggedTensor.fromRows([[1, 2], [3]]);
  const sparse = {
    indices: [
      [0, 0],
      [1, 0],
    ],
    values: [1, 2],
    denseShape: [2, 1],
  };

  it('come in the form of the ids, or flat', () => {
    const four = Float32Array.of(1, 0.5, -2, 0);
    for (const weights of [
      [
        [1, 0.5],
        [-2, 0],
      ],
      [1, 0.5, -2, 0],
      four,
      Float64Array.from(four),
    ]) {
      expect(read(dense, weights).weights).toEqual(four);
    }
    const three = Float32Array.of(1, 0.5, -2);
    const rowSplits = Int32Array.of(0, 2, 3);
    const forms = [RaggedTensor.fromRows([[1, 0.5], [-2]]), [[1, 0.5], [-2]], three, { values: three, rowSplits }];
    for (const weights of forms) {
      expect(read(ragged, weights).weights).toEqual(three);
      expect(read({ values: [1, 2, 3], rowSplits }, weights).weights).toEqual(three);
    }
    expect(read(ragged, RaggedTensor.fromRows([[1, 2], [3]])).weights).toEqual(Float32Array.of(1, 2, 3));
    expect(read(sparse, { ...sparse, values: [0.5, 2] }).weights).toEqual(Float32Array.of(0.5, 2));
    expect(read(sparse, [0.5, 2]).weights).toEqual(Float32Array.of(0.5, 2));
    expect(read(5, 0.5).weights).toEqual(Float32Array.of(0.5));
    expect(read(dense).weights).toBeNull();
    expect(read(dense, null).weights).toBeNull();
    expect(read([[], []], [[], []]).weights).toEqual(new Float32Array(0));
  });

  it('stay the tensors that they are, so that gradients flow', () => {
    tf.tidy(() => {
      const matrix = tf.tensor2d([
        [1, 2],
        [3, 4],
      ]);
      expect(read(dense, matrix).weights).toBe(matrix);
      const flat = tf.tensor1d([1, 2, 3]);
      expect(read(ragged, flat).weights).toBe(flat);
      expect(read(ragged, [flat, tf.tensor1d([0, 2, 3], 'int32')]).weights).toBe(flat);
      expect(read(ragged, { values: flat, rowSplits: [0, 2, 3] }).weights).toBe(flat);
      const two = tf.tensor1d([1, 2]);
      expect(read(sparse, { ...sparse, values: two }).weights).toBe(two);
    });
  });

  it('that are sparse lie where the ids lie', () => {
    const denseShape = [2, 3];
    const ids = { indices: [[0, 1], [0, 1], [1, 0]], values: [1, 2, 3], denseShape }; // prettier-ignore
    const given = (indices: unknown, shape: unknown = denseShape): (() => unknown) => {
      return () => read(ids, { indices, values: [0.5, 1, 2], denseShape: shape });
    };
    const wanted = Float32Array.of(0.5, 1, 2);
    tf.tidy(() => {
      const others = [[0, 1, 0, 1, 1, 0], Int32Array.of(0, 1, 0, 1, 1, 0), tf.tensor2d(ids.indices, [3, 2], 'int32')];
      for (const indices of [ids.indices, ...others]) {
        expect((given(indices, Int32Array.from(denseShape))() as IdBatch).weights).toEqual(wanted);
      }
    });
    expectError(given([[0, 1], [0, 2], [1, 0]]), 'ValueError', 'weights', '[0, 2]'); // prettier-ignore
    expect(given([[0, 1], [0, 2], [1, 0]])).toThrowError(/\[0, 1\] for entry 1/); // prettier-ignore
    expectError(given([[1, 0], [0, 1], [0, 1]]), 'ValueError', 'weights', '[1, 0]'); // prettier-ignore
    expectError(given([[0, 1], [0, 1], [1, 7]]), 'ValueError', 'weights', '[1, 7]'); // prettier-ignore
    expectError(given(ids.indices, [2, 4]), 'ValueError', 'weights', '[2, 4]');
    expectError(given(ids.indices, [3, 3]), 'ValueError', 'weights', '[3, 3]');
    expectError(given([0, 0, 1, 0, 0, 1, 1, 0, 0], [2, 3, 1]), 'ValueError', 'weights', '[2, 3, 1]');
    expectError(() => read(ids, { values: [1, 1, 1], indices: ids.indices }), 'TypeError', 'weights.denseShape');
    expectError(given([[0, 1], [0, 1]]), 'ValueError', 'weights.indices'); // prettier-ignore
  });

  it('are refused in another form, shape or dtype', () => {
    expectError(() => read(dense, ragged), 'TypeError', 'weights', 'ragged weights');
    expectError(() => read(dense, sparse), 'TypeError', 'weights', 'sparse weights');
    expectError(() => read(sparse, ragged), 'TypeError', 'weights');
    expectError(() => read(sparse, [[1], [2]]), 'TypeError', 'weights');
    expectError(() => read(ragged, sparse), 'TypeError', 'weights');
    expectError(() => read(dense, { values: [1, 2, 3, 4], rowSplits: [0, 2, 4] }), 'TypeError', 'weights');
    expectError(() => read(ragged, { values: [1, 2, 3], rowSplits: [0, 1, 3] }), 'ValueError', 'weights');
    expectError(() => read(ragged, { values: [1, 2, 3], rowSplits: [0, 2, 3, 3] }), 'ValueError', 'weights');
    expectError(() => read(dense, 'x'), 'TypeError', 'weights');
    expectError(() => read(dense, {}), 'TypeError', 'weights');
    expectError(
      () =>
        read(dense, [
          ['a', 'b'],
          ['c', 'd'],
        ]),
      'TypeError',
      'weights',
    );
    expectError(() => read(dense, BigInt64Array.of(1n, 1n, 1n, 1n)), 'TypeError', 'weights');
    expectError(() => read(dense, [[1, 2]]), 'ValueError', 'weights', '[1, 2]');
    expectError(() => read(dense, [[1, 2], [3]]), 'ValueError', 'weights', 'uneven');
    expectError(() => read(dense, [1, 2, 3]), 'ValueError', 'weights', '3 weights');
    expectError(() => read(dense, 3), 'ValueError', 'weights');
    expectError(() => read(ragged, [[1], [2, 3]]), 'ValueError', 'weights');
    expectError(() => read(ragged, RaggedTensor.fromRows([[1], [2, 3]])), 'ValueError', 'weights');
    expectError(() => read([[[1, 2], [3]], []], ragged), 'ValueError', 'weights');
    expectError(() => read(sparse, { ...sparse, values: [1] }), 'ValueError', 'weights.values');
    tf.tidy(() => {
      expectError(() => read(dense, tf.ones([2, 2], 'int32')), 'TypeError', 'weights', 'int32');
      expectError(() => read(dense, tf.ones([4, 1])), 'ValueError', 'weights', '[4, 1]');
      expectError(() => read(ragged, tf.ones([3, 1])), 'ValueError', 'weights', '[3, 1]');
    });
  });

  it('must not be NaN, wherever they lie', () => {
    expectError(
      () =>
        read(dense, [
          [1, 2],
          [NaN, 4],
        ]),
      'ValueError',
      'weights',
      'NaN at [1, 0]',
    );
    tf.tidy(() => {
      expectError(
        () =>
          read(
            dense,
            tf.tensor2d([
              [1, NaN],
              [3, 4],
            ]),
          ),
        'ValueError',
        'weights',
        'NaN at [0, 1]',
      );
      const weights = tf.tensor2d([
        [1, NaN],
        [3, 4],
      ]);
      expect(parseIds(dense, weights, undefined, false).weights).toBe(weights);
    });
    expectError(() => read(dense, [1, 1e40, 1, 1]), 'ValueError', 'weights', '1e+40');
  });

  it('leave nothing behind', () => {
    const tensor = tf.tensor2d([
      [1, 2],
      [3, 4],
    ]);
    expectNoLeak(() => read(dense, tensor));
    tensor.dispose();
  });
});
