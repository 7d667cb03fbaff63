/** The text of `model.json`, piece by piece. */
import { readGroups, readModelJson } from '../../../src/io/models/model_json.js';
import { expectError } from '../../helpers/errors.js';

const WEIGHT = { name: 'w', shape: [2], dtype: 'float32' };

describe('readGroups', () => {
  const refused = (manifest: unknown, found: string): void =>
    expectError(() => readGroups('m.json', manifest), 'ValueError', 'path', `m.json, ${found}`);

  it('reads paths and weights of every group', () => {
    const groups = readGroups('m.json', [
      { paths: ['a.bin', 'b.bin'], weights: [WEIGHT] },
      { paths: [], weights: [] },
    ]);
    expect(groups.map(({ paths }) => paths)).toEqual([['a.bin', 'b.bin'], []]);
    expect(groups.map(({ specs }) => specs)).toEqual([[{ name: 'w', size: 2, valueBytes: 4 }], []]);
    expect(readGroups('m.json', [])).toEqual([]);
  });

  it('says what is there instead', () => {
    refused(undefined, 'where it is undefined');
    refused({ paths: [], weights: [] }, 'where it is {"paths":[],"weights":[]}');
    refused([7], 'which has 7 in its place');
    refused([{ weights: [] }], 'whose paths are undefined');
    refused([{ paths: ['a', ''], weights: [] }], 'whose paths are ["a", ""]');
    refused([{ paths: [3], weights: [] }], 'whose paths are [3]');
    refused([{ paths: [], weights: {} }], 'whose weights are {}');
    refused([{ paths: [], weights: [7] }], 'which names a weight that is no object');
    refused([{ paths: [], weights: [{ ...WEIGHT, dtype: 'x' }] }], 'which names the weight "w", whose dtype is "x"');
    const two = [WEIGHT, { ...WEIGHT, name: 'v' }];
    refused([{ paths: [], weights: two }, { paths: [], weights: [WEIGHT] }], 'which has two called "w"'); // prettier-ignore
    refused([{ paths: [], weights: [WEIGHT, WEIGHT] }], 'which has two called "w"');
  });
});

describe('readModelJson', () => {
  const read = (json: unknown): unknown => readModelJson('m.json', JSON.stringify(json));
  /** Objects in objects, so many. */
  const deep = (levels: number): object => (levels === 0 ? {} : { inner: deep(levels - 1) });

  it('takes a topology, with a manifest or without', () => {
    for (const json of [{ modelTopology: {} }, { modelTopology: { a: 1 }, weightsManifest: [] }]) {
      expect(read(json)).toEqual(json);
    }
    expect(read({ modelTopology: deep(999) })).toEqual(jasmine.anything());
  });

  it('says what is there instead', () => {
    const refused = (text: string, found: string): void =>
      expectError(() => readModelJson('m.json', text), 'ValueError', 'path', `m.json, ${found}`);
    refused('{', 'which is none');
    refused('null', 'which holds null');
    refused('[]', 'which holds []');
    refused('{}', 'where it is undefined');
    refused('{"modelTopology": "{}"}', 'where it is "{}"');
    refused('{"modelTopology": {}, "weightsManifest": null}', 'where it is null');
    refused(JSON.stringify({ modelTopology: deep(1000) }), 'which is nested deeper');
  });
});
