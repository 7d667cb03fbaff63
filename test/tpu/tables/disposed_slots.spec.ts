/** Slots go with their tables: on devices, in stacks and on the host, also where making a later table fails. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { onCores } from '../embedding/fixture.js';

const { tpu } = emb;

const OPTIMIZERS: Readonly<Record<string, { make: () => emb.tpu.TPUEmbeddingOptimizer; slots: number }>> = {
  SGD: { make: () => new tpu.SGD(), slots: 0 },
  Adagrad: { make: () => new tpu.Adagrad(), slots: 1 },
  Adam: { make: () => new tpu.Adam(), slots: 2 },
  FTRL: { make: () => new tpu.FTRL(), slots: 2 },
  AdagradMomentum: { make: () => new tpu.AdagradMomentum(), slots: 2 },
};

function features(optimizer: emb.tpu.TPUEmbeddingOptimizer, last: object = {}): emb.tpu.FeatureConfig[] {
  return ['a', 'b', 'c'].map((name) => {
    const more = name === 'c' ? last : {};
    const table = new tpu.TableConfig({ vocabularySize: 16, dim: 8, name, optimizer, ...more });
    return new tpu.FeatureConfig({ table, outputShape: [2] });
  });
}

/** Bytes on the devices, of tables and of slots. */
function onDevices(): { tables: number; slots: number } {
  const { devices } = emb.tpuEmulator().counters();
  const sum = (of: 'tables' | 'slots'): number => devices.reduce((total, { memory }) => total + memory[of], 0);
  return { tables: sum('tables'), slots: sum('slots') };
}

const TABLES = 3 * 16 * 8 * 4;

for (const [name, { make, slots }] of Object.entries(OPTIMIZERS)) {
  describe(`slots of ${name}`, () => {
    for (const version of [1, 2]) {
      it(`are freed by TPUEmbedding${version === 1 ? '' : 'V2'}.dispose`, async () => {
        await onCores(2, () => {
          const optimizer = make();
          const args = { featureConfig: features(optimizer), optimizer };
          for (let time = 0; time < 2; time++) {
            const embedding = version === 1 ? new tpu.TPUEmbedding(args) : new tpu.TPUEmbeddingV2(args);
            embedding.build();
            expect(onDevices()).toEqual({ tables: TABLES, slots: slots * TABLES });
            embedding.dispose();
            expect(onDevices()).toEqual({ tables: 0, slots: 0 });
          }
        });
      });
    }

    it('are freed where there are no devices', () => {
      const before = tf.memory().numTensors;
      const optimizer = make();
      const embedding = new tpu.TPUEmbedding({ featureConfig: features(optimizer), optimizer });
      embedding.build();
      expect(tf.memory().numTensors).toBe(before + 3 * (1 + slots));
      embedding.dispose();
      expect(tf.memory().numTensors).toBe(before);
    });

    it('are freed where a later table cannot be made', async () => {
      await onCores(2, () => {
        const optimizer = make();
        const initializer = (): tf.Tensor => {
          throw new Error('no values');
        };
        const embedding = new tpu.TPUEmbedding({ featureConfig: features(optimizer, { initializer }), optimizer });
        expect(() => embedding.build()).toThrowError(/no values/);
        expect(onDevices()).toEqual({ tables: 0, slots: 0 });
        embedding.dispose();
      });
    });
  });
}
