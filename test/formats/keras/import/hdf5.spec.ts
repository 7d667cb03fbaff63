/** Reads of HDF5: numbers of every type, texts of every kind, groups, and what is refused. */
import { readFileSync } from 'node:fs';
import { File as H5File, ready } from 'h5wasm';
import { ValueError } from '../../../../src/base/errors.js';
import { Hdf5File } from '../../../../src/formats/keras/hdf5.js';
import { expectError } from '../../../helpers/errors.js';
import { goldenPath } from '../keras_cases.js';
import 'tfjs-embeddings/node';

/** The bytes of a file that `fill` writes. */
async function bytesOf(fill: (file: H5File) => void): Promise<Uint8Array> {
  const { FS } = await ready;
  const file = new H5File('/spec.h5', 'w');
  fill(file);
  file.close();
  const bytes = (FS.readFile('/spec.h5') as unknown as Uint8Array).slice();
  FS.unlink('/spec.h5');
  return bytes;
}

async function fileOf(fill: (file: H5File) => void): Promise<Hdf5File> {
  return Hdf5File.open(await bytesOf(fill), 'w.h5');
}

const FLOATS = [0.5, -2, 3];
const WHOLE = [5, 0, 7];

describe('HDF5 files', () => {
  it('have numbers of every type as those of tensors', async () => {
    const types = ['<f', '<d', '<b', '<h', '<i', '<q', '<B', '<H', '<I', '<Q'];
    const valuesFor = (type: string): number[] =>
      /[fd]/.test(type) ? FLOATS : /[BHIQ]/.test(type) ? WHOLE : [-5, 0, 7];
    const file = await fileOf((made) => {
      types.forEach((type, i) => {
        const values = valuesFor(type);
        const data = /[qQ]/.test(type) ? values.map(BigInt) : values;
        made.create_dataset({ name: `a${i}`, data: data as number[], shape: [3], dtype: type });
      });
    });
    types.forEach((type, i) => {
      const values = file.values(`a${i}`);
      expect(values instanceof Float32Array)
        .withContext(type)
        .toBe(/[fd]/.test(type));
      expect([...values].map(Number))
        .withContext(type)
        .toEqual(valuesFor(type));
      expect(file.shape(`a${i}`)).toEqual([3]);
    });
  });

  it('have shapes', async () => {
    const file = await fileOf((made) => {
      made.create_dataset({ name: 'cube', data: Float32Array.from({ length: 24 }, (_, i) => i), shape: [2, 3, 4] });
    });
    expect(file.shape('cube')).toEqual([2, 3, 4]);
    expect([...file.values('cube')]).toEqual(Array.from({ length: 24 }, (_, i) => i));
  });

  it('may be a part of a buffer', async () => {
    const bytes = await bytesOf((made) => made.create_dataset({ name: 'a', data: new Float32Array(FLOATS) }));
    const around = new Uint8Array(bytes.length + 32);
    around.set(bytes, 16);
    const file = await Hdf5File.open(around.subarray(16, 16 + bytes.length), 'w.h5');
    expect([...file.values('a')]).toEqual(FLOATS);
  });

  it('name all arrays below a group', async () => {
    const file = await fileOf((made) => {
      const outer = made.create_group('layers');
      for (const name of ['b', 'a']) {
        const inner = outer.create_group(name) as typeof outer;
        for (const each of ['1', '0']) inner.create_dataset({ name: each, data: new Float32Array(1) });
      }
      outer.create_dataset({ name: 'ab', data: new Float32Array(1) });
      made.create_dataset({ name: 'top', data: new Float32Array(1) });
    });
    expect(file.arrays('layers').sort()).toEqual(['a/0', 'a/1', 'ab', 'b/0', 'b/1']);
    expect(file.arrays('layers/a').sort()).toEqual(['0', '1']);
    expect(file.arrays('/').sort()).toEqual([
      'layers/a/0',
      'layers/a/1',
      'layers/ab',
      'layers/b/0',
      'layers/b/1',
      'top',
    ]);
    expectError(() => file.arrays('nowhere'), 'ValueError', 'source', 'w.h5, at "nowhere"');
  });

  it('have texts, lists of them, and lists in parts', async () => {
    const file = await fileOf((made) => {
      const group = made.create_group('g');
      group.create_attribute('text', 'añ');
      group.create_attribute('list', ['one', 'zwölf']);
      group.create_attribute('many0', ['a', 'b']);
      group.create_attribute('many1', ['c']);
      group.create_attribute('many3', ['d']);
      group.create_attribute('fixed', ['x', 'long'], null, 'S6');
      group.create_attribute('number', 3);
    });
    expect(file.text('g', 'text')).toBe('añ');
    expect(file.text('g', 'none')).toBeNull();
    expect(file.text('g', 'number')).toBeNull();
    expectError(() => file.text('nowhere', 'text'), 'ValueError', 'source', 'w.h5, at "nowhere');
    expect(file.text('g', 'toString')).toBeNull();
    expect(file.texts('g', 'list')).toEqual(['one', 'zwölf']);
    expect(file.texts('g', 'text')).toEqual(['añ']);
    expect(file.texts('g', 'many')).toEqual(['a', 'b', 'c']);
    expect(file.texts('g', 'fixed')).toEqual(['x', 'long']);
    expect(file.texts('g', 'number')).toEqual([]);
    expect(file.texts('g', 'none')).toBeNull();
  });

  it('refuse arrays that are none, of texts, and in chunks', async () => {
    const file = await fileOf((made) => {
      made.create_group('group');
      made.create_dataset({ name: 'texts', data: ['a', 'b'] });
      made.create_dataset({ name: 'chunks', data: new Float32Array(64), shape: [64], chunks: [8] });
    });
    expectError(() => file.values('group'), 'ValueError', 'source', 'w.h5');
    expectError(() => file.shape('nowhere'), 'ValueError', 'source', 'w.h5');
    expectError(() => file.values('texts'), 'ValueError', 'source', 'w.h5, "texts"');
    expectError(() => file.values('chunks'), 'ValueError', 'source', 'w.h5, "chunks"');
  });

  it('refuse groups deeper than 24 levels', async () => {
    const nested = (depth: number): Promise<Hdf5File> =>
      fileOf((made) => {
        const path = Array.from({ length: depth }, (_, i) => `g${i}`);
        path.forEach((_, i) => made.create_group(path.slice(0, i + 1).join('/')));
        made.create_dataset({ name: `${path.join('/')}/a`, data: new Float32Array(1) });
      });
    expect((await nested(23)).arrays('/').length).toBe(1);
    const deep = await nested(26);
    expectError(() => deep.arrays('/'), 'ValueError', 'source', 'w.h5, which has more');
  });

  it('are refused where they end early, are something else, or say so of their groups', async () => {
    const whole = new Uint8Array(readFileSync(goldenPath('keras_files/k2_nvidia.h5')));
    const opened = (bytes: Uint8Array): Promise<unknown> => Hdf5File.open(bytes, 'w.h5');
    for (const length of [0, 8, 40, whole.length - 1])
      await expectAsync(opened(whole.slice(0, length))).toBeRejectedWithError(ValueError, new RegExp(`w\\.h5, which holds ${length}\\.`)); // prettier-ignore
    const longer = new Uint8Array(whole.length + 8);
    longer.set(whole);
    expect(await opened(longer)).toBeDefined();
    await expectAsync(opened(new Uint8Array(600))).toBeRejectedWithError(ValueError, /an HDF5 file/);
    const view = new DataView(whole.buffer);
    const nodes: number[] = [];
    for (let at = 0; at + 24 < whole.length; at++)
      if (new TextDecoder('latin1').decode(whole.subarray(at, at + 4)) === 'TREE' && whole[at + 4] === 0)
        nodes.push(at);
    expect(nodes.length).toBeGreaterThan(0);
    const changed = (change: (given: DataView) => void): Uint8Array => {
      const copy = whole.slice();
      change(new DataView(copy.buffer));
      return copy;
    };
    const [node] = nodes as [number];
    const entries = view.getUint16(node + 6, true);
    await expectAsync(opened(changed((given) => given.setUint16(node + 6, 65, true)))).toBeRejectedWithError(ValueError, new RegExp(`whose group at ${node} has 65 entries in a node`)); // prettier-ignore
    if (entries > 1) {
      const twice = changed((given) => given.setBigUint64(node + 48, given.getBigUint64(node + 32, true), true));
      await expectAsync(opened(twice)).toBeRejectedWithError(ValueError, new RegExp(`whose group at ${node} has a child that is another's`)); // prettier-ignore
    }
    // Of data sets nothing is said here.
    expect(await opened(changed((given) => given.setUint8(node + 4, 1)))).toBeDefined();
  });
});
