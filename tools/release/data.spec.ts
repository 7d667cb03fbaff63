/** Tables, checkpoints of `emb.tpu`, plans and vocabularies that earlier releases wrote are read as they were. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-node';
import * as emb from '../../src/node.js';
import { warningsWhile } from '../../test/helpers/warnings.js';
import { RELEASES, filesOf, told, type PlainTensor } from './fixtures/told.js';
import { onDevices, stepOn, tablesOf, VERSIONS } from './fixtures/tpu.mjs';
import { plain } from './fixtures/values.mjs';

interface Embedding {
  load(directory: string): Promise<void>;
  getWeights(): tf.Variable[];
  dispose(): void;
}

interface Step {
  getConfig(): object;
  apply(data: unknown): Int32Array;
  getVocabulary?(): unknown;
}

interface PreprocessingCase {
  readonly kind: 'StringLookup' | 'IntegerLookup' | 'Hashing' | 'Discretization';
  readonly config: Record<string, unknown>;
  readonly vocabulary: unknown;
  readonly data: readonly unknown[];
  readonly ids: number[];
}

interface Plans {
  readonly tables: Parameters<typeof emb.checkPlan>[1];
  readonly plans: readonly { readonly strategy: string; readonly stored: string }[];
}

const found = { tf, emb };

function expectTold(tensors: readonly tf.Tensor[], expected: readonly PlainTensor[]): void {
  expect(tensors.map((each) => plain(each))).toEqual(expected as PlainTensor[]);
}

for (const release of RELEASES) {
  const files = (...names: string[]): string => join(filesOf(release), ...names);

  describe(`data of ${release}`, () => {
    let before: number;
    beforeEach(async () => {
      await tf.setBackend('cpu');
      emb.setKernels('reference');
      before = tf.memory().numTensors;
    });
    afterEach(() => expect(tf.memory().numTensors).toBe(before));
    afterAll(() => {
      emb.setKernels('auto');
      tf.removeBackend('tpu-emulator');
    });

    it('are arrays in files of NumPy and safetensors', async () => {
      const { users, counts } = told<Record<string, PlainTensor>>(files('arrays'));
      const tables = { users: users!, counts: counts! };
      for (const [name, expected] of Object.entries(tables)) {
        const array = await emb.weights.readNpy(files('arrays', `${name}.npy`));
        expectTold([array], [expected]);
        array.dispose();
      }
      const archives = [
        await emb.weights.readNpz(files('arrays', 'tables.npz')),
        await emb.weights.readSafetensors(files('arrays', 'tables.safetensors')),
      ];
      for (const arrays of archives) {
        expect(Object.keys(arrays).sort()).toEqual(['counts', 'users']);
        expectTold([arrays['users']!, arrays['counts']!], [tables.users, tables.counts]);
        tf.dispose(arrays);
      }
    });

    it('are plans, right for their tables', () => {
      const { tables, plans } = told<Plans>(files('plans'));
      for (const { strategy, stored } of plans) {
        const plan = emb.readPlan(stored);
        expect(emb.checkPlan(plan, tables)).withContext(strategy).toEqual([]);
        // Plans of 0.1.0 have no version.
        const before = { version: 1, ...(JSON.parse(stored) as object) };
        expect(JSON.parse(JSON.stringify(plan)))
          .withContext(strategy)
          .toEqual(before);
      }
      expect(plans.length).toBe(4);
    });

    it('are configs of preprocessing, which give the same ids', () => {
      const cases = told<PreprocessingCase[]>(files('preprocessing'));
      for (const { kind, config, vocabulary, data, ids } of cases) {
        const step = emb.preprocessing[kind].fromConfig(config as never) as unknown as Step;
        expect(Array.from(step.apply(data)))
          .withContext(kind)
          .toEqual(ids);
        expect(step.getConfig()).withContext(kind).toEqual(jasmine.objectContaining(config));
        expect(step.getVocabulary?.() ?? null)
          .withContext(kind)
          .toEqual(vocabulary as object | null);
      }
      expect(new Set(cases.map(({ kind }) => kind)).size).toBe(4);
    });

    if (existsSync(files('pipeline'))) {
      it('are models with a pipeline, which takes rows to the same predictions', async () => {
        const { rows, outputs } = told<{ rows: never[]; outputs: PlainTensor }>(files('pipeline'));
        const readers = [
          () => tf.loadLayersModel(`file://${files('pipeline', 'layers', 'model.json')}`),
          async () => (await emb.savedModel.load(files('pipeline', 'saved_model'))) as tf.LayersModel,
        ];
        for (const read of readers) {
          const model = await read();
          tf.tidy(() => expectTold([model.predict(model.pipeline!.apply(rows) as never) as tf.Tensor], [outputs]));
          model.dispose();
        }
      });
    }

    for (const version of VERSIONS) {
      for (const format of ['tfjs', 'npy']) {
        for (const cores of [2, 4]) {
          it(`are tables of ${version} in the format ${format}, on ${cores} cores, which train on`, async () => {
            const { weights, later } = told<Record<string, PlainTensor[]>>(files('tpu', version));
            expect(existsSync(files('tpu', version, format))).toBe(true);
            await warningsWhile(async () => {
              await onDevices(found, cores);
              const embedding = tablesOf(found, version) as Embedding;
              await embedding.load(files('tpu', version, format));
              tf.tidy(() => expectTold(embedding.getWeights(), weights!));
              stepOn(found, version, embedding, 2);
              tf.tidy(() => expectTold(embedding.getWeights(), later!));
              embedding.dispose();
            });
          });
        }
      }
    }
  });
}
