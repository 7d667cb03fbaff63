/** Tensors out of files of ONNX, whole and damaged. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { EXTERNAL, Model, OnnxType, Tensor, type OnnxTensor } from '../../../src/base/protobuf/onnx_messages.js';
import { serve } from '../../browser/server.js';
import { casesOf } from '../../forms/forms.js';
import { expectRejection } from '../../helpers/errors.js';
import { Random } from '../../helpers/random.js';
import { useCpu } from '../../layers/setup.js';

const MUTATIONS = casesOf('TFJS_EMBEDDINGS_ONNX_MUTATIONS');

function raw(values: ArrayBufferView): Uint8Array {
  return new Uint8Array(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
}

function fileOf(...initializer: OnnxTensor[]): Uint8Array {
  return Model.encode({ irVersion: 8, opsetImport: [{ domain: '', version: 18 }], graph: { name: 'g', initializer } });
}

const of = (name: string, dataType: number, dims: number[], more: Partial<OnnxTensor>): OnnxTensor => {
  return { name, dataType, dims, ...more };
};

describe('readOnnx', () => {
  let folder: string;

  beforeAll(async () => {
    await useCpu();
    folder = mkdtempSync(join(tmpdir(), 'read-onnx-'));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('reads each type, as bytes and as fields of numbers', async () => {
    const cases: [string, OnnxTensor, string, unknown][] = [
      ['float', of('x', 1, [2], { rawData: raw(Float32Array.of(1.5, -2)) }), 'float32', [1.5, -2]],
      ['float data', of('x', 1, [2], { floatData: [1.5, -2] }), 'float32', [1.5, -2]],
      ['double', of('x', 11, [1], { rawData: raw(Float64Array.of(0.1)) }), 'float32', [Math.fround(0.1)]],
      ['half', of('x', 10, [2], { rawData: raw(Uint16Array.of(0x3c00, 0xc000)) }), 'float32', [1, -2]],
      ['half data', of('x', 10, [2], { int32Data: [0x3c00, 0xc000] }), 'float32', [1, -2]],
      ['bfloat', of('x', 16, [1], { rawData: raw(Uint16Array.of(0x4049)) }), 'float32', [3.140625]],
      ['int64', of('x', 7, [2], { rawData: raw(BigInt64Array.of(-7n, 9n)) }), 'int32', [-7, 9]],
      ['int64 data', of('x', 7, [2], { int64Data: [-7, 9] }), 'int32', [-7, 9]],
      ['int32', of('x', 6, [1, 2], { rawData: raw(Int32Array.of(-7, 9)) }), 'int32', [[-7, 9]]],
      ['int32 data', of('x', 6, [2], { int32Data: [-7, 9] }), 'int32', [-7, 9]],
      ['uint8', of('x', 2, [2], { rawData: Uint8Array.of(200, 1) }), 'int32', [200, 1]],
      ['int8', of('x', 3, [2], { int32Data: [-100, 1] }), 'int32', [-100, 1]],
      ['bool', of('x', 9, [2], { rawData: Uint8Array.of(1, 0) }), 'bool', [1, 0]],
      ['texts', of('x', 8, [2], { stringData: [Buffer.from('é'), Buffer.from('')] }), 'string', ['é', '']],
      ['a scalar', of('x', 1, [], { floatData: [4] }), 'float32', 4],
      ['nothing', of('x', 1, [0, 3], { rawData: new Uint8Array(0) }), 'float32', []],
    ];
    for (const [title, tensor, dtype, values] of cases) {
      const { x } = await emb.weights.readOnnx(fileOf(tensor));
      expect(x!.dtype)
        .withContext(title)
        .toBe(dtype as 'float32');
      expect(x!.arraySync() as unknown)
        .withContext(title)
        .toEqual(values);
      x!.dispose();
    }
  });

  it('reads those that are asked for, whatever the others are', async () => {
    const bytes = fileOf(of('odd', 17, [1], { rawData: Uint8Array.of(1) }), of('x', 1, [1], { floatData: [2] }));
    await expectRejection(() => emb.weights.readOnnx(bytes), 'ValueError', 'source', 'odd');
    const before = tf.memory().numTensors;
    await expectRejection(() => emb.weights.readOnnx(bytes, { names: ['x', 'y'] }), 'ValueError', 'names', 'y');
    await expectRejection(() => emb.weights.readOnnx(bytes, { names: 'x' as never }), 'TypeError', 'names');
    expect(tf.memory().numTensors).toBe(before);
    const { x } = await emb.weights.readOnnx(bytes, { names: ['x'] });
    expect(x!.arraySync() as unknown).toEqual([2]);
    x!.dispose();
  });

  it('refuses what no tensor has', async () => {
    const cases: OnnxTensor[] = [
      of('x', 1, [3], { rawData: raw(Float32Array.of(1, 2)) }),
      of('x', 1, [-1], { rawData: raw(Float32Array.of(1, 2)) }),
      of('x', 1, [2 ** 40, 2 ** 40], { floatData: [1] }),
      of('x', 1, [2 ** 31], { floatData: [1] }),
      of('x', 6, [2 ** 31], { int32Data: [1] }),
      of('x', 8, [2 ** 31], { stringData: [] }),
      of('x', 7, [1], { int64Data: [2 ** 40] }),
      of('x', 1, [1], { floatData: [1, 2] }),
      of('x', 6, [1], { int32Data: [1, 2] }),
      of('x', 1, [1], {}),
    ];
    for (const tensor of cases) {
      await expectRejection(() => emb.weights.readOnnx(fileOf(tensor)), 'ValueError', 'source');
    }
    const twice = of('x', 1, [1], { floatData: [1] });
    await expectRejection(() => emb.weights.readOnnx(fileOf(twice, twice)), 'ValueError', 'source');
    for (const bytes of [
      new Uint8Array(0),
      Uint8Array.of(255),
      new TextEncoder().encode('{"a": 1}'),
      Tensor.encode(twice),
    ]) {
      await expectRejection(() => emb.weights.readOnnx(bytes), 'ValueError', 'source');
    }
    await expectRejection(() => emb.weights.readOnnx(5 as never), 'TypeError', 'source');
  });

  it('reads values that lie beside, in the folder of the model and nowhere else', async () => {
    const inside = join(folder, 'inside');
    mkdirSync(join(inside, 'deep'), { recursive: true });
    writeFileSync(join(folder, 'outside.bin'), raw(Float32Array.of(9)));
    writeFileSync(join(inside, 'deep', 'x.bin'), raw(Float32Array.of(0, 1, 2)));
    symlinkSync(join(folder, 'outside.bin'), join(inside, 'link.bin'));
    const path = join(inside, 'model.onnx');
    const write = (entries: Record<string, string>): void => {
      const externalData = Object.entries(entries).map(([key, value]) => ({ key, value }));
      writeFileSync(path, fileOf(of('x', OnnxType.float32, [1], { externalData, dataLocation: EXTERNAL })));
    };
    write({ location: 'deep/x.bin', offset: '8', length: '4' });
    const { x } = await emb.weights.readOnnx(path);
    expect(x!.arraySync() as unknown).toEqual([2]);
    x!.dispose();
    const wrong: Record<string, string>[] = [
      { location: '../outside.bin' },
      { location: join(folder, 'outside.bin') },
      { location: 'deep/../../outside.bin' },
      { location: 'link.bin' },
      { location: 'none.bin' },
      { location: '' },
      {},
      { location: 'deep/x.bin', offset: '12' },
      { location: 'deep/x.bin', offset: '-4' },
      { location: 'deep/x.bin', offset: '1e3' },
      { location: 'deep/x.bin', offset: '9007199254740993' },
      { location: 'deep/x.bin', length: '8' },
    ];
    for (const entries of wrong) {
      write(entries);
      await expectRejection(() => emb.weights.readOnnx(path), 'ValueError', 'source');
    }
    // A URL has no links, and no folder above that is asked for.
    write({ location: '../outside.bin' });
    const server = await serve(folder, {});
    const url = new URL('/inside/model.onnx', server.origin);
    await expectRejection(() => emb.weights.readOnnx(url), 'ValueError', 'source');
    write({ location: 'deep/x.bin', offset: '4' });
    const { x: fetched } = await emb.weights.readOnnx(url);
    expect(fetched!.arraySync() as unknown).toEqual([1]);
    fetched!.dispose();
    await server.close();
    write({ location: 'deep/x.bin' });
    const { readFileSync } = await import('node:fs');
    await expectRejection(() => emb.weights.readOnnx(new Uint8Array(readFileSync(path))), 'ValueError', 'source');
  });

  it(`takes ${MUTATIONS} damaged files for what they are, or reads them`, async () => {
    const layer = emb.layers.embedding({
      inputDim: 20,
      outputDim: 3,
      combiner: 'mean',
      inputShape: [2],
      name: 'items',
    });
    const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 2 })] });
    const path = join(folder, 'whole.onnx');
    await emb.onnx.export(model, path);
    const { readFileSync } = await import('node:fs');
    const whole = new Uint8Array(readFileSync(path));
    const before = tf.memory().numTensors;
    const r = new Random(17);
    let refused = 0;
    for (let i = 0; i < MUTATIONS; i++) {
      let bytes = whole.slice();
      for (let n = r.whole(1, 4); n > 0; n--) {
        const at = r.whole(0, bytes.length);
        const how = r.whole(0, 10);
        if (how < 2) bytes = bytes.slice(0, at + 1);
        else if (how < 4) bytes.copyWithin(at, r.whole(0, bytes.length));
        else bytes[at] = r.chance(0.5) ? bytes[at]! ^ (1 << r.whole(0, 8)) : r.pick([0, 127, 128, 255]);
      }
      for (const read of [
        () => emb.weights.readOnnx(bytes).then(tf.dispose),
        () => emb.onnx.load(bytes).then((m) => m.dispose()),
      ]) {
        try {
          await read();
        } catch (error) {
          refused++;
          const { name, argument } = error as Error & { argument?: string };
          if (name !== 'ValueError' || (argument !== 'source' && argument !== 'bytes')) throw error;
        }
      }
      expect(tf.memory().numTensors).toBe(before);
    }
    expect(refused).toBeGreaterThan(MUTATIONS / 2);
    model.dispose();
  });
});
