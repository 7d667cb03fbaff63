import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';

const golden = (name: string): string => fileURLToPath(new URL(`../../goldens/arrays/${name}`, import.meta.url));
const VALUES = JSON.parse(readFileSync(golden('values.json'), 'utf8')) as Record<
  string,
  { shape: number[]; values: string[] }
>;

/** What Python says of an array, in the dtype of the tensor. */
function expectGolden(name: string, tensor: tf.Tensor): void {
  const { shape, values } = VALUES[name]!;
  expect(tensor.shape).withContext(name).toEqual(shape);
  const numbers = values.map((text) => (text === 'inf' ? Infinity : Number(text)));
  const wanted = tensor.dtype === 'float32' ? Array.from(Float32Array.from(numbers)) : numbers;
  expect(Array.from(tensor.dataSync<'float32'>(), Number)).withContext(name).toEqual(wanted);
}

function model(): tf.LayersModel {
  const ids = tf.input({ shape: [2], dtype: 'int32' });
  const users = emb.layers.embedding({ inputDim: 5, outputDim: 3, combiner: 'sum', name: 'users' });
  const head = tf.layers.dense({ units: 2, name: 'head' });
  return tf.model({ inputs: ids, outputs: head.apply(users.apply(ids)) as tf.SymbolicTensor });
}

