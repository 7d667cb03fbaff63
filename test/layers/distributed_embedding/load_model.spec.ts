/** Saved models under other devices: numbers of them, memory, and plans that are given. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { currentBackend } from '../../../src/backends/registry.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { expectClose, useCpu } from '../setup.js';

/** Tables of 32 kB and 3.2 kB, whose slots take as much again. */
const TABLES = [
  { name: 'users', inputDim: 1000, outputDim: 8, combiner: 'sum' },
  { name: 'items', inputDim: 100, outputDim: 8, combiner: 'mean' },
] as const;
const PLAN_TABLES = TABLES.map((table) => ({ ...table, initializer: null }));
const IDS = [
  [1, 999, 7, 7],
  [50, 3, 0, 99],
];

type Plan = ReturnType<typeof emb.planEmbedding>;

/** A plan with whole tables, for so many devices. */
function wholePlan(worldSize: number): Plan {
  return emb.planEmbedding({ tables: PLAN_TABLES as never, worldSize, strategy: 'basic' });
}

function made(plan: Plan | null, names = ['tables']): tf.LayersModel {
  const inputs = TABLES.map(({ name }) => tf.input({ shape: [1], dtype: 'int32', name: `${name}_ids` }));
  const rows = names.flatMap((name) => {
    return emb.layers.distributedEmbedding({ name, embeddings: [...TABLES], seed: 3, plan } as never).apply(inputs);
  }) as tf.SymbolicTensor[];
  return tf.model({ inputs, outputs: tf.layers.dense({ units: 1, name: 'score', kernelInitializer: 'ones' }).apply(tf.layers.concatenate().apply(rows)) as tf.SymbolicTensor }); // prettier-ignore
}

async function saved(model: tf.LayersModel): Promise<tf.io.IOHandler> {
  let kept: tf.io.ModelArtifacts | null = null;
  await model.save(
    tf.io.withSaveHandler((artifacts) => {
      kept = artifacts;
      return Promise.resolve({ modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } });
    }),
  );
  // The same object each time: a load must not change it.
  return { load: () => Promise.resolve(kept!) };
}

/** What is predicted, then predicted after two steps. */
async function numbersOf(model: tf.LayersModel): Promise<number[]> {
  const ids = IDS.map((each) => tf.tensor2d(each, [4, 1], 'int32'));
  const targets = tf.tensor2d([1, 0, 2, -1], [4, 1]);
  const optimizer = emb.train.adagrad({ learningRate: 0.1 });
  const predict = (): number[] => tf.tidy(() => Array.from((model.predict(ids) as tf.Tensor).dataSync()));
  const before = predict();
  model.compile({ optimizer, loss: 'meanSquaredError' });
  for (let step = 0; step < 2; step++) await model.trainOnBatch(ids, targets);
  const numbers = [...before, ...predict()];
  tf.dispose([ids, targets]);
  optimizer.dispose();
  return numbers;
}

const layerOf = (model: tf.LayersModel, name = 'tables'): emb.DistributedEmbedding => {
  return model.getLayer(name) as emb.DistributedEmbedding;
};

/** Devices on which each table lies. */
function placesOf(layer: emb.DistributedEmbedding): number[] {
  const { devices } = currentBackend().store;
  return layer.weights.map((weight) => {
    const layout = devices!.layoutOf(weight.read()) as { shards?: readonly unknown[] } | null;
    return layout?.shards?.length ?? 0;
  });
}

