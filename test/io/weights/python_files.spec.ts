/** Files that NumPy, PyTorch and safetensors wrote: see test/goldens/arrays/gen_python_arrays.py. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectError, expectRejection } from '../../helpers/errors.js';
import { ROOT } from '../../helpers/project.js';
import { expectClose, expectNoLeakAsync } from '../../helpers/tensors.js';

const FOLDER = join(ROOT, 'test', 'goldens', 'arrays');

interface Told {
  readonly dtype: tf.DataType;
  readonly shape: number[];
  /** As Python writes them. */
  readonly values: readonly string[];
}

interface Golden {
  readonly numpy: Readonly<Record<string, Told>>;
  readonly torch: Readonly<Record<string, Told>>;
  readonly model: { readonly ids: number[][]; readonly outputs: number[][] };
}

const GOLDEN = JSON.parse(readFileSync(join(FOLDER, 'python_values.json'), 'utf8')) as Golden;

const bytesOf = (name: string): Uint8Array => new Uint8Array(readFileSync(join(FOLDER, name)));

function numberOf(text: string): number {
  return text === 'nan' ? NaN : Number(text.replace('inf', 'Infinity'));
}

function expectTold(tensor: tf.Tensor, { dtype, shape, values }: Told, name: string): void {
  expect(tensor.dtype)
    .withContext(name)
    .toBe(dtype as 'int32');
  expect(tensor.shape).withContext(name).toEqual(shape);
  expect(Array.from(tensor.dataSync<'float32'>(), Number)).withContext(name).toEqual(values.map(numberOf));
}

/** Exactly these arrays, with exactly these values: bits of -0 and NaN included. */
async function expectAll(
  read: () => Promise<Record<string, tf.Tensor>>,
  wanted: Readonly<Record<string, Told>>,
): Promise<void> {
  await expectNoLeakAsync(async () => {
    const arrays = await read();
    expect(Object.keys(arrays).sort()).toEqual(Object.keys(wanted).sort());
    for (const [name, told] of Object.entries(wanted)) expectTold(arrays[name]!, told, name);
    tf.dispose(Object.values(arrays));
  });
}

/** What is told of each file that holds what no tensor of tfjs can. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  'beyond_int32.npy': /2147483648/,
  'beyond_int32.safetensors': /-2147483649/,
  'brain.npy': /[<|]V2/,
  'column_major.npy': /column-major/,
  'complex.npy': /<c8/,
  'complex.safetensors': /"complex" is of "C64"/,
  'float8.safetensors': /"float8" is of "F8_E4M3"/,
  'long_double.npy': /<f16/,
  'objects.npy': /pickled objects/,
  'objects.npz': /"objects\.npy", which holds pickled objects/,
  'records.npy': /\('id', '<i4'\)/,
  'text.npy': /<U2/,
  'time.npy': /<M8\[D\]/,
  'transposed_view.npy': /column-major/,
};

function reader(name: string): (source: string | Uint8Array) => Promise<tf.Tensor | Record<string, tf.Tensor>> {
  if (name.endsWith('.npy')) return emb.weights.readNpy;
  return name.endsWith('.npz') ? emb.weights.readNpz : emb.weights.readSafetensors;
}

describe('files of arrays from Python', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  for (const name of ['numpy.npz', 'numpy_packed.npz']) {
    it(`${name}: every type, order of bytes, layout and name`, async () => {
      await expectAll(() => emb.weights.readNpz(join(FOLDER, name)), GOLDEN.numpy);
    });
  }

  it('numpy_scalar.npy: an array without axes', async () => {
    await expectAll(async () => ({ scalar: await emb.weights.readNpy(join(FOLDER, 'numpy_scalar.npy')) }), {
      scalar: GOLDEN.numpy['scalar']!,
    });
  });

  it('numpy.safetensors: as safetensors.numpy writes them', async () => {
    const { half, long } = GOLDEN.numpy;
    await expectAll(() => emb.weights.readSafetensors(join(FOLDER, 'numpy.safetensors')), { half: half!, long: long! });
  });

  it('torch.safetensors: every type, shape and name, and metadata that are no array', async () => {
    await expectAll(() => emb.weights.readSafetensors(join(FOLDER, 'torch.safetensors')), GOLDEN.torch);
  });

  it('bag.safetensors: a model of PyTorch in bfloat16 and float16 predicts the same here', async () => {
    await expectNoLeakAsync(async () => {
      const users = { name: 'users', inputDim: 6, outputDim: 4, combiner: 'mean' as const, inputShape: [3] };
      const head = tf.layers.dense({ name: 'head', units: 2 });
      const model = tf.sequential({ layers: [emb.layers.embedding(users), head] });
      const names = { 'user_emb.weight': 'users', 'head.kernel': 'head/kernel', 'head.bias': 'head/bias' };
      await emb.weights.load(model, join(FOLDER, 'bag.safetensors'), { names });
      const ids = tf.tensor2d(GOLDEN.model.ids, undefined, 'int32');
      const outputs = model.predict(ids) as tf.Tensor;
      expectClose(outputs.dataSync(), GOLDEN.model.outputs.flat());
      tf.dispose([ids, outputs]);
      model.dispose();
    });
  });

  for (const name of readdirSync(join(FOLDER, 'refused'))) {
    it(`refused/${name}: an error that tells what it holds`, async () => {
      await expectNoLeakAsync(async () => {
        await expectRejection(() => reader(name)(join(FOLDER, 'refused', name)), 'ValueError', 'source', REFUSED[name]);
      });
    });
  }
});

/** A safetensors file of this header, as text, and so many bytes of values. */
function safetensors(header: string, bytes: number): Uint8Array {
  const text = new TextEncoder().encode(header);
  const file = new Uint8Array(8 + text.length + bytes);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  return file;
}

