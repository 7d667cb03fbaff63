import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { expectRejection } from '../../helpers/errors.js';
import { ROOT } from '../../helpers/project.js';

const GOLDENS = join(ROOT, 'test', 'goldens');

describe('inspect', () => {
  const folder = mkdtempSync(join(tmpdir(), 'inspect-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('says of files of Keras what loading them says', async () => {
    let seen = 0;
    const all = readdirSync(join(GOLDENS, 'keras_files')).filter((name) => /\.(keras|h5)$/.test(name));
    // Every fifth: all of them are loaded by other specs.
    const files = all.filter((_, i) => i % 5 === 0);
    for (const name of files) {
      const file = join(GOLDENS, 'keras_files', name);
      let loaded: tf.LayersModel | null = null;
      try {
        loaded = await emb.loadKerasModel(file);
      } catch {
        continue;
      }
      const held = tf.memory().numTensors;
      const found = await emb.inspect(file);
      expect(tf.memory().numTensors).withContext(name).toBe(held);
      const refused = found.layers?.filter((layer) => layer.refused !== null) ?? [];
      expect(refused).withContext(name).toEqual([]);
      const size = found.tensors.reduce((sum, { shape }) => sum + shape.reduce((all, each) => all * each, 1), 0);
      if (/^Keras/.test(found.format)) expect(size).withContext(name).toBeGreaterThanOrEqual(loaded.countParams());
      loaded.dispose();
      tf.disposeVariables();
      seen++;
    }
    expect(seen).toBeGreaterThan(3);
  });

  it('names each layer that is refused, within models too, and why', async () => {
    const layer = (class_name: string, config: object, module = 'keras.layers'): object => {
      return { class_name, module, registered_name: null, config, inbound_nodes: [] };
    };
    const inner = layer('Sequential', {
      name: 'inner',
      layers: [layer('GRUCell', { name: 'cell', units: 3 }), layer('Dense', { name: 'out', units: 1 })],
    });
    const model = {
      class_name: 'Sequential',
      config: {
        name: 'outer',
        layers: [
          layer('InputLayer', { name: 'x', batch_shape: [null, 4], dtype: 'float32' }),
          layer('Dense', { name: 'dense', units: 3, lora_rank: 2 }),
          layer('RandomFlip', { name: 'flip' }),
          inner,
        ],
      },
    };
    const json = join(folder, 'model.json');
    writeFileSync(
      json,
      JSON.stringify({ modelTopology: { keras_version: '3.15', model_config: model }, weightsManifest: [] }),
    );
    const { format, layers, tensors } = await emb.inspect(json);
    expect(format).toBe('Keras 3');
    expect(tensors).toEqual([]);
    expect(layers!.map(({ name }) => name)).toEqual(['x', 'dense', 'flip', 'inner/cell', 'inner/out']);
    const [x, dense, flip, cell, out] = layers!;
    expect([x!.refused, out!.refused]).toEqual([null, null]);
    expect(out!.exports).toBe(true);
    expect(dense!.refused).toContain('lora_rank');
    expect(flip!.refused).toContain('RandomFlip');
    expect(cell!.refused).toContain('GRUCell');
  });

  it('tells tensors of files of weights, and reads values where they are asked for', async () => {
    const rows = Array.from({ length: 50 }, (_, i) => [Math.cos(i / 10), Math.sin(i / 10), 0]);
    rows[7] = [NaN, 1, -Infinity];
    const [table, ids] = [tf.tensor2d(rows), tf.tensor1d([3, 0, 5], 'int32')];
    for (const format of ['safetensors', 'npz', 'npy'] as const) {
      const file = join(folder, `all.${format}`);
      if (format === 'safetensors') await emb.weights.writeSafetensors(file, { table, ids });
      else if (format === 'npz') await emb.weights.writeNpz(file, { table, ids });
      else await emb.weights.writeNpy(file, table);
      const before = tf.memory().numTensors;
      const plain = await emb.inspect(file);
      expect(plain.format).toBe(format === 'safetensors' ? 'safetensors' : 'NumPy');
      expect(plain.layers).toBeNull();
      const wanted = format === 'npy' ? '' : 'table';
      expect(plain.tensors[0]).toEqual({ name: wanted, dtype: 'float32', shape: [50, 3] });
      if (format !== 'npy') expect(plain.tensors[1]).toEqual({ name: 'ids', dtype: 'int32', shape: [3] });
      const { tensors } = await emb.inspect(file, { tensor: wanted, statistics: true, near: 20, count: 3 });
      const numbers = rows.flat().filter(Number.isFinite);
      const mean = numbers.reduce((a, b) => a + b) / numbers.length;
      const { statistics, near } = tensors[0]!;
      expect(statistics!.mean).toBeCloseTo(mean, 6);
      const squares = numbers.reduce((sum, x) => sum + (x - mean) ** 2, 0);
      expect(statistics!.deviation).toBeCloseTo(Math.sqrt(squares / numbers.length), 6);
      expect([statistics!.zeros, statistics!.notFinite, statistics!.max]).toEqual([50, 2, 1]);
      expect(
        near!
          .map(({ row }) => row)
          .slice(0, 2)
          .sort(),
      ).toEqual([19, 21]);
      expect(near!.length).toBe(3);
      expect(near![0]!.cosine).toBeCloseTo(Math.cos(0.1), 6);
      expect(tf.memory().numTensors).toBe(before);
    }
    const file = join(folder, 'all.safetensors');
    await expectRejection(() => emb.inspect(file, { tensor: 'tables' }), 'ValueError', 'tensor');
    await expectRejection(() => emb.inspect(file, { near: 1 }), 'ValueError', 'tensor');
    await expectRejection(() => emb.inspect(file, { tensor: 'ids', near: 1 }), 'ValueError', 'tensor');
    await expectRejection(() => emb.inspect(file, { tensor: 'table', near: 50 }), 'ValueError', 'near');
    await expectRejection(() => emb.inspect(file, { near: -1 }), 'ValueError', 'near');
    await expectRejection(() => emb.inspect(join(folder, 'none')), 'ValueError', 'source');
    await expectRejection(() => emb.inspect(5 as never), 'TypeError', 'source');
    writeFileSync(join(folder, 'junk'), 'no file of weights, whatever it is');
    await expectRejection(() => emb.inspect(join(folder, 'junk')), 'ValueError', 'source');
    tf.dispose([table, ids]);
  });

  it('tells weights of models that TensorFlow.js wrote, and of files that Keras wrote without a model', async () => {
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 2, inputShape: [3], name: 'out' })] });
    await model.save(`file://${join(folder, 'own')}`);
    const { format, tensors } = await emb.inspect(join(folder, 'own', 'model.json'), { statistics: true });
    expect(format).toBe('TensorFlow.js');
    expect(tensors.map(({ name, shape }) => [name, shape])).toEqual([
      ['out/kernel', [3, 2]],
      ['out/bias', [2]],
    ]);
    expect(tensors[1]!.statistics!.zeros).toBe(2);
    model.dispose();
    expect(readFileSync(join(folder, 'own', 'model.json'), 'utf8').length).toBeGreaterThan(0);
  });
});