describe('loadLayersModel under other devices', () => {
  const warnings = (): string => (console.warn as jasmine.Spy).calls.allArgs().join(' ');
  let before = 0;
  let wanted: number[];
  let free: tf.io.IOHandler;
  let forced: tf.io.IOHandler;

  beforeAll(async () => {
    await useCpu();
    const model = made(null);
    free = await saved(model);
    wanted = await numbersOf(model);
    model.dispose();
    await withTpuEmulator({ chips: 2 }, async () => {
      const whole = made(wholePlan(2));
      tf.dispose(whole.predict(IDS.map(() => tf.zeros([4, 1], 'int32'))));
      forced = await saved(whole);
      expect(placesOf(layerOf(whole))).toEqual([1, 1]);
      whole.dispose();
    });
  });
  beforeEach(() => {
    before = tf.memory().numTensors;
    spyOn(console, 'warn');
  });
  afterEach(() => expect(tf.memory().numTensors).toBe(before));

  /** Loads, compares with what the model gives on one device, and says what plan it has. */
  async function plannedOn(
    machine: { chips: number; hbmBytesPerChip?: number },
    source: tf.io.IOHandler,
    options?: emb.LoadLayersModelOptions,
  ): Promise<{ plan: Plan; places: number[] }> {
    return withTpuEmulator(machine, async () => {
      const model = await emb.loadLayersModel(source, options);
      const numbers = await numbersOf(model);
      expectClose(numbers, wanted, 1e-5);
      const layer = layerOf(model);
      const found = { plan: layer.plan!, places: placesOf(layer) };
      model.dispose();
      return found;
    });
  }

  for (const chips of [1, 2, 3, 5]) {
    it(`plans anew, with and without a saved plan: ${chips} devices`, async () => {
      for (const source of [free, forced]) {
        const { plan } = await plannedOn({ chips }, source);
        expect(plan.ranks.length).toBe(chips);
      }
      if (chips === 2) expect(warnings()).not.toContain('not followed');
      else expect(warnings()).toMatch(new RegExp(`plan for 2 devices is not followed on ${chips}`));
    });
  }

  it('follows no saved plan for which as many devices have no room, and says so', async () => {
    const whole = await plannedOn({ chips: 2, hbmBytesPerChip: 200_000 }, forced);
    expect(whole.places).toEqual([1, 1]);
    expect(warnings()).not.toContain('not followed');
    // The larger table fits, and not with a slot.
    const cut = await plannedOn({ chips: 2, hbmBytesPerChip: 50_000 }, forced);
    expect(cut.places[0]).toBe(2);
    expect(warnings()).toMatch(/plan with 32000 bytes on a device.*not followed/);
    // More devices of little memory, and back to one of much.
    const small = await plannedOn({ chips: 8, hbmBytesPerChip: 20_000 }, forced);
    expect(small.places[0]).toBeGreaterThan(3);
    const large = await plannedOn({ chips: 1, hbmBytesPerChip: 1_000_000 }, forced);
    expect(large.places).toEqual([1, 1]);
  });

  it('follows the plan that is given, or refuses it by name', async () => {
    const cut = emb.planEmbedding({ tables: PLAN_TABLES as never, worldSize: 4, columnSliceThreshold: 9000 });
    for (const plan of [cut, JSON.stringify(cut), { tables: cut }]) {
      for (const source of [free, forced]) {
        const found = await plannedOn({ chips: 4 }, source, { plan } as never);
        expect(JSON.stringify(found.plan)).toBe(JSON.stringify(cut));
      }
    }
    expect(warnings()).toBe('');
    // null: no plan but the planner's.
    const { plan } = await plannedOn({ chips: 2, hbmBytesPerChip: 1_000_000 }, forced, { plan: null });
    expect(plan.ranks.length).toBe(2);
    const refused = (machine: { chips: number; hbmBytesPerChip?: number }): Promise<unknown> => {
      return withTpuEmulator(machine, async () => {
        const model = await emb.loadLayersModel(free, { plan: cut });
        model.dispose();
      });
    };
    await expectAsync(refused({ chips: 3 })).toBeRejectedWithError(/`plan`.*3 devices.*one for 4/);
    await expectAsync(refused({ chips: 4, hbmBytesPerChip: 6000 })).toBeRejectedWithError(/`plan`.*memory of each/);
  });

  it('keeps a given plan when the model is saved again, as one of that machine', async () => {
    const plan = emb.planEmbedding({ tables: PLAN_TABLES as never, worldSize: 4, columnSliceThreshold: 9000 });
    const again = await withTpuEmulator({ chips: 4 }, async () => {
      const model = await emb.loadLayersModel(free, { plan });
      const source = await saved(model);
      model.dispose();
      return source;
    });
    const same = await plannedOn({ chips: 4 }, again);
    expect(JSON.stringify(same.plan)).toBe(JSON.stringify(plan));
    expect((await plannedOn({ chips: 3 }, again)).plan.ranks.length).toBe(3);
    expect(warnings()).toContain('plan for 4 devices is not followed on 3');
  });

  it('cuts tables from the size on that is given, whatever was saved', async () => {
    for (const source of [free, forced]) {
      const cut = await plannedOn({ chips: 4 }, source, { columnSliceThreshold: 5000 });
      expect(cut.places[0]).toBeGreaterThan(1);
      const whole = await plannedOn({ chips: 2 }, source, { columnSliceThreshold: 9000 });
      expect(whole.places).toEqual([1, 1]);
    }
    const { places } = await plannedOn({ chips: 2 }, free, { columnSliceThreshold: null });
    expect(places).toEqual([1, 1]);
  });

  it('takes plans by the names of layers where there are several', async () => {
    const model = made(null, ['one', 'two']);
    const source = await saved(model);
    model.dispose();
    const plan = wholePlan(2);
    await withTpuEmulator({ chips: 2 }, async () => {
      await expectAsync(emb.loadLayersModel(source, { plan })).toBeRejectedWithError(/`plan`.*one, two/);
      await expectAsync(emb.loadLayersModel(source, { plan: { three: plan } })).toBeRejectedWithError(
        /`plan`.*one, two.*three/s,
      );
      await expectAsync(emb.loadLayersModel(source, { plan: { one: 3 } } as never)).toBeRejectedWithError(
        /`plan\.one`/,
      );
      const loaded = await emb.loadLayersModel(source, { plan: { two: plan } });
      expect(JSON.stringify(layerOf(loaded, 'two').plan)).toBe(JSON.stringify(plan));
      loaded.dispose();
    });
  });

  it('refuses what is no plan, no threshold and no model with tables on devices', async () => {
    const wrong: [unknown, RegExp][] = [
      [{ plan: 3 }, /`plan`.*received 3/],
      [{ plan: 'no JSON' }, /plan/],
      [{ columnSliceThreshold: 'many' }, /`columnSliceThreshold`/],
      [{ columnSliceThreshold: -1 }, /`columnSliceThreshold`/],
      [{ rowSliceThreshold: 1 }, /rowSliceThreshold/],
    ];
    for (const [options, text] of wrong) {
      await expectAsync(emb.loadLayersModel(free, options as never)).toBeRejectedWithError(text);
    }
    await expectAsync(emb.loadLayersModel(3)).toBeRejectedWithError(/`source`/);
    const dense = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] });
    const source = await saved(dense);
    await expectAsync(emb.loadLayersModel(source, { plan: null })).toBeRejectedWithError(/distributedEmbedding layer/);
    const plain = await emb.loadLayersModel(source);
    const x = tf.ones([1, 2]);
    const [a, b] = [dense, plain].map((model) => tf.tidy(() => (model.predict(x) as tf.Tensor).dataSync()));
    expect(b).toEqual(a!);
    dense.dispose();
    plain.dispose();
    x.dispose();
  });
});