describe('files of arrays', () => {
  let folder: string;
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'arrays '));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('of NumPy, stored and packed, give the values that Python sees', async () => {
    await expectNoLeakAsync(async () => {
      for (const file of ['stored.npz', 'packed.npz']) {
        const arrays = await emb.weights.readNpz(golden(file));
        expect(Object.keys(arrays)).toContain('user_emb.weight');
        for (const [name, tensor] of Object.entries(arrays)) expectGolden(name, tensor);
        expect(arrays['long']!.dtype).toBe('int32');
        expect(arrays['mask']!.dtype).toBe('bool');
        tf.dispose(arrays);
      }
      const single = await emb.weights.readNpy(golden('single.npy'));
      expectGolden('user_emb.weight', single);
      single.dispose();
    });
  });

  it('of safetensors give the values that Python sees, from a path, bytes and a blob', async () => {
    const bytes = new Uint8Array(readFileSync(golden('all.safetensors')));
    for (const source of [golden('all.safetensors'), bytes, new Blob([bytes])]) {
      const arrays = await emb.weights.readSafetensors(source);
      expect(Object.keys(arrays).length).toBe(9);
      for (const [name, tensor] of Object.entries(arrays)) expectGolden(name, tensor);
      tf.dispose(arrays);
    }
  });

  it('of safetensors may hold metadata, which are no array', async () => {
    const arrays = await emb.weights.readSafetensors(golden('one.safetensors'));
    expect(Object.keys(arrays)).toEqual(['tables.0']);
    tf.dispose(arrays);
  });

  it('come back as they were written', async () => {
    await expectNoLeakAsync(async () => {
      const tables = {
        'a b/ä': tf.tensor2d([1, -2.5, 3e-20, Infinity], [2, 2]),
        ids: tf.tensor1d([1, -5], 'int32'),
        mask: tf.tensor1d([true, false, true], 'bool'),
        scalar: tf.scalar(4),
        none: tf.zeros([0, 3]),
        ['__proto__x']: tf.scalar(1),
      };
      const [npz, safetensors, npy] = ['t.npz', 't.safetensors', 't.npy'].map((name) => join(folder, name));
      await emb.weights.writeNpz(npz!, tables);
      await emb.weights.writeSafetensors(safetensors!, tables);
      for (const read of [await emb.weights.readNpz(npz!), await emb.weights.readSafetensors(safetensors!)]) {
        expect(Object.keys(read)).toEqual(Object.keys(tables));
        for (const [name, tensor] of Object.entries(tables)) {
          expect([read[name]!.dtype, read[name]!.shape]).toEqual([tensor.dtype, tensor.shape]);
          expect(Array.from(read[name]!.dataSync())).toEqual(Array.from(tensor.dataSync()));
        }
        tf.dispose(read);
      }
      await emb.weights.writeNpy(npy!, tables.ids);
      await emb.weights.writeNpy(npy!, tables['a b/ä']);
      const again = await emb.weights.readNpy(npy!);
      expect(Array.from(again.dataSync())).toEqual(Array.from(tables['a b/ä'].dataSync()));
      tf.dispose([tables, again]);
      expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
    });
  });

  it('are what other tools read: the header of an .npy file is a multiple of 64 bytes', async () => {
    const chunks: number[] = [];
    const stream = new WritableStream<Uint8Array>({ write: (chunk) => void chunks.push(...chunk) });
    const tensor = tf.tensor1d([1, 2]);
    await emb.weights.writeNpy(stream, tensor);
    tensor.dispose();
    expect(chunks.length).toBe(64 * 2 + 8);
    const text = String.fromCharCode(...chunks.slice(10, 128));
    expect(text.trim()).toBe("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }");
    expect(text.endsWith('\n')).toBeTrue();
  });

  it('are refused where they hold anything else', async () => {
    const json = (header: object, values = 4): Uint8Array => {
      const text = new TextEncoder().encode(JSON.stringify(header));
      const bytes = new Uint8Array(8 + text.length + values);
      new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
      bytes.set(text, 8);
      return bytes;
    };
    const entry = (change: object): Uint8Array =>
      json({ x: { dtype: 'F32', shape: [1], data_offsets: [0, 4], ...change } });
    const bad: [Uint8Array, RegExp][] = [
      [new Uint8Array(3), /holds 3 bytes/],
      [new Uint8Array(8).fill(255), /its? header says|whose header says/],
      [entry({ dtype: 'F8_E4M3' }), /is of "F8_E4M3"/],
      [entry({ shape: [2] }), /lies at/],
      [entry({ shape: [-1] }), /size is a whole number/],
      [entry({ shape: [2 ** 40, 2 ** 40] }), /size is a whole number/],
      [entry({ data_offsets: [4, 8] }), /lies at/],
      [entry({ data_offsets: 'no' }), /lies at/],
      [json({ x: { dtype: 'U8', shape: [1], data_offsets: [0, 1] } }), /holds 4/],
      [json({ x: 3 }), /is of undefined/],
      [
        json({
          x: { dtype: 'U8', shape: [3], data_offsets: [0, 3] },
          y: { dtype: 'U8', shape: [2], data_offsets: [2, 4] },
        }),
        /begins at 2, not at 3/,
      ],
    ];
    for (const [bytes, message] of bad) {
      await expectAsync(emb.weights.readSafetensors(bytes)).toBeRejectedWithError(emb.ValueError, message);
    }
    const good = new Uint8Array(readFileSync(golden('packed.npz')));
    await expectAsync(emb.weights.readNpz(good.slice(0, good.length - 9))).toBeRejectedWithError(emb.ValueError);
    const flipped = good.slice();
    flipped[120]! ^= 64;
    await expectAsync(emb.weights.readNpz(flipped)).toBeRejectedWithError(emb.ValueError);
    await expectAsync(emb.weights.readNpy('nowhere.npy')).toBeRejectedWithError(emb.ValueError, /a file that exists/);
    await expectAsync(emb.weights.readNpy(3 as never)).toBeRejectedWithError(TypeError);
    const text = tf.tensor1d(['a']);
    await expectAsync(emb.weights.writeNpy('x.npy', text)).toBeRejectedWithError(TypeError, /float32, int32, bool/);
    await expectAsync(emb.weights.writeNpz('x.npz', text as never)).toBeRejectedWithError(TypeError, /tensors by name/);
    text.dispose();
  });

  it('keep the name __proto__ as a name', async () => {
    const header = '{"__proto__": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}';
    const bytes = new Uint8Array(8 + header.length + 1);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(header.length), true);
    bytes.set(new TextEncoder().encode(header), 8);
    const arrays = await emb.weights.readSafetensors(bytes);
    expect(Object.keys(arrays)).toEqual(['__proto__']);
    expect(({} as { dtype?: unknown }).dtype).toBeUndefined();
    tf.dispose(Object.values(arrays));
  });
});

