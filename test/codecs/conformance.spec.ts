/** What every codec must do: alone, in every implementation of the kernels, and in a layer. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import type { HostBags, HostStep, HostTable, KernelSet } from '../../src/backends/kernel_set.js';
import { SINGLE_ROW } from '../../src/backends/kernel_set.js';
import { referenceKernels } from '../../src/backends/reference/reference_kernel_set.js';
import { namedKernelSet } from '../../src/backends/registry.js';
import type { Codec, Words } from '../../src/codecs/codec.js';
import { CODECS, STORAGES, codecOf } from '../../src/codecs/codecs.js';
import * as emb from '../../src/node.js';
import { NEUTRAL_HYPER, packHyper } from '../../src/rules/hyper.js';
import { Random } from '../helpers/random.js';
import { expectNoLeakAsync } from '../helpers/tensors.js';

const DIMS = [1, 2, 3, 4, 5, 8, 17];
const ROWS = 11;

const emptyOf = ({ dtype }: Codec, length: number): Words =>
  dtype === 'float32' ? new Float32Array(length) : new Int32Array(length);

/** A table of numbers that the codec holds as they are. */
function tableOf(codec: Codec, dim: number, seed: number): HostTable {
  const data = emptyOf(codec, ROWS * codec.words(dim));
  codec.pack(new Random(seed).floats(ROWS * dim), dim, data);
  return { codec, data, rows: ROWS, dim };
}

const copyOf = (table: HostTable): HostTable => ({ ...table, data: table.data.slice() });
const bitsOf = ({ buffer, byteOffset, length }: Words): Int32Array => new Int32Array(buffer, byteOffset, length);

function bagsOf(seed: number): HostBags {
  const random = new Random(seed);
  const values = Int32Array.from({ length: 12 }, () => random.whole(0, ROWS));
  return { values, rowSplits: Int32Array.of(0, 3, 3, 8, 12), weights: random.floats(12) };
}

const HYPER = packHyper({ ...NEUTRAL_HYPER, learningRate: 0.1, roundingKey0: 7, roundingKey1: 1, roundingKey3: 9 });

function stepOf(table: HostTable, bags: HostBags, useStarts: Int32Array | null = null): HostStep {
  const gradient = new Random(5).floats((bags.rowSplits.length - 1) * table.dim);
  const slots = [new Float32Array(ROWS * table.dim).fill(0.1)];
  return { table, slots, gradient, bags, options: { ...SINGLE_ROW, combiner: 'mean' }, hyper: HYPER, useStarts };
}

/** Those that are there; which must be is told by the specs of each. */
function kernelSets(): KernelSet[] {
  return [referenceKernels, ...(['native', 'wasm'] as const).flatMap((name) => namedKernelSet(name) ?? [])];
}

describe('codecs', () => {
  it('are known by name, and by number where kernels run', () => {
    expect(STORAGES).toEqual(['float32', 'float16', 'int8']);
    expect(CODECS.map(({ number }) => number)).toEqual([0, 1, 2]);
    for (const codec of CODECS) expect(codecOf(codec.name)).toBe(codec);
    expect(codecOf(undefined).name).toBe('float32');
  });
});

