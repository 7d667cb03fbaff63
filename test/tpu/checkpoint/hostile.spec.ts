/** Checkpoints that are damaged or are others' change nothing, and the error says what is wrong. */
import { cpSync, mkdtempSync, readdirSync, rmSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { npyHeaderBytes } from '../../../src/io/npy_writer.js';
import { saveVariables, type SavedVariable } from '../../../src/tpu/checkpoint/checkpoint.js';
import { expectRejection } from '../../helpers/errors.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';

const { tpu } = emb;

type AnyEmbedding = emb.tpu.TPUEmbedding | emb.tpu.TPUEmbeddingV2;
const [ROWS, DIM] = [6, 3];
const BYTES = 4 * ROWS * DIM;

function make(version: 1 | 2): AnyEmbedding {
  const initializer = new tpu.RowIdInitializer();
  const table = new tpu.TableConfig({ vocabularySize: ROWS, dim: DIM, name: 'a', initializer });
  const featureConfig = { seen: new tpu.FeatureConfig({ table, outputShape: [4] }) };
  const optimizer = new tpu.Adagrad();
  return version === 1
    ? (new tpu.TPUEmbedding({ featureConfig, optimizer }) as emb.tpu.TPUEmbedding)
    : (new tpu.TPUEmbeddingV2({ featureConfig, optimizer }) as emb.tpu.TPUEmbeddingV2);
}

function valuesOf(embedding: AnyEmbedding): number[][] {
  const weights = embedding.getWeights();
  const values = weights.map((weight) => [...weight.dataSync()]);
  if (embedding instanceof tpu.TPUEmbeddingV2) tf.dispose(weights);
  return values;
}

const FRESH = [
  Array.from({ length: ROWS * DIM }, (_, i) => Math.floor(i / DIM)),
  new Array<number>(ROWS * DIM).fill(Math.fround(0.1)),
];

/** What is done to a checkpoint, the argument that the error names, and what it tells. */
type Damage = readonly [
  what: string,
  format: 'npy' | 'tfjs',
  harm: (folder: string) => void,
  argument: string,
  told: RegExp,
];

const npy = (shape: number[], descr: string, bytes: number): Uint8Array =>
  Buffer.concat([npyHeaderBytes(shape, descr), new Uint8Array(bytes)]);
const slot = 'a.accumulators.npy';
const weightsFile = (folder: string): string =>
  join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.bin'))!,
  );
const json = (text: string) => (folder: string) => writeFileSync(join(folder, 'model.json'), text);

const DAMAGES: readonly Damage[] = [
  ['no table', 'npy', (f) => unlinkSync(join(f, 'a.npy')), 'path', /model\.json/],
  ['no slot', 'npy', (f) => unlinkSync(join(f, slot)), 'a/accumulators', /accumulators\.npy/],
  [
    'a slot of another shape',
    'npy',
    (f) => writeFileSync(join(f, slot), npy([DIM, ROWS], '<f4', BYTES)),
    'a/accumulators',
    /\[3, 6\]/,
  ],
  [
    'a slot of three axes',
    'npy',
    (f) => writeFileSync(join(f, slot), npy([2, 3, 3], '<f4', BYTES)),
    'a/accumulators',
    /2, 3, 3/,
  ],
  ['whole numbers', 'npy', (f) => writeFileSync(join(f, slot), npy([ROWS, DIM], '<i4', BYTES)), 'a/accumulators', /i4/],
  ['a slot that ends early', 'npy', (f) => truncateSync(join(f, slot), 150), 'a/accumulators', /holds 22/],
  ['a slot that is another file', 'npy', (f) => writeFileSync(join(f, slot), 'text'), 'a/accumulators', /begins with/],
  ['an empty folder', 'npy', (f) => readdirSync(f).forEach((name) => unlinkSync(join(f, name))), 'path', /model\.json/],
  ['weights that end early', 'tfjs', (f) => truncateSync(weightsFile(f), 10), 'path', /holds 10/],
  ['no weights', 'tfjs', (f) => unlinkSync(weightsFile(f)), 'path', /bin/],
  ['half a model.json', 'tfjs', json('{"modelTopology":'), 'path', /none/],
  ['a list as model.json', 'tfjs', json('[]'), 'path', /\[\]/],
  ['no variables', 'tfjs', json('{"modelTopology":{},"weightsManifest":[]}'), 'a', /none in/],
];

describe('Damaged checkpoints', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'hostile-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  for (const version of [1, 2] as const) {
    it(`of TPUEmbedding${version === 2 ? 'V2' : ''} are refused and change nothing, before build and after`, async () => {
      await withTpuEmulator({ chips: 2, coresPerChip: 2 }, async () => {
        const source = make(version);
        source.setWeights(FRESH.map((values) => Float32Array.from(values, (value) => value + 1)));
        await source.save(join(folder, 'npy'), { format: 'npy' });
        await source.save(join(folder, 'tfjs'));
        source.dispose();
        for (const [what, format, harm, argument, told] of DAMAGES) {
          const copy = join(folder, what);
          cpSync(join(folder, format), copy, { recursive: true });
          harm(copy);
          for (const isBuilt of [false, true]) {
            await expectNoLeakAsync(async () => {
              const embedding = make(version);
              if (isBuilt) embedding.build();
              await expectRejection(() => embedding.load(copy), 'ValueError', argument, told);
              expect(valuesOf(embedding)).withContext(what).toEqual(FRESH);
              embedding.dispose();
            });
          }
        }
      });
    });
  }

  it('are not those with NaN and infinities, which come back as they are', async () => {
    const odd = Float32Array.from({ length: ROWS * DIM }, (_, i) => [NaN, Infinity, -Infinity, -0][i % 4]!);
    await withTpuEmulator({ chips: 1, coresPerChip: 2 }, async () => {
      for (const version of [1, 2] as const) {
        for (const format of ['npy', 'tfjs'] as const) {
          const [from, to] = [make(version), make(version === 1 ? 2 : 1)];
          from.setWeights([odd]);
          const place = join(folder, `${version} ${format}`);
          await from.save(place, { format });
          from.dispose();
          await to.load(place);
          expect(valuesOf(to)[0]).toEqual([...odd]);
          to.dispose();
        }
      }
    });
  });

  it('leave no tensor behind where a variable cannot be read', async () => {
    const rows = (read: () => Float32Array): SavedVariable['variable'] => ({ shape: [2, 2], read, write: () => {} });
    const lost = (): never => {
      throw new emb.RuntimeError('device', 'a device that answers', 'none');
    };
    const variables = [
      { name: 'a', variable: rows(() => new Float32Array(4)) },
      { name: 'b', variable: rows(lost) },
    ];
    for (const format of ['npy', 'tfjs'] as const) {
      const save = (): Promise<void> => saveVariables(variables, join(folder, format), { format });
      await expectNoLeakAsync(() => expectRejection(save, 'RuntimeError', 'device', 'none'));
    }
  });
});
