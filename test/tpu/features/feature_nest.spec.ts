import * as emb from 'tfjs-embeddings';
import { FeatureNest } from '../../../src/tpu/features/feature_nest.js';
import { expectError } from '../../helpers/errors.js';

const { tpu } = emb;
const LEVELS = 100;

describe('nests of features', () => {
  const table = new tpu.TableConfig({ vocabularySize: 4, dim: 2, combiner: 'sum' });
  const feature = new tpu.FeatureConfig({ table });

  it('have their features in the order of sorted keys, in lists as they are', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => new tpu.FeatureConfig({ table, name }));
    const nest = new FeatureNest({ z: [c, { y: b, x: a }] });
    expect(nest.features.map(({ name }) => name)).toEqual(['c', 'a', 'b']);
  });

  it('are as deep as anybody needs, and end', () => {
    for (const around of [(inner: unknown): unknown => [inner], (inner: unknown): unknown => ({ inner })]) {
      let nested: unknown = feature;
      for (let level = 0; level < LEVELS; level++) nested = around(nested);
      expect(new FeatureNest(nested).features.length).toBe(1);
      expectError(() => new FeatureNest(around(nested)), 'ValueError', 'featureConfig', 'more');
    }
    const endless: unknown[] = [];
    endless.push(endless);
    expectError(() => new FeatureNest(endless), 'ValueError', 'featureConfig', 'more');
  });
});
