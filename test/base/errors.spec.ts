/** Messages of errors: one template for all, or a sentence of their own. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError, describe as shown, described } from '../../src/base/errors.js';
import * as emb from '../../src/index.js';

describe('The message of an error', () => {
  it('names argument, what was expected, what came and what to do', () => {
    const error = new ValueError('ids', 'rank 2', described('rank 1'), 'Add an axis.');
    expect(error.message).toBe('`ids`: expected rank 2, received rank 1. Add an axis.');
  });

  it('may be a sentence of its own; the facts stay fields', () => {
    const error = new ValueError('ids', 'rank 2', described('rank 1', '`ids` lack an axis.'));
    expect(error.message).toBe('`ids` lack an axis.');
    const { argument, expected, received } = error;
    expect({ argument, expected, received }).toEqual({ argument: 'ids', expected: 'rank 2', received: 'rank 1' });
  });

  it('says where a setting of a shared table belongs, also within a list', () => {
    const table = emb.embeddingTable({ inputDim: 3, outputDim: 2 });
    const given = { table, seed: 1 } as unknown as emb.RaggedEmbeddingArgs;
    const belongs = (argument: string): string =>
      `\`${argument}\` cannot be set together with \`table\`; pass it to emb.embeddingTable().`;
    expect(() => emb.layers.raggedEmbedding(given)).toThrowError(ValueError, belongs('seed'));
    const listed = { embeddings: [given] } as unknown as Parameters<typeof emb.layers.distributedEmbedding>[0];
    expect(() => emb.layers.distributedEmbedding(listed)).toThrowError(ValueError, belongs('embeddings[0].seed'));
  });

  it('says which of row splits fall', () => {
    expect(() => emb.RaggedTensor.fromRowSplits([1, 2, 3], [0, 2, 1, 3])).toThrowError(
      ValueError,
      '`rowSplits` must be non-decreasing: 1 after 2 at position 2.',
    );
  });
});

describe('What an error says came', () => {
  class Stranger {}
  const long = 'x'.repeat(100);
  const cases: [value: unknown, text: string][] = [
    [null, 'null'],
    [undefined, 'undefined'],
    ['two "words"', '"two \\"words\\""'],
    [long, `"${'x'.repeat(79)}…`],
    ['x'.repeat(78), `"${'x'.repeat(78)}"`],
    [12n, '12n'],
    [-1.5, '-1.5'],
    [NaN, 'NaN'],
    [true, 'true'],
    [() => 1, 'a function'],
    [Math.max, 'the function max'],
    [Symbol('s'), 'Symbol(s)'],
    [new Float32Array(3), 'Float32Array of length 3'],
    [new DataView(new ArrayBuffer(8)), 'DataView of length 8'],
    [[], '[]'],
    [[1, 'a', [null]], '[1, "a", [null]]'],
    [[1, 2, 3, 4, 5, 6, 7, 8], '[1, 2, 3, 4, 5, 6, 7, 8]'],
    [[1, 2, 3, 4, 5, 6, 7, 8, 9], '[1, 2, 3, 4, 5, 6, 7, 8, … 9 items in all]'],
    [new Stranger(), 'an instance of Stranger'],
    [new Date(0), 'an instance of Date'],
    [{ a: 1 }, '{"a":1}'],
    [{ shape: [2], dtype: 'int32' }, '{"shape":[2],"dtype":"int32"}'],
    [{ shape: [2], dataId: 1 }, '{"shape":[2],"dataId":1}'],
    [{ dtype: 'int32', dataId: 1 }, '{"dtype":"int32","dataId":1}'],
    [{ shape: [2, 3], dtype: 'int32', dataId: 1 }, 'a int32 tensor of shape [2, 3]'],
    [Object.create(null), '{}'],
    [{ a: long }, `{"a":"${'x'.repeat(74)}…`],
    [described('rank 1'), 'rank 1'],
  ];
  for (const [value, text] of cases) it(text, () => expect(shown(value)).toBe(text));

  it('of what cannot be shown, its kind', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    expect(shown(loop)).toBe('an object that cannot be shown');
    const nameless = Object.defineProperty(() => 1, 'name', {
      get: () => {
        throw new Error('no name');
      },
    });
    expect(shown(nameless)).toBe('a function that cannot be shown');
  });

  it('of a tensor, dtype and shape', () => {
    tf.tidy(() => expect(shown(tf.zeros([2, 3]))).toBe('a float32 tensor of shape [2, 3]'));
  });

  it('is in errors of each class, with its name', () => {
    for (const [cls, name] of [
      [ValueError, 'ValueError'],
      [RuntimeError, 'RuntimeError'],
      [ArgumentTypeError, 'TypeError'],
    ] as const) {
      const error = new cls('ids', 'rank 2', [1], 'Why.');
      const { argument, expected, received, message } = error;
      expect([error.name, argument, expected, received]).toEqual([name, 'ids', 'rank 2', '[1]']);
      expect(message).toBe('`ids`: expected rank 2, received [1]. Why.');
      expect(new cls('ids', 'rank 2', 1).message).toBe('`ids`: expected rank 2, received 1.');
      // Another copy of the package makes errors of the same class.
      expect({ [Symbol.for(`tfjs-embeddings.${name}`)]: true } instanceof cls).toBeTrue();
    }
    expect(shown({ [Symbol.for('tfjs-embeddings.Described')]: true, text: 'theirs' })).toBe('theirs');
  });
});
