import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { listOf, readFeatureInput } from '../../../../src/tpu/sparse_core/csr/feature_input.js';
import { expectError } from '../../../helpers/errors.js';

const NAMES = { ids: 'a', weights: 'w' };

interface Plain {
  readonly values: number[];
  readonly rowSplits: number[];
  readonly weights: number[] | null;
}

function read(input: unknown, weights: unknown = null, outputShape: readonly number[] = [3]): Plain {
  const bags = readFeatureInput(input, weights, outputShape, NAMES);
  return {
    values: [...bags.values],
    rowSplits: [...bags.rowSplits],
    weights: bags.weights === null ? null : [...bags.weights],
  };
}

describe('ids of a feature of TPUEmbeddingV2', () => {
  const DENSE = { values: [5, 6, 7], rowSplits: [0, 1, 2, 3], weights: null };
  const RAGGED = { values: [5, 6, 7], rowSplits: [0, 2, 2, 3], weights: null };
  const ROWS = [[5, 6], [], [7]];
  const PARTS = { values: [5, 6, 7], rowSplits: [0, 2, 2, 3] };
  const sparse = { indices: [[0, 0], [0, 1], [2, 0]], values: [5, 6, 7], denseShape: [3, 4] }; // prettier-ignore

  it('may be dense, one for each sample', () => {
    tf.tidy(() => {
      const dense = [[5, 6, 7], [[5], [6], [7]], Int32Array.of(5, 6, 7), tf.tensor2d([[5], [6], [7]], [3, 1], 'int32')];
      for (const ids of dense) expect(read(ids)).toEqual(DENSE);
      expect(read([[5, 6], [7, 8]], undefined, [2, 2]).values).toEqual([5, 6, 7, 8]); // prettier-ignore
    });
    expectError(() => read([5, 6]), 'ValueError', 'a', '2 ids');
    expectError(() => read([[[5], [6]], [[5], [6]], [[5]]]), 'ValueError', 'a');
  });

  it('may be ragged, in any form', () => {
    tf.tidy(() => {
      const parts = { values: tf.tensor1d([5, 6, 7], 'int32'), rowSplits: tf.tensor1d([0, 2, 2, 3], 'int32') };
      for (const ids of [ROWS, PARTS, parts, emb.RaggedTensor.fromRows(ROWS)]) expect(read(ids)).toEqual(RAGGED);
    });
    expectError(() => read(emb.RaggedTensor.fromRows([[[1], [2]], [], [[3]]])), 'ValueError', 'a', '3 axes');
    expectError(() => read({ ...PARTS, rowSplits: [0, 3] }), 'ValueError', 'a.rowSplits', '2');
    expectError(() => read({ ...PARTS, rowSplits: [0, 2, 1, 3] }), 'ValueError', 'a.rowSplits');
    expectError(() => read({ ...PARTS, rowSplits: [0, 2, 2, 2] }), 'ValueError', 'a.rowSplits');
  });

  it('may be sparse, with samples along all axes but the last', () => {
    expect(read(sparse)).toEqual(RAGGED);
    const cube = { indices: [[0, 1, 0], [0, 1, 2], [1, 0, 0]], values: [5, 6, 7], denseShape: [2, 2, 4] }; // prettier-ignore
    expect(read(cube, null, [2, 2]).rowSplits).toEqual([0, 0, 2, 3, 3]);
    expect(read({ ...cube, denseShape: [2, 2, 4] }, null, [2]).rowSplits).toEqual([0, 2, 3]);
    // Two axes may be reshaped to three.
    expect(read(cube, null, [2, 2, 1]).rowSplits).toEqual([0, 0, 2, 3, 3]);
    expect(read(cube, null, [1, 2, 2]).rowSplits).toEqual([0, 0, 2, 3, 3]);
    expectError(() => read(cube, null, [4, 1]), 'ValueError', 'a.denseShape', '[2, 2, 4]');
    expectError(() => read(cube, null, [3, 2]), 'ValueError', 'a.denseShape', '[2, 2, 4]');
    expectError(() => read(cube, null, [3]), 'ValueError', 'a.denseShape', '[2, 2, 4]');
    expectError(() => read({ indices: [[0]], values: [5], denseShape: [3] }), 'ValueError', 'a.denseShape', '1');
    expectError(() => read({ ...sparse, indices: [[0, 0], [0, 1], [3, 0]] }), 'ValueError', 'a.indices', '3 at position 2'); // prettier-ignore
    expectError(() => read({ ...sparse, indices: [[1, 0], [0, 1], [2, 0]] }), 'ValueError', 'a.indices', 'row 0 after row 1 at position 1'); // prettier-ignore
    const beyond = { ...cube, indices: [[0, 1, 0], [0, 2, 2], [1, 0, 0]] }; // prettier-ignore
    expectError(() => read(beyond, null, [2, 2]), 'ValueError', 'a.indices', '2 at position 1');
  });

  it('are nothing else', () => {
    for (const wrong of ['text', null, {}, { values: [1] }]) expectError(() => read(wrong), 'ValueError', 'a');
  });

  it('may have weights of their own kind, or only the values of those', () => {
    const W = [0.5, 1, 2];
    const given: readonly (readonly [ids: unknown, weights: unknown])[] = [
      [[5, 6, 7], W],
      [
        [[5], [6], [7]],
        [[0.5], [1], [2]],
      ],
      [[5, 6, 7], { values: W }],
      [[5, 6, 7], Float32Array.from(W)],
      [ROWS, [[0.5, 1], [], [2]]],
      [ROWS, { ...PARTS, values: W }],
      [PARTS, { values: W }],
      [PARTS, [[0.5, 1], [], [2]]],
      [PARTS, emb.RaggedTensor.fromRows([[0.5, 1], [], [2]], { dtype: 'float32' })],
      [sparse, { ...sparse, values: W }],
      [sparse, { values: W }],
    ];
    for (const [ids, weights] of given) expect(read(ids, weights).weights).toEqual(W);
    tf.tidy(() => expect(read(sparse, { values: tf.tensor1d(W) }).weights).toEqual(W));
    expect(read(ROWS, undefined).weights).toBeNull();
  });

  it('refuse weights of another kind, of another number and NaN', () => {
    expectError(() => read(ROWS, [1, 2, 3]), 'ValueError', 'w', 'Tensor');
    expectError(() => read([5, 6, 7], PARTS), 'ValueError', 'w', 'RaggedTensor');
    expectError(() => read(PARTS, sparse), 'ValueError', 'w', 'SparseTensor');
    expectError(() => read(PARTS, 'text'), 'ValueError', 'w', 'text');
    expectError(() => read([5, 6, 7], [1, 2]), 'ValueError', 'w', '2 weights');
    expectError(() => read([5, 6, 7], [1, NaN, 2]), 'ValueError', 'w', 'NaN');
    expectError(() => read([5, 6, 7], { values: [[1], [2, 3]] }), 'ValueError', 'w', 'uneven');
  });
});

describe('listOf', () => {
  it('gives back a list with one entry for each feature', () => {
    expect(listOf([1, 2], 2, 'a')).toEqual([1, 2]);
    expectError(() => listOf([1], 2, 'a'), 'ValueError', 'a', '1');
    expectError(() => listOf('ab', 2, 'a'), 'TypeError', 'a', 'ab');
  });
});
