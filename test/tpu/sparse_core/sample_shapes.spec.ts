import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { knownShape, outputShapeOf } from '../../../src/tpu/sparse_core/sample_shapes.js';
import { expectError } from '../../helpers/errors.js';

const { tpu } = emb;

type Shape = (number | null)[];

function config(outputShape?: Shape, maxSequenceLength = 0): emb.tpu.FeatureConfig {
  const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4, name: 't' });
  return new tpu.FeatureConfig({ table, maxSequenceLength, ...(outputShape === undefined ? {} : { outputShape }) });
}

describe('the output shape of a feature of TPUEmbeddingV2', () => {
  it('is known where its config says all lengths', () => {
    expect(knownShape(config([2, 3]))).toEqual([2, 3]);
    expect(knownShape(config([2, null]))).toBeNull();
    expect(knownShape(config())).toBeNull();
    expect(outputShapeOf(config([2, 3], 2), 'no input', 'a')).toEqual([2, 3]);
  });

  const sparse = (denseShape: unknown): unknown => ({ indices: [[0, 0]], values: [1], denseShape });
  const fed: readonly (readonly [string, () => unknown, number[]])[] = [
    ['a tensor', () => tf.zeros([5], 'int32'), [5]],
    ['a tensor of one id', () => tf.zeros([1], 'int32'), [1]],
    ['a tensor of two axes', () => tf.zeros([5, 2], 'int32'), [5, 2]],
    ['a column', () => tf.zeros([5, 1], 'int32'), [5]],
    ['columns of columns', () => tf.zeros([5, 2, 1], 'int32'), [5, 2]],
    ['a typed array', () => Int32Array.of(1, 2, 3), [3]],
    ['an array', () => [1, 2, 3], [3]],
    ['an array of one id', () => [1], [1]],
    ['arrays', () => [[1, 2], [3, 4], [5, 6]], [3, 2]], // prettier-ignore
    ['an array of columns', () => [[1], [2], [3]], [3]],
    ['a RaggedTensor', () => emb.RaggedTensor.fromRows([[1], [], [2, 3]]), [3]],
    ['values and row splits', () => ({ values: [1, 2], rowSplits: [0, 0, 2] }), [2]],
    ['typed row splits', () => ({ values: [1, 2], rowSplits: Int32Array.of(0, 0, 1, 2) }), [3]],
    ['row splits as a tensor', () => ({ values: [1, 2], rowSplits: tf.tensor1d([0, 2], 'int32') }), [1]],
    ['sparse ids', () => sparse([4, 9]), [4]],
    ['sparse ids of three axes', () => sparse([4, 3, 9]), [4, 3]],
    ['sparse ids with a tensor as shape', () => sparse(tf.tensor1d([6, 9], 'int32')), [6]],
  ];
  for (const [what, input, shape] of fed) {
    it(`is that of the samples of ${what}`, () => {
      tf.tidy(() => expect(outputShapeOf(config(), input(), 'a')).toEqual(shape));
    });
  }

  it('takes its one unknown length from what is fed', () => {
    const ids = Array.from({ length: 12 }, () => 1);
    expect(outputShapeOf(config([null, 3]), ids, 'a')).toEqual([4, 3]);
    expect(outputShapeOf(config([2, null, 3]), ids, 'a')).toEqual([2, 2, 3]);
    expectError(() => outputShapeOf(config([null, 5]), ids, 'a'), 'ValueError', 'a', '[?, 5]');
    expectError(() => outputShapeOf(config([null, null, 3]), ids, 'a'), 'ValueError', 'a', '[?, ?, 3]');
  });

  it('cannot be told of what is no input, of one axis of sparse ids and of sequences', () => {
    for (const input of ['ids', null, {}, sparse([4])]) {
      expectError(() => outputShapeOf(config(), input, 'a'), 'ValueError', 'a', 'neither');
    }
    expectError(() => outputShapeOf(config(undefined, 1), [1, 2], 'a'), 'ValueError', 'a', 'maxSequenceLength');
  });
});
