import { runInNewContext } from 'node:vm';
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

  it('are sorted wherever their objects come from, and are no objects of classes', () => {
    const [a, b] = ['a', 'b'].map((name) => new tpu.FeatureConfig({ table, name }));
    for (const made of [Object.create(null) as object, runInNewContext('({})') as object]) {
      const nest = new FeatureNest(Object.assign(made, { z: b, y: a }));
      expect(nest.features.map(({ name }) => name)).toEqual(['a', 'b']);
      expect(nest.paths('it')).toEqual(['it.y', 'it.z']);
    }
    class Own {
      z = b;
    }
    expectError(() => new FeatureNest(new Own()), 'TypeError', 'featureConfig', 'Own');
    expectError(() => new FeatureNest({ x: [new Own()] }), 'TypeError', 'featureConfig.x[0]', 'Own');
    expectError(() => new FeatureNest(new Date(0)), 'TypeError', 'featureConfig');
  });

  it('take a part of what there is, and give results in its structure', () => {
    const nest = new FeatureNest({ list: [feature, feature, feature], one: feature });
    const { found, pack } = nest.subset({ one: 'x', list: ['y', 'z'] }, 'ids');
    expect(found).toEqual([
      { feature: 3, part: 'x', path: 'ids.one' },
      { feature: 0, part: 'y', path: 'ids.list[0]' },
      { feature: 1, part: 'z', path: 'ids.list[1]' },
    ]);
    expect(pack([1, 2, 3])).toEqual({ one: 1, list: [2, 3] });
    expect(nest.subset({ list: [] }, 'ids').pack([])).toEqual({ list: [] });
    expect(nest.subset({ list: ['x', 'y', 'z'] }, 'ids').found.length).toBe(3);
    expectError(() => nest.subset({ list: ['x', 'y', 'z', 'w'] }, 'ids'), 'ValueError', 'ids.list', '"w"]');
    expectError(() => nest.subset({ list: 'x' }, 'ids'), 'ValueError', 'ids.list', '"x"');
    expectError(() => nest.subset('x', 'ids'), 'ValueError', 'ids', '"x"');
    expectError(() => nest.subset({ two: 'x' }, 'ids'), 'ValueError', 'ids.two', 'a key of no feature');
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