for (const codec of CODECS) {
  describe(`the codec ${codec.name}`, () => {
    let before = '';
    beforeAll(async () => {
      await tf.ready();
      await emb.ready();
      before = tf.getBackend();
      await tf.setBackend('cpu');
    });
    afterAll(async () => {
      await tf.setBackend(before);
    });

    it('gives back what it holds, to the bit, from any row on', () => {
      for (const dim of DIMS) {
        const table = tableOf(codec, dim, dim);
        expect(table.data.length).toBe(ROWS * codec.words(dim));
        const values = codec.unpack(table.data, dim).slice();
        expect(values.length).toBe(ROWS * dim);
        const again = emptyOf(codec, table.data.length);
        for (const [first, rows] of [
          [0, 4],
          [4, 1],
          [5, ROWS - 5],
        ] as const) {
          codec.pack(values.subarray(first * dim, (first + rows) * dim), dim, again, first);
        }
        // Codes of a row that was read may be told by another scale; its numbers are the same.
        expect(codec.unpack(again, dim)).toEqual(values);
        expect(codec.firstUnpackable(values, dim)).toBeNull();
      }
    });

    it('holds no rows, and says where a number is that it cannot keep', () => {
      expect(codec.unpack(emptyOf(codec, 0), 3).length).toBe(0);
      const values = Float32Array.of(1, 2, 3, 4, 5, 3e38, -3e38, 6);
      const bad = codec.firstUnpackable(values, 4);
      if (codec.isPlain) expect(bad).toBeNull();
      else expect(bad).toEqual(jasmine.objectContaining({ row: 1, column: 1, reason: jasmine.any(String) }));
    });

    it('is looked up by every implementation as by the reference, with any number of threads', () => {
      for (const set of kernelSets()) {
        for (const threads of [1, 2]) {
          set.setThreads(threads);
          for (const dim of DIMS) {
            // Two tables in one call take another way than one.
            const lookups = [1, 2].map((seed) => {
              const options = { ...SINGLE_ROW, combiner: 'sqrtn' as const, maxNorm: seed === 2 ? 0.5 : 0 };
              return {
                table: tableOf(codec, dim, seed),
                bags: bagsOf(seed),
                options,
                pooled: new Float32Array(4 * dim),
              };
            });
            const expected = lookups.map((each) => ({ ...each, pooled: new Float32Array(4 * dim) }));
            referenceKernels.lookUp(expected);
            set.lookUp(lookups);
            lookups.forEach(({ pooled }, i) =>
              pooled.forEach((value, j) => expect(value).toBeCloseTo(expected[i]!.pooled[j]!, 4)),
            );
          }
        }
      }
    });

    it('takes steps together with tables of others as alone, or refuses them and writes nothing', () => {
      for (const set of kernelSets()) {
        for (const dim of DIMS) {
          const bags = bagsOf(3);
          const useStarts = Int32Array.of(2);
          const made = [codec, codecOf('float32'), codecOf('float16')].map((each, i) => tableOf(each, dim, i));
          if (codec.training === null) {
            const table = copyOf(made[0]!);
            if (set !== referenceKernels) {
              expect(() => set.step('adagrad', [stepOf(table, bags)])).toThrowError();
              expect(bitsOf(table.data)).toEqual(bitsOf(made[0]!.data));
            }
            continue;
          }
          const alone = made.map((table) => stepOf(copyOf(table), bags, useStarts));
          for (const step of alone) set.step('adagrad', [step]);
          const together = made.map((table) => stepOf(copyOf(table), bags, useStarts));
          set.step('adagrad', together);
          together.forEach((step, i) => {
            expect(bitsOf(step.table.data)).withContext(set.name).toEqual(bitsOf(alone[i]!.table.data));
            expect(step.slots).toEqual(alone[i]!.slots);
            expect(bitsOf(step.table.data)).not.toEqual(bitsOf(made[i]!.data));
          });
        }
      }
    });

    if (codec.training !== null) {
      it('writes no row where an id of any table of a step is out of range', () => {
        for (const set of kernelSets()) {
          const tables = [tableOf(codec, 5, 1), tableOf(codec, 5, 2)];
          const bad = { ...bagsOf(4), values: bagsOf(4).values.map((id, i) => (i === 11 ? ROWS : id)) };
          const steps = [stepOf(copyOf(tables[0]!), bagsOf(4)), stepOf(copyOf(tables[1]!), bad)];
          expect(() => set.step('adagrad', steps)).toThrowError();
          steps.forEach(({ table }, i) => expect(bitsOf(table.data)).toEqual(bitsOf(tables[i]!.data)));
        }
      });
    }

    it('grows, is saved and read to the bit, is shown as it was, and leaves nothing behind', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'codec-'));
      await expectNoLeakAsync(async () => {
        const layer = emb.layers.embedding({
          inputDim: ROWS,
          outputDim: 5,
          combiner: 'mean',
          storage: codec.name,
          seed: 3,
          inputShape: [3],
          ...(codec.training === null && { trainable: false }),
        });
        const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 1 })] });
        model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.5 }), loss: 'meanSquaredError' });
        const [ids, labels] = [tf.tensor2d([[0, 4, 10]], [1, 3], 'int32'), tf.tensor2d([[1]])];
        const shown = layer.getWeights()[0]!.clone();
        const then = [...shown.dataSync()];
        await model.trainOnBatch(ids, labels);
        expect([...shown.dataSync()]).toEqual(then);
        const now = [...layer.getWeights()[0]!.dataSync()];
        if (codec.training === null) expect(now).toEqual(then);
        else expect(now).not.toEqual(then);
        layer.extend({ rows: 2 });
        expect([...layer.getWeights()[0]!.dataSync()].slice(0, now.length)).toEqual(now);
        expect(layer.getWeights()[0]!.shape).toEqual([ROWS + 2, codec.words(5)]);
        await model.trainOnBatch(ids, labels);
        await model.save(`file://${folder}`);
        const read = await tf.loadLayersModel(`file://${join(folder, 'model.json')}`);
        const last = tf.tensor2d([[ROWS + 1, 0, 2]], [1, 3], 'int32');
        tf.tidy(() => {
          expect([...read.getWeights()[0]!.dataSync()]).toEqual([...model.getWeights()[0]!.dataSync()]);
          const [a, b] = [model, read].map((each) => (each.predict(last) as tf.Tensor).dataSync());
          expect(b).toEqual(a);
        });
        tf.dispose([shown, ids, labels, last]);
        model.optimizer.dispose();
        model.dispose();
        read.dispose();
      });
      rmSync(folder, { recursive: true });
    });
  });
}