describe('weights.load', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  it('puts arrays into the weights that they are named for, either way round', async () => {
    await expectNoLeakAsync(async () => {
      for (const source of ['stored.npz', 'all.safetensors']) {
        for (const names of [
          { 'user_emb.weight': 'users/embeddings' },
          { 'users/embeddings': 'user_emb.weight' },
          { users: 'user_emb.weight' },
        ]) {
          const loaded = model();
          expect(await emb.weights.load(loaded, golden(source), { names })).toEqual(['users/embeddings']);
          tf.tidy(() => expectGolden('user_emb.weight', loaded.getLayer('users').getWeights()[0]!.clone()));
          loaded.dispose();
        }
      }
      const loaded = model();
      expect(await emb.weights.load(loaded, golden('single.npy'), { names: { users: '' } })).toEqual([
        'users/embeddings',
      ]);
      loaded.dispose();
    });
  });

  it('takes all arrays by their names, tables of DistributedEmbedding too', async () => {
    const features = ['a', 'b'].map((name) => tf.input({ shape: [2], dtype: 'int32', name }));
    const layer = emb.layers.distributedEmbedding({
      embeddings: [
        { inputDim: 5, outputDim: 3, combiner: 'sum', name: 'users' },
        { inputDim: 2, outputDim: 3, combiner: 'sum', name: 'items' },
      ],
      name: 'tables',
    });
    const loaded = tf.model({ inputs: features, outputs: layer.apply(features) as tf.SymbolicTensor[] });
    const chunks: Uint8Array[] = [];
    const tables = { 'tables/items': tf.ones([2, 3]), 'tables/users/embeddings': tf.fill([5, 3], 7) };
    await emb.weights.writeSafetensors(new WritableStream({ write: (chunk) => void chunks.push(chunk) }), tables);
    const names = await emb.weights.load(loaded, new Uint8Array(Buffer.concat(chunks)));
    expect(names.sort()).toEqual(['tables/items/embeddings', 'tables/users/embeddings']);
    expect(layer.getWeights().map((table) => table.dataSync()[4])).toEqual([7, 1]);
    tf.dispose(tables);
    loaded.dispose();
  });

  it('writes nothing where a name, a shape or a type is wrong', async () => {
    const loaded = model();
    const before = loaded.getWeights().map((weight) => Array.from(weight.dataSync()));
    const load = (names: Record<string, string>): Promise<unknown> =>
      emb.weights.load(loaded, golden('stored.npz'), { names });
    await expectAsync(load({ users: 'user_emb.wieght' })).toBeRejectedWithError(
      emb.ValueError,
      /Did you mean user_emb.weight/,
    );
    await expectAsync(load({ 'user_emb.weight': 'user' })).toBeRejectedWithError(emb.ValueError, /Did you mean users/);
    await expectAsync(load({ 'user_emb.weight': 'users', 'head/kernel': 'double' })).toBeRejectedWithError(
      emb.ValueError,
      /shape \[3, 2\]/,
    );
    await expectAsync(load({ 'user_emb.weight': 'users', long: 'head/bias' })).toBeRejectedWithError(
      TypeError,
      /int32 in "long"/,
    );
    await expectAsync(load({ users: 'user_emb.weight', 'users/embeddings': 'user_emb.weight' })).toBeRejectedWithError(
      emb.ValueError,
      /twice/,
    );
    await expectAsync(emb.weights.load(loaded, golden('stored.npz'))).toBeRejectedWithError(emb.ValueError, /or names/);
    await expectAsync(emb.weights.load({} as tf.LayersModel, golden('stored.npz'))).toBeRejectedWithError(TypeError);
    expect(loaded.getWeights().map((weight) => Array.from(weight.dataSync()))).toEqual(before);
    loaded.dispose();
  });
});