/** The header of a file of PyTorch, changed; its values stay. */
function changed(name: string, change: (header: Record<string, Record<string, unknown>>) => void): Uint8Array {
  const file = bytesOf(name);
  const length = Number(new DataView(file.buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length))) as never;
  change(header);
  const values = file.subarray(8 + length);
  const again = safetensors(JSON.stringify(header), values.length);
  again.set(values, again.length - values.length);
  return again;
}

describe('files of arrays from Python that are damaged', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  for (const name of ['torch.safetensors', 'numpy.npz', 'numpy_packed.npz', 'numpy_scalar.npy']) {
    it(`${name}: cut off anywhere, a ValueError`, async () => {
      await expectNoLeakAsync(async () => {
        const whole = bytesOf(name);
        const step = name.endsWith('.npz') ? 97 : 7;
        for (let length = whole.length - 1; length >= 0; length -= step) {
          const error = await reader(name)(whole.slice(0, length)).then(
            () => null,
            (thrown: unknown) => thrown,
          );
          expectError(() => { throw error; }, 'ValueError', 'source'); // prettier-ignore
        }
      });
    });
  }

  it('safetensors: places that overlap, leave a gap, or lie outside', async () => {
    const read = (change: Parameters<typeof changed>[1]): (() => Promise<unknown>) => {
      return () => emb.weights.readSafetensors(changed('bag.safetensors', change));
    };
    const places = (header: Record<string, Record<string, unknown>>, name: string): [number, number] =>
      header[name]!['data_offsets'] as [number, number];
    await emb.weights.readSafetensors(changed('bag.safetensors', () => {})).then((arrays) => tf.dispose(arrays));
    for (const by of [-2, 2, -1000, 1000, 0.5]) {
      for (const name of ['user_emb.weight', 'head.kernel', 'head.bias']) {
        const shift = read((header) => {
          header[name]!['data_offsets'] = places(header, name).map((at) => at + by);
        });
        await expectRejection(shift, 'ValueError', 'source', /begins at|lies at/);
      }
    }
    const same = read((header) => (header['copy'] = { ...header['head.bias'] }));
    await expectRejection(same, 'ValueError', 'source', /begins at/);
    await expectRejection(read((header) => delete header['head.bias']), 'ValueError', 'source', /begins at|which holds/); // prettier-ignore
  });

  it('safetensors: shapes that no array has', async () => {
    for (const shape of [[-6, -4], [-6, 4], [6.5, 4], ['6', 4], [null], [2 ** 53, 0], 24, undefined]) {
      const file = changed('bag.safetensors', (header) => (header['user_emb.weight']!['shape'] = shape));
      await expectRejection(() => emb.weights.readSafetensors(file), 'ValueError', 'source', /user_emb\.weight/);
    }
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const [dtype, shape, places] of [
      ['"F32"', deep, '[0, 4]'],
      ['"F32"', '[1]', deep],
      [deep, '[1]', '[0, 4]'],
    ]) {
      const file = safetensors(`{"deep": {"dtype": ${dtype}, "shape": ${shape}, "data_offsets": ${places}}}`, 4);
      await expectRejection(() => emb.weights.readSafetensors(file), 'ValueError', 'source', /"deep"/);
    }
  });

  it('safetensors: headers that say too much, are no JSON, or no object', async () => {
    for (const claimed of [2n ** 64n - 1n, 2n ** 63n, 100_000_001n, 1_000n]) {
      const file = bytesOf('bag.safetensors').slice(0, 512);
      new DataView(file.buffer).setBigUint64(0, claimed, true);
      await expectRejection(() => emb.weights.readSafetensors(file), 'ValueError', 'source', String(claimed));
    }
    for (const header of ['', '{', '[]', 'null', '"x"', '['.repeat(100_000), '{"a":'.repeat(100_000)]) {
      await expectRejection(
        () => emb.weights.readSafetensors(safetensors(header, 0)),
        'ValueError',
        'source',
        /header/,
      );
    }
  });

  it('safetensors: an array called __proto__ changes no object, whatever it holds', async () => {
    const inner = '{"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}';
    const file = safetensors(`{"a": {"__proto__": ${inner}}}`, 4);
    await expectRejection(() => emb.weights.readSafetensors(file), 'ValueError', 'source', /is of/);
    const bad = safetensors(`{"__proto__": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}`, 4);
    await expectRejection(() => emb.weights.readSafetensors(bad), 'ValueError', 'source', /__proto__/);
    expect(({} as { dtype?: unknown }).dtype).toBeUndefined();
  });

  it('.npy: negative shapes, and shapes larger than the file', async () => {
    const whole = bytesOf('numpy_scalar.npy');
    const text = Buffer.from(whole).toString('latin1');
    for (const shape of ['(-1,)', '(-1, -1)', '(2,)', '(99999999,)', '(9007199254740993, 0)', '(0,)']) {
      const other = text.replace(`(), }${' '.repeat(shape.length - 2)}`, `${shape}, }`);
      expect(other).toContain(shape);
      const file = new Uint8Array(Buffer.from(other, 'latin1'));
      expect(file.length).toBe(whole.length);
      await expectRejection(() => emb.weights.readNpy(file), 'ValueError', 'source');
    }
  });
});
