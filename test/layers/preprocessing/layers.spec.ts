/** The layers that stand for Keras's preprocessing layers, by themselves. */
import * as tf from '@tensorflow/tfjs';
import { preprocessing } from 'tfjs-embeddings';
import { CategoryEncoding } from '../../../src/layers/preprocessing/category_encoding.js';
import { DiscretizationLayer } from '../../../src/layers/preprocessing/discretization_layer.js';
import { onlyShape, onlyTensor } from '../../../src/layers/preprocessing/encoded_ids.js';
import { PLAIN_MODES, checkOutputMode } from '../../../src/preprocessing/cells/output_mode.js';
import { HashingLayer } from '../../../src/layers/preprocessing/hashing_layer.js';
import { VocabularyLayer } from '../../../src/layers/preprocessing/vocabulary_layer.js';
import { expectError } from '../../helpers/errors.js';

type Made = (args: Record<string, unknown>) => tf.layers.Layer;

const IDS = [[3, 4, 3], [7, 0, 1]]; // prettier-ignore

/** What a layer gives for numbers, eagerly. */
function given(layer: tf.layers.Layer, rows = IDS, dtype: 'int32' | 'float32' = 'int32'): unknown {
  return tf.tidy(() => {
    const output = layer.apply(tf.tensor2d(rows, undefined, dtype)) as tf.Tensor;
    const symbolic = layer.apply(tf.input({ shape: [rows[0]!.length], dtype })) as tf.SymbolicTensor;
    expect(symbolic.shape.slice(1)).toEqual(output.shape.slice(1));
    return output.arraySync();
  });
}

function again(layer: tf.layers.Layer): tf.layers.Layer {
  const cls = layer.constructor as unknown as tf.serialization.SerializableConstructor<tf.layers.Layer>;
  const config = JSON.parse(JSON.stringify(layer.getConfig())) as tf.serialization.ConfigDict;
  return (cls as unknown as { fromConfig: (...args: unknown[]) => tf.layers.Layer }).fromConfig(cls, config);
}

const MAKERS: Readonly<Record<string, { make: Made; prefix: string; own: Record<string, unknown> }>> = {
  CategoryEncoding: { make: (args) => new CategoryEncoding(args as never), prefix: 'category_encoding', own: { numTokens: 5, outputMode: 'count' } },
  Discretization: { make: (args) => new DiscretizationLayer(args as never), prefix: 'discretization', own: { binBoundaries: [1, 4], outputMode: 'int' } },
  Hashing: { make: (args) => new HashingLayer(args as never), prefix: 'hashing', own: { numBins: 6, maskValue: null, salt: null, outputMode: 'oneHot' } },
  VocabularyLookup: {
    make: (args) => new VocabularyLayer(args as never),
    prefix: 'integer_lookup',
    own: { vocabulary: [3, 4], maxTokens: 5, numOovIndices: 1, maskToken: null, oovToken: -1, outputMode: 'int', padToMaxTokens: false },
  },
}; // prettier-ignore

