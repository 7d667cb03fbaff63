/** Values in columns, rows, tensors and arrays, and what is wrong with them. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { asNumber, asString, asWhole, readCells } from '../../../src/preprocessing/cells/cells.js';
import { textsOf } from '../../../src/preprocessing/columns/utf8_column.js';
import { expectError } from '../../helpers/errors.js';

const bytes = new TextEncoder().encode('abé');

describe('columns of UTF-8', () => {
  it('are as many strings as there are offsets but one', () => {
    expect(textsOf({ bytes, offsets: Int32Array.of(0, 2, 2, 4) })).toEqual(['ab', '', 'é']);
    expect(textsOf({ bytes, offsets: Int32Array.of(1, 2) })).toEqual(['b']);
    expect(textsOf({ bytes, offsets: Int32Array.of(0) })).toEqual([]);
    expect(textsOf({ bytes: Uint8Array.of(0xef, 0xbb, 0xbf, 0x61, 0xff), offsets: Int32Array.of(0, 4, 5) })).toEqual(['\ufeffa', '\ufffd']); // prettier-ignore
    const { flat, container } = readCells({ bytes, offsets: Int32Array.of(0, 2, 4) });
    expect([flat, container] as unknown).toEqual([['ab', 'é'], { kind: 'flat' }]);
  });

  it('have offsets that never fall and lie within the bytes', () => {
    const read =
      (offsets: unknown, other: unknown = bytes) =>
      () =>
        readCells({ bytes: other, offsets } as never, 'a');
    expectError(read(Int32Array.of()), 'ValueError', 'a.offsets', 'none');
    expectError(read(Int32Array.of(0, 2, 1)), 'ValueError', 'a.offsets', '1 at position 2');
    expectError(read(Int32Array.of(-1, 2)), 'ValueError', 'a.offsets', '-1 at position 0');
    expectError(read(Int32Array.of(0, 5)), 'ValueError', 'a.offsets', '5 at position 1');
    expectError(read([0, 1]), 'TypeError', 'a.offsets', '[0, 1]');
    expectError(read(Int32Array.of(0), [1]), 'TypeError', 'a.bytes', '[1]');
  });
});

describe('cells', () => {
  it('come from rows of different lengths', () => {
    const rowSplits = [0, 2, 2, 3];
    for (const values of [['a', 'b', 'c'], Int32Array.of(1, 2, 3), { bytes, offsets: Int32Array.of(0, 1, 2, 4) }]) {
      const { container, flat } = readCells({ values, rowSplits });
      expect(flat.length).toBe(3);
      expect(container).toEqual({ kind: 'ragged', nestedRowSplits: [Int32Array.from(rowSplits)], innerShape: [] });
    }
    expectError(() => readCells({ values: [['a']], rowSplits: [0, 1] }, 'a'), 'TypeError', 'a.values');
    expectError(() => readCells({ values: 'abc', rowSplits: [0, 1] }, 'a'), 'TypeError', 'a.values', 'abc');
    expectError(() => readCells({ values: ['a'], rowSplits: [0, 2] }, 'a'), 'ValueError', 'a.rowSplits');
    const ragged = readCells(emb.RaggedTensor.fromRows([[1], []], { dtype: 'float32' }));
    expect([ragged.isFloat32, ragged.container.kind]).toEqual([true, 'ragged']);
  });

  it('come from tensors, typed arrays, nested arrays and single values', () => {
    tf.tidy(() => {
      const tensor = readCells(tf.tensor2d([[1, 2]], [1, 2]));
      expect([tensor.isFloat32, tensor.container] as unknown).toEqual([true, { kind: 'tensor', shape: [1, 2] }]);
      expect(readCells(tf.tensor1d([1], 'int32')).isFloat32).toBeFalse();
      expectError(() => readCells(tf.tensor1d([true], 'bool'), 'a'), 'TypeError', 'a', 'bool');
      const gone = tf.scalar(1);
      gone.dispose();
      expectError(() => readCells(gone, 'a'), 'ValueError', 'a', 'disposed');
    });
    expect([readCells(Float32Array.of(1)).isFloat32, readCells(Float64Array.of(1)).isFloat32]).toEqual([true, false]);
    expect([readCells([Float32Array.of(1)]).isFloat32, readCells([[1]]).isFloat32]).toEqual([true, false]);
    const depthOf = (data: unknown): unknown => (readCells(data).container as { depth: number }).depth;
    expect([[1], [[1], [2, 3]], [[[]], []], [Int32Array.of(1)]].map(depthOf)).toEqual([1, 2, 3, 2]);
    for (const one of ['a', 1, 1n]) expect(readCells(one)).toEqual({ flat: [one], count: 1, isFloat32: false, container: { kind: 'one' } }); // prettier-ignore
    for (const mixed of [[1, [2]], [[1], 2], [[[1]], [2]]]) expectError(() => readCells(mixed, 'a'), 'ValueError', 'a', 'beside arrays'); // prettier-ignore
    const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
    expect(depthOf(deep(32))).toBe(32);
    expectError(() => readCells(deep(33), 'a'), 'ValueError', 'a', 'deeper');
    for (const none of [null, undefined, true, {}, new DataView(new ArrayBuffer(1)), { values: [1] }]) {
      expectError(() => readCells(none, 'a'), 'TypeError', 'a');
    }
  });

  it('are texts, whole numbers or numbers', () => {
    expect([asString('x', 0), asWhole(-0, 0, false), asWhole(5n, 0, true), asNumber(0.5, 0), asNumber(7n, 0)]).toEqual(['x', 0, 5, 0.5, 7]); // prettier-ignore
    expect([asWhole(2 ** 24 - 1, 0, true), asWhole(-(2 ** 53 - 1), 0, false)]).toEqual([2 ** 24 - 1, -(2 ** 53 - 1)]);
    expectError(() => asWhole(2 ** 24, 3, true, 'a'), 'ValueError', 'a', '16777216 at position 3');
    expectError(() => asWhole(2 ** 53, 3, false), 'ValueError', 'data', '9007199254740992 at position 3');
    expectError(() => asWhole(0.5, 0, false), 'ValueError', 'data', '0.5');
    expectError(() => asWhole('1', 1, false), 'TypeError', 'data', 'a string at position 1');
    expectError(() => asString(null, 2, 'a'), 'TypeError', 'a', 'null at position 2');
    expectError(() => asString({}, 2), 'TypeError', 'data', 'an object at position 2');
    expectError(() => asNumber(NaN, 4), 'ValueError', 'data', 'NaN at position 4');
    expectError(() => asNumber('1', 4), 'TypeError', 'data', 'a string at position 4');
  });
});

describe('features of a row together', () => {
  const crossing = new emb.preprocessing.HashedCrossing({ numBins: 7 });

  it('are of one shape, [batch] or [batch, 1], and each is named', () => {
    const untyped = crossing as unknown as { apply(features: unknown): unknown };
    const apply =
      (...features: unknown[]) =>
      () =>
        untyped.apply(features);
    expect(apply([1, 2], ['a', 'b'])()).toEqual(
      untyped.apply([
        [1, 2],
        ['a', 'b'],
      ]),
    );
    expect((apply([[1], [2]], [['a'], ['b']])() as number[][]).map((row) => row.length)).toEqual([1, 1]); // prettier-ignore
    expectError(apply([1], [[1, 2]]), 'ValueError', 'features[1]', 'other rows');
    expectError(apply([[[1]]], [[[1]]]), 'ValueError', 'features[0]', 'other rows'); // prettier-ignore
    expectError(apply([1, 2], [1]), 'ValueError', 'features[1]', '[1]');
    expectError(apply([1], [0.5]), 'ValueError', 'features[1]', '0.5 at position 0');
    expectError(apply([null], [1]), 'TypeError', 'features[0]', 'null');
    expectError(apply([1]), 'ValueError', 'features', '1');
    expectError(() => untyped.apply(3), 'TypeError', 'features', '3');
    expectError(apply([1], null), 'TypeError', 'features[1]', 'null');
  });
});

describe('ids as vectors', () => {
  it('that are out of range stand for nothing', () => {
    const made = (outputMode: string, data: unknown, options = {}): unknown =>
      new emb.preprocessing.CategoryEncoding({ numTokens: 3, outputMode } as never).apply(data as never, options);
    const valuesOf = (value: unknown): number[] =>
      [value].flat(9).flatMap((each) => (typeof each === 'number' ? each : [...(each as Float32Array)]));
    expect(valuesOf(made('oneHot', [[2], [3], [-1]])).length).toBe(9); // prettier-ignore
    expect(valuesOf(made('oneHot', [[2], [3], [-1]]))).toEqual([0, 0, 1, 0, 0, 0, 0, 0, 0]); // prettier-ignore
    expect(valuesOf(made('count', [[2, 2, 3]]))).toEqual([0, 0, 2]);
    expect(valuesOf(made('count', [[2, 2, 0]], { countWeights: [[0.5, 1, 4]] }))).toEqual([4, 0, 1.5]); // prettier-ignore
    expectError(() => made('count', [[1, -1]]), 'ValueError', 'data', '-1 at position 1');
    expectError(() => made('multiHot', [[0]], { countWeights: [[1]] }), 'ValueError', 'countWeights');
    expectError(() => made('count', [[0]], { countWeights: [[1, 2]] }), 'ValueError', 'countWeights', '2');
  });
});
