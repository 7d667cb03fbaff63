// runner: python
/** What `emb.callbacks.tensorBoard` writes, read by TensorBoard itself. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { crc32c, maskCrc32c } from '../../src/io/checksums/crc32c.js';
import { PYTHON_TIMEOUT_MS, pythonWithTensorBoard } from '../backends/tensorflow/python_tensorflow.js';
import { describeForBackends, skipOrFail } from '../helpers/backends.js';

interface Histogram {
  readonly step: number;
  readonly num: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly limits: readonly number[];
  readonly buckets: readonly number[];
}

interface Logs {
  readonly runs: Readonly<
    Record<
      'train' | 'validation',
      {
        readonly version: number;
        readonly scalars: Readonly<Record<string, readonly (readonly [step: number, value: number])[]>>;
        readonly histograms: Readonly<Record<string, readonly Histogram[]>>;
      }
    >
  >;
  readonly projector: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    readonly rows: readonly (readonly number[])[];
    readonly labels: readonly string[];
  }[];
}

const READER = fileURLToPath(new URL('read_logs.py', import.meta.url));
const [ROWS, DIM] = [6, 3];
const RATE = 2 ** -10;
const START = Float32Array.from({ length: ROWS * DIM }, (_, i) => (i + 1) / 8);

function makeModel(): tf.LayersModel {
  const layer = emb.layers.embedding({
    inputDim: ROWS,
    outputDim: DIM,
    combiner: 'sum',
    inputShape: [2],
    name: 'items',
  });
  const model = tf.sequential({ layers: [layer as tf.layers.Layer, tf.layers.dense({ units: 1 })] });
  const table = tf.tensor2d(START, [ROWS, DIM]);
  layer.setWeights([table]);
  table.dispose();
  model.compile({ optimizer: emb.train.sgd({ learningRate: RATE }), loss: 'meanSquaredError' });
  return model;
}

const data = (): [tf.Tensor, tf.Tensor] => [
  tf.tensor2d([1, 4, 4, 1, 1, 1, 4, 4], [4, 2], 'int32'),
  tf.tensor2d([1, 2, 3, 4], [4, 1]),
];

async function fitted(args: Omit<emb.callbacks.TensorBoardArgs, 'logdir'>, logdir: string | emb.SavedModelWriter) {
  const model = makeModel();
  const [x, y] = data();
  const callbacks = emb.callbacks.tensorBoard({ logdir, ...args });
  const settings = {
    epochs: 2,
    batchSize: 2,
    shuffle: false,
    verbose: 0,
    validationData: [x, y] as [tf.Tensor, tf.Tensor],
  };
  const runs = [await model.fit(x, y, { ...settings, callbacks }), await model.fit(x, y, { ...settings, callbacks })];
  const table = Array.from(model.getWeights()[0]!.dataSync());
  model.optimizer.dispose();
  model.dispose();
  tf.dispose([x, y]);
  return { histories: runs.map(({ history }) => history as Record<string, number[]>), table };
}

describeForBackends('logs for TensorBoard', () => {
  let folder = '';
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'logs-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it(
    'tell how full open tables are, and what came and went',
    async () => {
      const python = pythonWithTensorBoard();
      if (typeof python === 'string') return skipOrFail(python);
      const table = emb.openTable({ name: 'users', outputDim: 2, capacity: 4, seed: 1, admit: { after: 2 } });
      const optimizer = emb.train.sgd({ learningRate: 0.1 });
      const layer = emb.layers.embedding({ table, combiner: 'sum', inputShape: [2] });
      const model = tf.sequential({ layers: [layer as tf.layers.Layer, tf.layers.dense({ units: 1 })] });
      model.compile({ optimizer, loss: 'meanSquaredError' });
      const y = tf.tensor2d([[1], [2]]);
      const callbacks = emb.callbacks.tensorBoard({ logdir: folder });
      const x = [
        [1, 1],
        [2, 3],
      ];
      const validationData = [x, y] as never;
      const settings = { epochs: 2, batchSize: 2, shuffle: false, verbose: 0, callbacks, validationData };
      await model.fit(x as never, y, settings);
      const { scalars } = (JSON.parse(python.run(READER, folder)) as Logs).runs.train;
      const of = (tag: string): number[] => scalars[`tables/users/${tag}`]!.map(([, value]) => value);
      expect([of('size'), of('load'), of('admitted')]).toEqual([
        [1, 3],
        [0.25, 0.75],
        [1, 3],
      ]);
      expect([of('evicted'), of('unknown_share')]).toEqual([
        [0, 0],
        [0.5, 0],
      ]);
      expect([of('probe_mean'), of('probe_max')]).toEqual([
        [1, 1],
        [1, 1],
      ]);
      model.dispose();
      optimizer.dispose();
      y.dispose();
    },
    PYTHON_TIMEOUT_MS,
  );

  it(
    'are read by TensorBoard, every record',
    async () => {
      const python = pythonWithTensorBoard();
      if (typeof python === 'string') return skipOrFail(python);
      const before = tf.memory().numTensors;
      const labels = { item: ['a', 'b', 'c "quoted"', 'd', 'é', 'f'], price: [1, 2, 3, 4, 5, 6] };
      const made = await fitted({ updateFreq: 'batch', embeddingsMetadata: { items: labels } }, folder);
      expect(tf.memory().numTensors).toBe(before);
      const { runs, projector } = JSON.parse(python.run(READER, folder)) as Logs;

      const losses = made.histories.flatMap((history) => history['loss']!);
      const ofValidation = made.histories.flatMap((history) => history['val_loss']!);
      const { scalars, histograms, version } = runs.train;
      expect(version).toBe(2);
      expect(scalars['epoch_loss']).toEqual(losses.map((_, i) => [i, jasmine.any(Number)]));
      scalars['epoch_loss']!.forEach(([, loss], i) => expect(loss).toBeCloseTo(losses[i]!, 5));
      runs.validation.scalars['epoch_loss']!.forEach(([, loss], i) => expect(loss).toBeCloseTo(ofValidation[i]!, 5));
      expect(scalars['batch_loss']!.map(([step]) => step)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      expect(scalars['epoch_learning_rate']).toEqual([0, 1, 2, 3].map((step) => [step, RATE]));

      // Rows 1 and 4 of six are looked up.
      expect(scalars['items/touched_share']!.map(([, share]) => share)).toEqual(
        new Array<number>(4).fill(Math.fround(2 / 6)),
      );
      const touched = histograms['items/touched_rows']!;
      expect(touched.map(({ step, num, min, max, sum }) => [step, num, min, max, sum])).toEqual(
        [0, 1, 2, 3].map((step) => [step, 2, 1, 4, 5]),
      );
      const norms = histograms['items/row_norms']!;
      expect(norms.length).toBe(4);
      const lengths = Array.from({ length: ROWS }, (_, row) =>
        Math.hypot(...made.table.slice(row * DIM, row * DIM + DIM)),
      );
      const last = norms.at(-1)!;
      expect(last.num).toBe(ROWS);
      expect(last.min).toBeCloseTo(Math.min(...lengths), 5);
      expect(last.max).toBeCloseTo(Math.max(...lengths), 5);
      expect(last.sum).toBeCloseTo(
        lengths.reduce((a, b) => a + b),
        4,
      );
      expect(last.buckets.reduce((a, b) => a + b)).toBe(ROWS);
      expect(last.limits.at(-1)).toBe(last.max);
      last.limits.forEach((limit, i) => {
        const below = lengths.filter((length) => Math.fround(length) <= limit * (1 + 1e-6)).length;
        expect(below).toBeGreaterThanOrEqual(last.buckets.slice(0, i + 1).reduce((a, b) => a + b));
      });

      const [shown] = projector;
      expect(projector.length).toBe(1);
      expect(shown!.name).toBe('items');
      expect(shown!.shape).toEqual([ROWS, DIM]);
      expect(shown!.rows.flat().map(Math.fround)).toEqual(made.table);
      expect(shown!.labels).toEqual(['item\tprice', 'a\t1', 'b\t2', 'c "quoted"\t3', 'd\t4', 'é\t5', 'f\t6']);
    },
    PYTHON_TIMEOUT_MS,
  );

  it('go to an object that takes files, as in a page', async () => {
    const files = new Map<string, Uint8Array[]>();
    const writer = {
      async write(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
        const parts: Uint8Array[] = [];
        files.set(path, parts);
        for await (const chunk of chunks) parts.push(chunk.slice());
      },
    };
    await fitted({ embeddingsFreq: 1, embeddingsMetadata: { items: ['a', 'b', 'c', 'd', 'e', 'f'] } }, writer);
    const names = [...files.keys()];
    // A file of events for each call of `fit`.
    expect(names.filter((name) => /^train\/events\.out\.tfevents\.\d{10}\./.test(name)).length).toBe(2);
    expect(names.filter((name) => /^validation\/events/.test(name)).length).toBe(2);
    const text = (name: string): string => new TextDecoder().decode(Buffer.concat(files.get(name)!));
    expect(text('projector/items_labels.tsv')).toBe('a\nb\nc\nd\ne\nf\n');
    expect(text('projector_config.pbtxt')).toContain('tensor_path: "projector/items.tsv"');
    const events = Buffer.concat(files.get(names.find((name) => name.startsWith('train/'))!)!);
    let [at, records] = [0, 0];
    while (at < events.length) {
      const length = Number(events.readBigUInt64LE(at));
      expect(events.readUInt32LE(at + 8)).toBe(maskCrc32c(crc32c(events.subarray(at, at + 8))));
      const bytes = events.subarray(at + 12, at + 12 + length);
      expect(events.readUInt32LE(at + 12 + length)).toBe(maskCrc32c(crc32c(bytes)));
      at += length + 16;
      records++;
    }
    expect(at).toBe(events.length);
    expect(records).toBe(3);
  });

  it('read a bounded number of rows', async () => {
    await fitted({ sampledRows: 2 }, folder);
    const files = readdirSync(join(folder, 'projector'));
    expect(files.sort()).toEqual(['items.tsv', 'items_labels.tsv']);
    const { readFileSync } = await import('node:fs');
    expect(readFileSync(join(folder, 'projector/items_labels.tsv'), 'utf8')).toBe('0\n3\n');
  });

  it('hold nothing of tables where that is not wanted', async () => {
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] });
    model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
    const [x, y] = [tf.ones([2, 2]), tf.ones([2, 1])];
    await model.fit(x, y, { verbose: 0, callbacks: emb.callbacks.tensorBoard({ logdir: folder, histogramFreq: 0 }) });
    expect(readdirSync(folder)).toEqual(['train']);
    model.optimizer.dispose();
    model.dispose();
    tf.dispose([x, y]);
  });

  it('refuse what they cannot write', async () => {
    const { tensorBoard } = emb.callbacks;
    const args = (more: object): never => ({ logdir: folder, ...more }) as never;
    expect(() => tensorBoard({} as never)).toThrowError(TypeError, /`logdir`/);
    expect(() => tensorBoard({ logdir: '' })).toThrowError(emb.ValueError, /`logdir`/);
    expect(() => tensorBoard(args({ updateFreq: 'step' }))).toThrowError(emb.ValueError, /`updateFreq`.*'step'|"step"/);
    expect(() => tensorBoard(args({ updateFreq: 0 }))).toThrowError(emb.ValueError, /`updateFreq`/);
    expect(() => tensorBoard(args({ histogramFreq: -1 }))).toThrowError(emb.ValueError, /`histogramFreq`/);
    expect(() => tensorBoard(args({ embeddingsFreq: 0.5 }))).toThrowError(emb.ValueError, /`embeddingsFreq`/);
    expect(() => tensorBoard(args({ sampledRows: 0 }))).toThrowError(emb.ValueError, /`sampledRows`/);
    expect(() => tensorBoard(args({ embeddingsMetadata: [] }))).toThrowError(TypeError, /`embeddingsMetadata`/);
    expect(() => tensorBoard(args({ logDir: folder }))).toThrowError(/logDir/);
    for (const [labels, error] of [
      [{ others: ['a'] }, /`embeddingsMetadata`: expected names of tables of the model: items/],
      [{ items: ['a'] }, /`embeddingsMetadata.items`: expected a label for each of 6 rows/],
      [{ items: ['a', 'b', 'c\td', 'e', 'f', 'g'] }, /`embeddingsMetadata.items\[2\]`/],
      [{ items: { name: [1, 2, 3, 4, 5, null] } }, /`embeddingsMetadata.items.name\[5\]`/],
    ] as const) {
      await expectAsync(fitted({ embeddingsMetadata: labels as never }, folder)).toBeRejectedWithError(error);
    }
    const file = join(folder, 'file');
    writeFileSync(file, '');
    await expectAsync(fitted({}, file)).toBeRejectedWithError(emb.RuntimeError, /`logdir`.*folder that can be written/);
  });
});