describe('preprocessing layers', () => {
  for (const [name, { make, prefix, own }] of Object.entries(MAKERS)) {
    it(`${name} comes back from its config, and gives the same`, () => {
      const layer = make(own);
      expect(layer.getClassName()).toBe(`TfjsEmbeddings>${name}`);
      expect(layer.name).toMatch(new RegExp(`^${prefix}(_\\d+)?$`));
      expect(layer.getConfig()).toEqual(jasmine.objectContaining({ ...own, name: layer.name }));
      const same = again(layer);
      expect(same.getConfig()).toEqual(layer.getConfig());
      expect(given(same)).toEqual(given(layer) as never);
      expectError(() => make({ ...own, numTokenz: 1 }), 'ValueError', 'numTokenz');
      expectError(() => make({ ...own, dtype: 'int32' }), 'TypeError', 'dtype', 'int32');
      // With a vocabulary it wants factors.
      const missing = name === 'VocabularyLookup' ? 'idfWeights' : 'outputMode';
      expectError(() => make({ ...own, outputMode: 'tfIdf' }), 'ValueError', missing);
      expectError(() => make({ ...own, outputMode: 1 }), 'TypeError', 'outputMode', '1');
    });
  }

  it('count and mark ids', () => {
    const encoded = (outputMode?: string, rows = IDS): unknown =>
      given(new CategoryEncoding({ numTokens: 5, ...(outputMode === undefined ? {} : { outputMode }) }), rows);
    expect(encoded('count')).toEqual([[0, 0, 0, 2, 1], [1, 1, 0, 0, 0]]); // prettier-ignore
    for (const multiHot of [undefined, 'multi_hot']) expect(encoded(multiHot)).toEqual([[0, 0, 0, 1, 1], [1, 1, 0, 0, 0]]); // prettier-ignore
    expect(encoded('oneHot', [[4], [-1], [9]])).toEqual([[0, 0, 0, 0, 1], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]); // prettier-ignore
    for (const mode of ['count', 'multiHot'])
      expectError(() => encoded(mode, [[1], [-1]]), 'ValueError', 'inputs', '-1');
    expect(given(new CategoryEncoding({ numTokens: 2 }), [[0.9], [1.9]], 'float32')).toEqual([[1, 0], [0, 1]]); // prettier-ignore
    expectError(() => encoded('int'), 'ValueError', 'outputMode', 'int');
    expectError(() => new CategoryEncoding({ numTokens: 0 }), 'ValueError', 'numTokens', '0');
  });

  it('find bins, where NaN falls into the last one', () => {
    const layer = new DiscretizationLayer({ binBoundaries: [0.1, 4] });
    expect(layer.outputMode).toBe('int');
    const rows = [[-Infinity, 0.1, 3.9], [4, NaN, Infinity]]; // prettier-ignore
    expect(given(layer, rows, 'float32')).toEqual([[0, 1, 1], [2, 2, 2]]); // prettier-ignore
    const counts = new DiscretizationLayer({ binBoundaries: [0.1, 4], outputMode: 'count' });
    expect(given(counts, rows, 'float32')).toEqual([[1, 2, 0], [0, 0, 3]]); // prettier-ignore
  });

  it('hash as emb.preprocessing.Hashing does, and refuse strings', () => {
    for (const args of [
      { numBins: 6 },
      { numBins: 6, maskValue: 3 },
      { numBins: 6, salt: [7, 9] as [number, number] },
    ]) {
      const hashing = new preprocessing.Hashing(args);
      const expected = tf.tidy(() => hashing.apply(tf.tensor2d(IDS, undefined, 'int32')).arraySync());
      expect(given(new HashingLayer(args as never))).toEqual(expected);
    }
    const layer = new HashingLayer({ numBins: 6, outputMode: 'count' });
    expect((given(layer) as number[][]).map((row) => [row.length, row.reduce((a, b) => a + b)])).toEqual([[6, 3], [6, 3]]); // prettier-ignore
    const strings = tf.tensor2d([['a']]);
    expectError(() => layer.apply(strings), 'TypeError', 'inputs', 'strings');
    expectError(() => layer.apply([strings]), 'TypeError', 'inputs', 'strings');
    strings.dispose();
    expectError(() => layer.apply(tf.input({ shape: [2], dtype: 'string' })), 'TypeError', 'inputs', 'strings');
  });

  it('look whole numbers up in a vocabulary', () => {
    const made = (args: object): tf.layers.Layer => new VocabularyLayer({ vocabulary: [3, 4], ...args });
    expect(given(made({}))).toEqual([[1, 2, 1], [0, 0, 0]]); // prettier-ignore
    expect(given(made({ maskToken: 7 }))).toEqual([[2, 3, 2], [0, 1, 1]]); // prettier-ignore
    expect(given(made({ outputMode: 'count' }))).toEqual([[0, 2, 1], [3, 0, 0]]); // prettier-ignore
    expect(given(made({ outputMode: 'count', maxTokens: 5, padToMaxTokens: true }))).toEqual([[0, 2, 1, 0, 0], [3, 0, 0, 0, 0]]); // prettier-ignore
    expect(given(made({ outputMode: 'count', maxTokens: 5 }))).toEqual([[0, 2, 1], [3, 0, 0]]); // prettier-ignore
    expectError(() => made({ outputMode: 'count', maskToken: 7 }), 'ValueError', 'maskToken', '7');
    expectError(() => made({ padToMaxTokens: true }), 'ValueError', 'maxTokens', 'null');
    expectError(() => made({ padToMaxTokens: 1 }), 'TypeError', 'padToMaxTokens', '1');
    expectError(() => made({ vocabulary: undefined }), 'TypeError', 'vocabulary', 'undefined');
    expectError(() => given(made({ numOovIndices: 0 })), 'ValueError', 'data', '7');
  });

  it('read configs of Keras, where dtype is that of the ids', () => {
    for (const cls of [HashingLayer, VocabularyLayer] as unknown as {
      fromConfig: (...args: unknown[]) => tf.layers.Layer;
    }[]) {
      const own =
        cls === (HashingLayer as unknown) ? { numBins: 6, sparse: false } : { vocabulary: [3, 4], invert: false };
      const layer = cls.fromConfig(cls, { name: 'named', trainable: true, dtype: 'int64', ...own });
      expect(layer.name).toBe('named');
    }
  });

  it('read output modes as Keras and TensorFlow.js write them', () => {
    expect(PLAIN_MODES).toEqual(['int', 'oneHot', 'multiHot', 'count']);
    expect(['one_hot', 'multiHot', null, undefined].map((mode) => checkOutputMode(mode, PLAIN_MODES, 'int'))).toEqual([
      ...(['oneHot', 'multiHot', 'int', 'int'] as const),
    ]);
    expect(() => checkOutputMode('tf_idf', PLAIN_MODES, 'int')).toThrowError(/int, oneHot, multiHot, count/);
  });

  it('take one input', () => {
    expect(onlyShape([[null, 3]])).toEqual([null, 3]);
    expect(onlyShape([null, 3])).toEqual([null, 3]);
    expectError(() => onlyShape([[null, 3], [null, 3]]), 'ValueError', 'inputs', '2 inputs'); // prettier-ignore
    const tensor = tf.scalar(1);
    expect([onlyTensor(tensor), onlyTensor([tensor])]).toEqual([tensor, tensor]);
    tensor.dispose();
  });
});
