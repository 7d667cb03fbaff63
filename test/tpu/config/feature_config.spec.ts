import * as emb from 'tfjs-embeddings';
import { expectError } from '../../helpers/errors.js';

const { tpu } = emb;

describe('tpu.FeatureConfig', () => {
  const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4, name: 'movies' });

  it('has the defaults of TensorFlow', () => {
    const feature = new tpu.FeatureConfig({ table });
    expect(feature.table).toBe(table);
    const { maxSequenceLength, validateWeightsAndIndices, outputShape, name } = feature;
    expect({ maxSequenceLength, validateWeightsAndIndices, outputShape, name }).toEqual({
      maxSequenceLength: 0,
      validateWeightsAndIndices: true,
      outputShape: null,
      name: null,
    });
  });

  it('comes back from its config, with a table that was given as data or as an object', () => {
    const args = { maxSequenceLength: 3, validateWeightsAndIndices: false, outputShape: [4, null], name: 'seen' };
    const feature = new tpu.FeatureConfig({ table, ...args });
    const again = tpu.FeatureConfig.fromConfig(JSON.parse(JSON.stringify(feature.getConfig())) as object);
    expect(again.getConfig()).toEqual(feature.getConfig());
    expect(feature.getConfig()).toEqual(jasmine.objectContaining(args));
    expect(again.equals(feature)).withContext('tables are one only where the object is').toBeFalse();
    const shared = tpu.FeatureConfig.fromConfig({ table, max_sequence_length: 3, output_shape: [4, null] });
    expect(shared.table).toBe(table);
    expect(shared.equals(new tpu.FeatureConfig({ table, maxSequenceLength: 3, outputShape: [4, null] }))).toBeTrue();
    expect(shared.equals(new tpu.FeatureConfig({ table, maxSequenceLength: 3, outputShape: [4, 1] }))).toBeFalse();
  });

  it('is shown with its table', () => {
    expect(String(new tpu.FeatureConfig({ table }))).toContain('FeatureConfig(table=');
  });

  const wrong: [what: string, args: Record<string, unknown>, name: 'ValueError' | 'TypeError', argument: string][] = [
    ['a table that is none', { table: 3 }, 'ValueError', 'table'],
    ['a table of Keras RS', { table: { vocabularySize: 8, dim: 4 } }, 'ValueError', 'table'],
    ['a negative length', { maxSequenceLength: -1 }, 'ValueError', 'maxSequenceLength'],
    ['a length that is not whole', { maxSequenceLength: 1.5 }, 'ValueError', 'maxSequenceLength'],
    ['1 for true', { validateWeightsAndIndices: 1 }, 'ValueError', 'validateWeightsAndIndices'],
    ['a number as shape', { outputShape: 4 }, 'TypeError', 'outputShape'],
    ['a negative size', { outputShape: [-1] }, 'ValueError', 'outputShape'],
    ['a name that is no text', { name: 4 }, 'TypeError', 'name'],
  ];
  for (const [what, args, name, argument] of wrong) {
    it(`refuses ${what}`, () => {
      expectError(() => new tpu.FeatureConfig({ table, ...args } as never), name, argument);
    });
  }
});

describe('Configs as text', () => {
  it('show the configs within them as these show themselves', () => {
    const quantizationConfig = new tpu.QuantizationConfig({ numBuckets: 3, lower: 0, upper: 1 });
    const optimizer = new tpu.SGD({ learningRate: 0.5 });
    const table = new tpu.TableConfig({ vocabularySize: 4, dim: 2, name: 'a', optimizer, quantizationConfig });
    const text = String(new tpu.FeatureConfig({ table, outputShape: [2, null] }));
    for (const part of [table, optimizer, quantizationConfig]) expect(text).toContain(String(part));
    expect(text).toMatch(
      /^FeatureConfig\(table=TableConfig\(vocabularySize=4, .*outputShape=\[2, null\], name=null\)$/,
    );
    expect(text).not.toContain('an instance of');
  });
});
