// runner: servers
/** Rows that changed since a checkpoint, and copies elsewhere that get them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { newClusterName, withCluster } from '../../helpers/servers/cluster.js';
import { ServerProcess } from '../../helpers/servers/server_process.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { CheckpointModel, CUTS, SIZES, type Cut } from './checkpoint_model.js';

const ALL_CUTS = Object.keys(CUTS) as Cut[];
const NAMES = SIZES.map((_, i) => `tables/t${i}/embeddings`);

type Bits = readonly Int32Array[];

/** The bits of all tables. */
const bitsOf = (model: CheckpointModel): Bits =>
  model.layer.getWeights().map((table) => new Int32Array(table.dataSync().slice().buffer));

describe('Deltas of a cluster', () => {
  let servers: ServerProcess[] = [];
  let folder = '';

  beforeAll(async () => {
    servers = await Promise.all([ServerProcess.start(), ServerProcess.start(), ServerProcess.start()]);
    await import('@tensorflow/tfjs-node');
    await import('@tensorflow/tfjs-backend-wasm');
    folder = mkdtempSync(join(tmpdir(), 'deltas-'));
  }, 120_000);
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.end()));
    rmSync(folder, { recursive: true, force: true });
  });

  const path = (name: string): string => join(folder, name);
  const on = <T>(count: number, body: () => Promise<T>, args: emb.ConnectClusterArgs = {}): Promise<T> =>
    withCluster(servers.slice(0, count), args, () => expectNoLeakAsync(body));

  /** Runs on a backend of this process, then goes back. */
  async function onBackend<T>(name: string, body: () => Promise<T>): Promise<T> {
    const before = tf.getBackend();
    await tf.setBackend(name);
    try {
      return await expectNoLeakAsync(body);
    } finally {
      await tf.setBackend(before);
    }
  }

  /** A model whose tables have some bits. */
  function copyOf(bits: Bits, cut: Cut): CheckpointModel {
    const model = new CheckpointModel(cut, 'sgd');
    const tables = bits.map((table, i) => tf.tensor2d(new Float32Array(table.buffer), [...SIZES[i]!]));
    model.layer.setWeights(tables);
    tf.dispose(tables);
    return model;
  }

  /** Saves, trains, and writes what changed; the bits before and after. */
  async function changed(cut: Cut, name: string): Promise<{ base: Bits; result: Bits; rows: readonly number[] }> {
    const model = new CheckpointModel(cut, 'sgd');
    await model.train(1, 2);
    await emb.cluster().save(path(name));
    const base = bitsOf(model);
    await model.train(3, 4);
    const result = bitsOf(model);
    const { file, tables } = await emb.cluster().deltas({ since: path(name), file: path(`${name}.safetensors`) });
    expect(file).toBe(path(`${name}.safetensors`));
    model.dispose();
    return { base, result, rows: NAMES.map((table) => tables[table]!) };
  }

  /** How many rows have other bits. */
  function differing(base: Bits, result: Bits): number[] {
    return SIZES.map(([rows, columns], t) => {
      const row = (bits: Bits, id: number): string => bits[t]!.subarray(id * columns, (id + 1) * columns).join();
      return Array.from({ length: rows }, (_, id) => id).filter((id) => row(base, id) !== row(result, id)).length;
    });
  }

  for (const cut of ALL_CUTS) {
    it(`of ${cut} bring copies under any plan up to date, to the bit`, async () => {
      const { base, result, rows } = await on(2, () => changed(cut, cut));
      expect(rows).toEqual(differing(base, result));
      expect(rows[0]).toBe(4);
      const check = async (other: Cut): Promise<void> => {
        const copy = copyOf(base, other);
        const written = await emb.weights.applyDelta(copy.model, path(`${cut}.safetensors`));
        expect(NAMES.map((name) => written[name]!)).toEqual([...rows]);
        expect(bitsOf(copy))
          .withContext(`${cut} to ${other}`)
          .toEqual([...result]);
        // Once more, nothing is left to do.
        const again = await emb.weights.applyDelta(copy.model, readFileSync(path(`${cut}.safetensors`)));
        expect(Object.values(again)).toEqual([0, 0, 0]);
        copy.dispose();
      };
      for (const backend of ['cpu', 'wasm', 'tensorflow']) await onBackend(backend, () => check('whole'));
      for (const other of ALL_CUTS) {
        await withTpuEmulator({ chips: 3 }, () => check(other));
        await on(3, () => check(other));
      }
    }, 60_000);
  }

  it('follow each other, in their order alone', async () => {
    const { states, files } = await on(2, async () => {
      const model = new CheckpointModel('ranges', 'adagrad');
      const states: Bits[] = [];
      const files: string[] = [];
      for (const step of [0, 1, 2]) {
        if (step > 0) {
          await model.train(2 * step, 2 * step + 1);
          const since = path(`chain-${step - 1}`);
          files.push((await emb.cluster().deltas({ since, file: path(`chain-${step}.safetensors`) })).file);
        }
        await emb.cluster().save(path(`chain-${step}`));
        states.push(bitsOf(model));
      }
      model.dispose();
      return { states, files };
    });
    await onBackend('cpu', async () => {
      const copy = copyOf(states[0]!, 'whole');
      const apply = (file: string): Promise<unknown> => emb.weights.applyDelta(copy.model, file);
      const refused = async (file: string): Promise<void> => {
        const before = bitsOf(copy);
        await expectAsync(apply(file)).toBeRejectedWithError(
          emb.ValueError,
          /`model`: expected a table tables\/t0\/embeddings with checksum [0-9a-f]{16}, which .* received one with/,
        );
        expect(bitsOf(copy)).toEqual(before);
      };
      await refused(files[1]!);
      await apply(files[0]!);
      expect(bitsOf(copy)).toEqual([...states[1]!]);
      await apply(files[1]!);
      expect(bitsOf(copy)).toEqual([...states[2]!]);
      await refused(files[0]!);
      copy.dispose();
    });
  }, 60_000);

  it('tell a base in which rows changed places, or one bit', async () => {
    const { base } = await on(2, () => changed('modulo', 'places'));
    await onBackend('cpu', async () => {
      for (const change of [
        (bits: Int32Array) => bits.set([...bits.subarray(4, 8), ...bits.subarray(0, 4)]),
        (bits: Int32Array) => bits.set([bits[0]! ^ 1]),
        (bits: Int32Array) => bits.set([bits.at(-1)! ^ (1 << 31)], bits.length - 1),
      ]) {
        const other = base.map((table) => table.slice());
        change(other[0]!);
        const copy = copyOf(other, 'whole');
        const applied = emb.weights.applyDelta(copy.model, path('places.safetensors'));
        await expectAsync(applied).toBeRejectedWithError(emb.ValueError, /checksum/);
        expect(bitsOf(copy)).toEqual(other);
        copy.dispose();
      }
    });
  });

  it('hold no row where nothing changed, the first and the last one where they did', async () => {
    await on(2, async () => {
      const model = new CheckpointModel('columns', 'sgd');
      await emb.cluster().save(path('still'));
      const none = await emb.cluster().deltas({ since: path('still'), file: path('none.safetensors') });
      expect(Object.values(none.tables)).toEqual([0, 0, 0]);
      const base = bitsOf(model);
      const tables = model.layer.getWeights().map((table) => {
        const [rows, columns] = table.shape as [number, number];
        const values = table.dataSync<'float32'>().slice();
        values[0] = NaN;
        values[rows * columns - 1] = -0;
        return tf.tensor2d(values, [rows, columns]);
      });
      model.layer.setWeights(tables);
      tf.dispose(tables);
      const ends = await emb.cluster().deltas({ since: path('still'), file: path('ends.safetensors') });
      expect(Object.values(ends.tables)).toEqual([2, 2, 2]);
      const result = bitsOf(model);
      const copy = copyOf(base, 'modulo'); // under the same names, where nobody else sees it
      model.dispose();
      await emb.weights.applyDelta(copy.model, path('none.safetensors'));
      expect(bitsOf(copy)).toEqual(base);
      await emb.weights.applyDelta(copy.model, path('ends.safetensors'));
      expect(bitsOf(copy)).toEqual(result);
      copy.dispose();
    });
  });

  it('hold all rows that an optimizer moves, and come to clients that only look up', async () => {
    const name = newClusterName();
    await withCluster(servers, { name }, async () => {
      const model = new CheckpointModel('ranges', 'denseAdam');
      await model.train(1, 2, 3);
      await emb.cluster().save(path('idle'));
      await model.train(10);
      bitsOf(model); // the last step has ended
    });
    await withCluster(servers, { name, tables: 'readOnly' }, async () => {
      const model = new CheckpointModel('ranges', 'sgd');
      const { tables } = await emb.cluster().deltas({ since: path('idle'), file: path('idle.safetensors') });
      // Those of earlier steps still move.
      expect(tables[NAMES[0]!]).toBeGreaterThan(4);
      model.dispose();
    });
  });

  it('are refused where arguments, files or tables do not fit', async () => {
    await on(2, async () => {
      await changed('ranges', 'fits');
      const model = new CheckpointModel('ranges', 'sgd');
      const deltas = (args: unknown): Promise<unknown> => emb.cluster().deltas(args as emb.DeltasArgs);
      const file = path('bad.safetensors');
      await expectAsync(deltas({ file })).toBeRejectedWithError(TypeError, /since/);
      await expectAsync(deltas({ since: path('fits') })).toBeRejectedWithError(TypeError, /file/);
      await expectAsync(deltas({ since: path('fits'), file: '' })).toBeRejectedWithError(emb.ValueError, /file/);
      await expectAsync(deltas(null)).toBeRejectedWithError(TypeError, /args/);
      await expectAsync(deltas({ since: path('fits'), file, until: 1 })).toBeRejectedWithError(emb.ValueError, /until/);
      await expectAsync(deltas({ since: path('nothing'), file })).toBeRejectedWithError(
        emb.ValueError,
        /`since`: expected a checkpoint that .* received .*nothing, of which server/,
      );
      await expectAsync(deltas({ since: path('fits'), file: path('no/such/x') })).toBeRejectedWithError(
        emb.RuntimeError,
        /no\/such/,
      );
      model.dispose();
      const other = new CheckpointModel('ranges', 'sgd', [[24, 4], ...SIZES.slice(1)]);
      await expectAsync(deltas({ since: path('fits'), file })).toBeRejectedWithError(
        emb.ValueError,
        /`since`: expected .*\[24, 4\]/,
      );
      other.dispose();
    });
    await onBackend('cpu', async () => {
      const given = readFileSync(path('fits.safetensors'));
      const apply = (model: tf.LayersModel, file: unknown): Promise<unknown> =>
        emb.weights.applyDelta(model, file as string);
      const model = new CheckpointModel('whole', 'sgd');
      await expectAsync(apply({} as tf.LayersModel, given)).toBeRejectedWithError(TypeError, /model/);
      await expectAsync(apply(model.model, 7)).toBeRejectedWithError(TypeError, /source/);
      await expectAsync(apply(model.model, path('none at all'))).toBeRejected();
      const plain = path('plain.safetensors');
      await emb.weights.writeSafetensors(plain, { a: model.layer.getWeights()[0]! });
      await expectAsync(apply(model.model, plain)).toBeRejectedWithError(emb.ValueError, /no tfjs_embeddings_delta/);
      model.dispose();
      const wide = new CheckpointModel('whole', 'sgd', [[23, 5], ...SIZES.slice(1)]);
      await expectAsync(apply(wide.model, given)).toBeRejectedWithError(
        emb.ValueError,
        /float32 \[23, 4\] for tables\/t0\/embeddings, received float32 \[23, 5\]/,
      );
      wide.dispose();
      const few = new CheckpointModel('whole', 'sgd', SIZES.slice(0, 2));
      await expectAsync(apply(few.model, given)).toBeRejectedWithError(emb.ValueError, /tables\/t2\/embeddings/);
      few.dispose();
    });
  });

  it('are refused, and nothing is written, where the file is damaged', async () => {
    const { base } = await on(2, () => changed('columns', 'damaged'));
    const given = readFileSync(path('damaged.safetensors'));
    const header = Number(given.readBigUInt64LE(0));
    const text = given.subarray(8, 8 + header).toString();
    const withHeader = (change: (words: string) => string): Buffer => {
      const changed = Buffer.from(change(text).padEnd(header));
      expect(changed.length).toBe(header);
      return Buffer.concat([given.subarray(0, 8), changed, given.subarray(8 + header)]);
    };
    const flipped = Buffer.from(given);
    flipped[flipped.length - 1]! ^= 1;
    const id = Buffer.from(given);
    id.writeInt32LE(10_000, 8 + header);
    await onBackend('cpu', async () => {
      const copy = copyOf(base, 'whole');
      for (const [bytes, words] of [
        [flipped, /rows that lead to checksum .* damaged/],
        [id, /not ascending numbers below/],
        [withHeader((words) => words.replace('"version\\":1', '"version\\":2')), /a delta that emb/],
        [withHeader((words) => words.replace('.ids"', '.IDS"')), /part 0 of tables.* is not there/],
        [withHeader((words) => words.replace('\\"rows\\":23', '\\"rows\\":-3')), /whose table 0 is/],
        [given.subarray(0, given.length - 4), /source/],
      ] as const) {
        const file = path('broken.safetensors');
        writeFileSync(file, bytes);
        await expectAsync(emb.weights.applyDelta(copy.model, file)).toBeRejectedWithError(emb.ValueError, words);
        expect(bitsOf(copy)).toEqual([...base]);
      }
      copy.dispose();
    });
  });

  it('are refused by tables of other precision', async () => {
    await on(1, async () => {
      const model = new CheckpointModel('whole', 'sgd', [[5, 2]]);
      await emb.cluster().save(path('packed'));
      await emb.cluster().deltas({ since: path('packed'), file: path('packed.safetensors') });
      model.dispose();
    });
    await onBackend('cpu', async () => {
      const table = { name: 't0', inputDim: 5, outputDim: 2, combiner: 'sum' as const, storage: 'float16' as const };
      const layer = emb.layers.distributedEmbedding({ embeddings: [table], name: 'tables' });
      const input = tf.input({ shape: [1], dtype: 'int32' });
      const model = tf.model({ inputs: input, outputs: (layer.apply([input]) as tf.SymbolicTensor[])[0]! });
      await expectAsync(emb.weights.applyDelta(model, path('packed.safetensors'))).toBeRejectedWithError(
        emb.ValueError,
        /float32 \[5, 2\] for tables\/t0\/embeddings, received float16 \[5, 2\]/,
      );
      model.dispose();
    });
  });
});
