/** Names of saved variables, which are the same wherever they come from; loading before variables are there and after. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { featureConfig } from '../sparse_core/batches.js';

const { tpu } = emb;

type AnyEmbedding = emb.tpu.TPUEmbedding | emb.tpu.TPUEmbeddingV2 | emb.tpu.TPUEmbeddingForServing;

const OPTIMIZERS: Record<string, [make: () => emb.tpu.TPUEmbeddingOptimizer, slots: string[]]> = {
  SGD: [() => new tpu.SGD(), []],
  Adagrad: [() => new tpu.Adagrad(), ['accumulators']],
  AdagradMomentum: [() => new tpu.AdagradMomentum(), ['accumulators', 'momenta']],
  Adam: [() => new tpu.Adam(), ['momenta', 'velocities']],
  FTRL: [() => new tpu.FTRL(), ['accumulators', 'linears']],
};

const CLASSES = {
  TPUEmbedding: (optimizer: emb.tpu.TPUEmbeddingOptimizer): AnyEmbedding =>
    new tpu.TPUEmbedding({ featureConfig: { ...featureConfig() }, optimizer }) as emb.tpu.TPUEmbedding,
  TPUEmbeddingV2: (optimizer: emb.tpu.TPUEmbeddingOptimizer): AnyEmbedding =>
    new tpu.TPUEmbeddingV2({ featureConfig: featureConfig(), optimizer }) as emb.tpu.TPUEmbeddingV2,
  TPUEmbeddingForServing: (optimizer: emb.tpu.TPUEmbeddingOptimizer): AnyEmbedding =>
    new tpu.TPUEmbeddingForServing({ featureConfig: { ...featureConfig() }, optimizer }),
};

/** Runs on four cores, and sees that no tensor is left behind there. */
const onFour = (body: () => Promise<void>): Promise<void> =>
  withTpuEmulator({ chips: 2, coresPerChip: 2 }, () => expectNoLeakAsync(body));

/** Values of all variables, tables first. */
function valuesOf(embedding: AnyEmbedding): Float32Array[] {
  const weights = embedding.getWeights();
  const values = weights.map((weight) => weight.dataSync<'float32'>().slice());
  if (embedding instanceof tpu.TPUEmbeddingV2) tf.dispose(weights);
  return values;
}

describe('Saved variables', () => {
  let folder: string;
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'names-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  for (const [name, [make, slots]] of Object.entries(OPTIMIZERS)) {
    it(`have the same names on the emulator and off it: ${name}`, async () => {
      const expected = ['a', 'b'].flatMap((table) => [`${table}.npy`, ...slots.map((slot) => `${table}.${slot}.npy`)]);
      const save = async (place: string, embedding: AnyEmbedding): Promise<void> => {
        await embedding.save(join(folder, place), { format: 'npy' });
        embedding.dispose();
        expect(readdirSync(join(folder, place)).sort())
          .withContext(place)
          .toEqual(expected.sort());
      };
      await onFour(async () => {
        await save('v1', CLASSES.TPUEmbedding(make()));
        await save('v2', CLASSES.TPUEmbeddingV2(make()));
      });
      await expectNoLeakAsync(async () => {
        await save('v1_off', CLASSES.TPUEmbedding(make()));
        await save('serving', CLASSES.TPUEmbeddingForServing(make()));
      });
    });
  }

  for (const [name, make] of Object.entries(CLASSES)) {
    it(`are loaded before ${name} has variables, and into those that it has`, async () => {
      await expectNoLeakAsync(async () => {
        const source = CLASSES.TPUEmbeddingForServing(new tpu.Adagrad({ initialAccumulatorValue: 0.5 }));
        for (const format of ['tfjs', 'npy'] as const) await source.save(join(folder, format), { format });
        const saved = valuesOf(source);
        source.dispose();
        const loadTwice = async (): Promise<void> => {
          for (const format of ['tfjs', 'npy']) {
            const embedding = make(new tpu.Adagrad());
            await embedding.load(join(folder, format));
            expect(valuesOf(embedding)).withContext(format).toEqual(saved);
            embedding.setWeights(saved.map((values) => values.map(() => 2)));
            expect(valuesOf(embedding)[3]![0]).toBe(2);
            await embedding.load(join(folder, format));
            expect(valuesOf(embedding)).withContext(format).toEqual(saved);
            embedding.dispose();
          }
        };
        await (name === 'TPUEmbeddingForServing' ? loadTwice() : onFour(loadTwice));
      });
    });
  }
});
