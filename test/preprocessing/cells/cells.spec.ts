/** Containers: ids come back in the container that the values came in. */
import * as tf from '@tensorflow/tfjs';
import { RaggedTensor } from '../../../src/ids/ragged_tensor.js';
import { Discretization, Hashing, IntegerLookup, StringLookup } from '../../../src/preprocessing/index.js';

const strings = new StringLookup({ vocabulary: ['a', 'b'] });
const integers = new IntegerLookup({ vocabulary: [10, 20] });

describe('containers of cells', () => {
  let tensors = 0;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).toBe(tensors));

  it('keeps scalars, nested and uneven arrays', () => {
    expect(strings.apply('b')).toBe(2);
    expect(strings.apply(['a', 'x'])).toEqual([1, 0]);
    expect(strings.apply([['a'], [], ['b', 'x', 'a']])).toEqual([[1], [], [2, 0, 1]]);
    expect(strings.apply([])).toEqual([]);
    expect(integers.apply([[[10]], [[20, 30], []]])).toEqual([[[1]], [[2, 0], []]]);
  });

  it('gives Int32Array for typed arrays, alone and inside arrays', () => {
    expect(integers.apply(Float64Array.of(10, 11))).toEqual(Int32Array.of(1, 0));
    expect(integers.apply(BigInt64Array.of(20n, 10n))).toEqual(Int32Array.of(2, 1));
    expect(integers.apply([Int32Array.of(20), Int32Array.of(), Int32Array.of(1, 10)])).toEqual([
      Int32Array.of(2),
      Int32Array.of(),
      Int32Array.of(0, 1),
    ]);
    expect(new Discretization({ binBoundaries: [0.5] }).apply(Float32Array.of(0, 0.5))).toEqual(Int32Array.of(0, 1));
  });

  it('gives an int32 tensor of the same shape for tensors', () => {
    tf.tidy(() => {
      const ids = strings.apply(tf.tensor([['a', 'b', 'x']], [1, 3], 'string'));
      expect(ids.dtype).toBe('int32');
      expect(ids.shape).toEqual([1, 3]);
      expect([...ids.dataSync()]).toEqual([1, 2, 0]);
      const fromFloat = integers.apply(tf.tensor([[10], [20]]));
      expect(fromFloat.dtype).toBe('int32');
      expect(fromFloat.arraySync()).toEqual([[1], [2]]);
      expect(new Hashing({ numBins: 3 }).apply(tf.tensor(['A', 'B', 'E'])).arraySync()).toEqual([1, 0, 2]);
    });
  });

  it('keeps the splits of a RaggedTensor', () => {
    const ids = integers.apply(RaggedTensor.fromRows([[10, 5], [], [20]]));
    expect(ids).toBeInstanceOf(RaggedTensor);
    expect(ids.dtype).toBe('int32');
    expect(ids.toRows() as unknown).toEqual([[1, 0], [], [2]]);
  });

  it('adapts from every container', () => {
    const vocabulary = [-1, 7, 5];
    for (const data of [[7, 5, 7], [[7], [5, 7]], Int32Array.of(7, 5, 7), RaggedTensor.fromRows([[7], [7, 5]])]) {
      expect(new IntegerLookup().adapt(data).getVocabulary()).toEqual(vocabulary);
    }
    tf.tidy(() => expect(new IntegerLookup().adapt(tf.tensor([7, 7, 5])).getVocabulary()).toEqual(vocabulary));
  });

  it('refuses other types with a TypeError that names the position', () => {
    const refused: [() => unknown, RegExp][] = [
      [() => strings.apply(['a', 3]), /`data`: expected strings, received a number at position 1/],
      [() => strings.apply([null] as unknown as string[]), /received null at position 0/],
      [() => strings.apply({} as unknown as string[]), /`data`: expected nested arrays/],
      [() => strings.apply(undefined as unknown as string[]), /received undefined/],
      [() => integers.apply(['7']), /expected whole numbers, received a string at position 0/],
      [() => new Discretization({ numBins: 2 }).adapt(['1']), /expected numbers, received a string/],
      [() => new Hashing({ numBins: 2 }).apply([true] as unknown as string[]), /a boolean at position 0/],
    ];
    for (const [call, text] of refused) expect(call).toThrowError(TypeError, text);
  });

  it('refuses values out of range with a ValueError', () => {
    const refused: [() => unknown, RegExp][] = [
      [() => integers.apply([1.5]), /1.5 at position 0/],
      [() => integers.apply([10, NaN]), /NaN at position 1/],
      [() => integers.apply(Float32Array.of(16777218)), /2\^24/],
      [() => integers.apply([Float32Array.of(1), Float32Array.of(16777218)]), /16777218 at position 1/],
      [() => integers.apply([[Float32Array.of(16777218)]]), /2\^24/],
      // It may have been 16777217.
      [() => integers.apply(Float32Array.of(16777216)), /2\^24/],
      [() => integers.apply([[Number.MAX_VALUE]]), /2\^53/],
      [() => integers.apply([[10], 20] as unknown as number[]), /equally deep/],
      [() => integers.apply([10, [20]] as unknown as number[]), /equally deep/],
      [() => new Discretization({ binBoundaries: [1] }).apply([NaN]), /NaN at position 0/],
    ];
    for (const [call, text] of refused) {
      expect(call).toThrowMatching((error: Error) => error.name === 'ValueError' && text.test(error.message));
    }
    expect(integers.apply(Float32Array.of(16777215))).toEqual(Int32Array.of(0));
    // Other arrays hold such numbers exactly.
    expect(integers.apply([[16777218], [10]])).toEqual([[0], integers.apply([10])]);
    expect(integers.apply([Float64Array.of(16777218)])).toEqual([Int32Array.of(0)]);
  });

  it('refuses a disposed tensor and tensors of other dtypes', () => {
    const disposed = tf.tensor1d([1]);
    disposed.dispose();
    expect(() => integers.apply(disposed)).toThrowMatching((error: Error) => error.name === 'ValueError');
    tf.tidy(() => {
      expect(() => integers.apply(tf.tensor1d([true]))).toThrowError(TypeError);
    });
  });
});
