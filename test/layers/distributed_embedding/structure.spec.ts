import {
  featurePaths,
  flattenAs,
  packAs,
  readStructure,
  readStructureConfig,
  structureConfig,
} from '../../../src/layers/distributed_embedding/structure.js';
import { expectError } from '../../helpers/errors.js';

/** Features are numbers here. */
const read = (value: unknown): ReturnType<typeof readStructure<number>> =>
  readStructure(value, 'features', 'numbers', (part) => (typeof part === 'number' ? part : null));

const NESTED = { b: [10, { 'c d': 20, 'a/b': 30 }], a: 40 };

describe('the structure of features', () => {
  it('flattens and packs in its own order, whatever the order of the keys', () => {
    const { structure, features } = read(NESTED);
    expect(features).toEqual([10, 20, 30, 40]);
    const other = { a: 4, b: [1, { 'a/b': 3, 'c d': 2 }] };
    expect(flattenAs(structure, other, 'inputs')).toEqual([1, 2, 3, 4]);
    expect(JSON.stringify(packAs(structure, features))).toBe(JSON.stringify(NESTED));
    expect(featurePaths(structure, 'x')).toEqual(['x.b[0]', 'x.b[1]["c d"]', 'x.b[1]["a/b"]', 'x.a']);
    expect(packAs(read(7).structure, ['only'])).toBe('only');
  });

  it('takes null for a feature or a branch only where that is allowed', () => {
    const { structure } = read(NESTED);
    expect(flattenAs(structure, null, 'weights', true)).toEqual([null, null, null, null]);
    expect(flattenAs(structure, { a: 4, b: [1, null] }, 'weights', true)).toEqual([1, null, null, 4]);
    expect(flattenAs(structure, { b: null }, 'weights', true)).toEqual([null, null, null, null]);
    expectError(() => flattenAs(structure, { ...NESTED, a: null }, 'inputs'), 'TypeError', 'inputs.a', 'null');
  });

  it('names the path of what is missing, too much or of another kind', () => {
    const { structure } = read(NESTED);
    const given = (value: unknown): unknown => flattenAs(structure, value, 'inputs');
    expectError(() => given({ a: 1 }), 'ValueError', 'inputs.b', 'no such key');
    expectError(() => given({ a: 1, b: [1, { 'a/b': 1 }] }), 'ValueError', 'inputs.b[1]["c d"]');
    expectError(() => given({ ...NESTED, z: 1 }), 'ValueError', 'inputs.z');
    expectError(() => given({ a: 1, b: [1] }), 'ValueError', 'inputs.b', 'a list of 1');
    expectError(() => given({ a: 1, b: { x: 1 } }), 'TypeError', 'inputs.b');
    expectError(() => given([1, 2]), 'TypeError', 'inputs');
    expectError(() => read({ a: [1, 'x'] }), 'TypeError', 'features.a[1]', '"x"');
    expectError(() => read({ a: [] }), 'ValueError', 'features', 'none');
    const endless: unknown[] = [];
    endless.push(endless);
    expectError(() => read(endless), 'ValueError', 'features', 'more');
  });

  it('travels as data, names under `name` alone', () => {
    const { structure, features } = read(NESTED);
    const data = structureConfig(structure, (index) => ({ value: features[index] }));
    const text = JSON.stringify(data);
    for (const key of ['c d', 'a/b']) expect(text).toContain(`"name":${JSON.stringify(key)}`);
    const again = readStructureConfig(JSON.parse(text), 'features', ({ value }) => value);
    expect(JSON.stringify(again)).toBe(JSON.stringify(NESTED));
    const tree = { kind: 'tree', items: [{ kind: 'feature' }] };
    expectError(() => readStructureConfig(tree, 'features', () => 0), 'ValueError', 'features');
    expectError(() => readStructureConfig({ kind: 'tree' }, 'features', () => 0), 'ValueError', 'features');
    expectError(() => readStructureConfig(5, 'features', () => 0), 'TypeError', 'features', '5');
  });
});
