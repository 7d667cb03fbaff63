/** Optimizer state that is missing from a saved model, or renamed in it, is never taken for a fresh one. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { checkNothingMissing, missingSlots, readStateNames } from '../../src/optimizers/saved_state.js';
import type { UpdateName } from '../../src/rules/rules.js';
import { expectError } from '../helpers/errors.js';

const NAMES = Object.keys(emb.train) as emb.OptimizerName[];

type Spec = tf.io.WeightsManifestEntry;

function modelOf(optimizer: tf.Optimizer): tf.LayersModel {
  const inputs = [0, 1].map(() => tf.input({ shape: [2], dtype: 'int32' }));
  const tables = inputs.map((input, i) => {
    const layer = emb.layers.embedding({ inputDim: 5, outputDim: 3, combiner: 'sum', name: `table_${i}` });
    return layer.apply(input) as tf.SymbolicTensor;
  });
  const all = tf.layers.concatenate({ name: 'all' }).apply(tables) as tf.SymbolicTensor;
  const score = tf.layers.dense({ units: 1, name: 'score' }).apply(all) as tf.SymbolicTensor;
  const model = tf.model({ inputs, outputs: score });
  model.compile({ optimizer, loss: 'meanSquaredError' });
  return model;
}

async function fit(model: tf.LayersModel): Promise<void> {
  const x = [0, 1].map((i) => tf.tensor2d([[0, i], [3, 1]], [2, 2], 'int32')); // prettier-ignore
  const y = tf.tensor2d([[1], [-1]]);
  try {
    await model.fit(x, y, { epochs: 2, verbose: 0 });
  } finally {
    tf.dispose([...x, y]);
  }
}

async function saved(model: tf.LayersModel, includeOptimizer = true): Promise<tf.io.ModelArtifacts> {
  let artifacts: tf.io.ModelArtifacts | undefined;
  const keep = tf.io.withSaveHandler(async (given) => {
    const { weightData, ...rest } = given;
    artifacts = { ...(JSON.parse(JSON.stringify(rest)) as object), weightData: weightData as ArrayBuffer };
    return { modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' } };
  });
  await model.save(keep, { includeOptimizer });
  return artifacts!;
}

/** Artifacts without the weights of some names. */
function without(artifacts: tf.io.ModelArtifacts, isGone: (spec: Spec) => boolean): tf.io.ModelArtifacts {
  const bytes = new Uint8Array(artifacts.weightData as ArrayBuffer);
  const kept: number[] = [];
  let at = 0;
  for (const spec of artifacts.weightSpecs!) {
    const length = 4 * spec.shape.reduce((product, size) => product * size, 1);
    if (!isGone(spec)) kept.push(...bytes.subarray(at, at + length));
    at += length;
  }
  expect(at).toBe(bytes.length);
  const weightSpecs = artifacts.weightSpecs!.filter((spec) => !isGone(spec));
  return { ...artifacts, weightSpecs, weightData: Uint8Array.from(kept).buffer };
}

function renamed(artifacts: tf.io.ModelArtifacts, from: string, to: string): tf.io.ModelArtifacts {
  const weightSpecs = artifacts.weightSpecs!.map((spec) => (spec.name === from ? { ...spec, name: to } : spec));
  return { ...artifacts, weightSpecs };
}

/** The same as an earlier version of this package wrote it. */
function withoutStateNames(artifacts: tf.io.ModelArtifacts): tf.io.ModelArtifacts {
  const copy = JSON.parse(JSON.stringify(artifacts.trainingConfig)) as {
    optimizer_config: { config: Record<string, unknown> };
  };
  expect(copy.optimizer_config.config['state']).toBeDefined();
  delete copy.optimizer_config.config['state'];
  return { ...artifacts, trainingConfig: copy as unknown as tf.io.TrainingConfig };
}

const load = (artifacts: tf.io.ModelArtifacts): Promise<tf.LayersModel> =>
  tf.loadLayersModel(tf.io.fromMemory(artifacts));

function free(model: tf.LayersModel): void {
  model.optimizer.dispose();
  model.dispose();
}

async function expectRefusal(artifacts: tf.io.ModelArtifacts, ...texts: string[]): Promise<void> {
  let error: (Error & { argument?: string }) | undefined;
  await load(artifacts).catch((thrown) => (error = thrown as Error));
  expect(error instanceof emb.ValueError)
    .withContext(`refused for ${texts[0]}`)
    .toBeTrue();
  expect(error?.argument).toBe('optimizer state');
  for (const text of texts) expect(error?.message).toContain(text);
}

describe('saved optimizer state', () => {
  beforeAll(() => tf.setBackend('cpu'));
  afterEach(() => tf.disposeVariables());

  for (const name of NAMES) {
    it(`is refused where anything is missing or renamed: ${name}`, async () => {
      const model = modelOf(emb.train[name]({ learningRate: 0.1 }));
      await fit(model);
      const whole = await saved(model);
      const state = whole.weightSpecs!.filter((spec) => (spec as { group?: string }).group === 'optimizer');
      const weights = await model.optimizer.getWeights();
      expect(state.map((spec) => spec.name)).toEqual(weights.map((each) => each.name));
      const config = model.optimizer.getConfig()['state'];
      expect(config).toEqual(weights.map((each) => ({ name: each.name })) as never);
      for (const spec of state) {
        const part = without(whole, (each) => each === spec);
        // Where that leaves no state at all, tfjs does not ask for it: the next spec.
        if (state.length > 1) await expectRefusal(part, spec.name);
        const other = `${spec.name}_2`;
        await expectRefusal(renamed(whole, spec.name, other), spec.name, `Unknown names: ${other}`);
      }
      free(await load(whole));
      free(model);
    });

    it(`that is gone altogether stops the first step, not predictions: ${name}`, async () => {
      const model = modelOf(emb.train[name]({ learningRate: 0.1 }));
      await fit(model);
      const whole = await saved(model);
      const bare = without(whole, (spec) => (spec as { group?: string }).group === 'optimizer');
      const again = await load(bare);
      const x = [0, 1].map(() => tf.tensor2d([[1, 2]], [1, 2], 'int32'));
      const [a, b] = [model, again].map((each) => Array.from((each.predict(x) as tf.Tensor).dataSync()));
      expect(b).toEqual(a!);
      const before = again.getWeights().map((each) => Array.from(each.dataSync()));
      await expectAsync(fit(again)).toBeRejectedWithError(emb.RuntimeError, /optimizer state.*iter/);
      await expectAsync(again.optimizer.getWeights()).toBeRejectedWithError(emb.RuntimeError, /optimizer state/);
      expect(again.getWeights().map((each) => Array.from(each.dataSync()))).toEqual(before);
      again.compile({ optimizer: emb.train[name](), loss: 'meanSquaredError' });
      await fit(again);
      free(again);
      free(model);
    });
  }

  it('of models that were never stepped, or saved without it, is not asked for', async () => {
    const model = modelOf(emb.train.adam());
    for (const artifacts of [await saved(model), await saved(model, false)]) {
      const again = await load(artifacts);
      again.compile({ optimizer: again.optimizer ?? emb.train.adam(), loss: 'meanSquaredError' });
      await fit(again);
      expect((again.optimizer as emb.SparseOptimizer).iterations).toBe(2);
      free(again);
    }
    await fit(model);
    const again = await load(await saved(model, false));
    again.compile({ optimizer: emb.train.adam(), loss: 'meanSquaredError' });
    await fit(again);
    expect((again.optimizer as emb.SparseOptimizer).iterations).toBe(2);
    free(again);
    free(model);
  });

  it('of tables that were never stepped is not asked for', async () => {
    const model = modelOf(emb.train.adam());
    model.getLayer('table_1').trainable = false;
    model.compile({ optimizer: model.optimizer, loss: 'meanSquaredError' });
    await fit(model);
    const again = await load(await saved(model));
    const names = (await again.optimizer.getWeights()).map(({ name }) => name);
    expect(names).toContain('table_0/embeddings/momenta');
    expect(names).not.toContain('table_1/embeddings/momenta');
    again.getLayer('table_1').trainable = true;
    again.compile({ optimizer: again.optimizer, loss: 'meanSquaredError' });
    await fit(again);
    free(again);
    free(model);
  });

  it('holds the running powers of a dense Adam, whose last bits no power of the step count has', async () => {
    const model = modelOf(emb.train.adam());
    for (let i = 0; i < 30; i++) await fit(model);
    const powersOf = async ({ optimizer }: tf.LayersModel): Promise<Record<string, number>> => {
      const powers = (await optimizer.getWeights()).filter(({ name }) => name.startsWith('dense/accBeta'));
      return Object.fromEntries(powers.map(({ name, tensor }) => [name, tensor.dataSync()[0]!]));
    };
    const powers = await powersOf(model);
    const computed = [0.9, 0.999].map((beta) => tf.tidy(() => tf.pow(beta, 61).dataSync()[0]!));
    expect(Object.values(powers)).not.toEqual(computed);
    expect(powers['dense/accBeta1']!).toBeCloseTo(computed[0]!, 6);
    const again = await load(await saved(model));
    expect(await powersOf(again)).toEqual(powers);
    free(again);
    free(model);
  });

  it('of a dense Adam goes on with that, where the rule itself would step dense variables now', async () => {
    const model = modelOf(emb.train.adam());
    await fit(model);
    const whole = await saved(model);
    const trainingConfig = JSON.stringify(whole.trainingConfig);
    const changed = trainingConfig.replace(/"(bias_correction|biasCorrection)":true/, '"$1":false');
    expect(changed).not.toBe(trainingConfig);
    const again = await load({ ...whole, trainingConfig: JSON.parse(changed) as tf.io.TrainingConfig });
    await fit(again);
    const powers = (await again.optimizer.getWeights()).filter(({ name }) => name.startsWith('dense/accBeta'));
    // Two steps before, two after: beta^(steps + 1).
    powers.forEach(({ tensor }, i) => expect(tensor.dataSync()[0]!).toBeCloseTo([0.9, 0.999][i]! ** 5, 5));
    expect(powers.length).toBe(2);
    free(again);
    free(model);
  });

  it('goes through a second save before anything was stepped', async () => {
    const model = modelOf(emb.train.adagradMomentum({ momentum: 0.9 }));
    await fit(model);
    const first = await load(await saved(model));
    const second = await load(await saved(first));
    await fit(model);
    await fit(second);
    const values = (each: tf.LayersModel): number[][] => each.getWeights().map((w) => Array.from(w.dataSync()));
    expect(values(second)).toEqual(values(model));
    for (const each of [model, first, second]) free(each);
  });

  it('of an earlier version is refused where what is left of it is not whole', async () => {
    const model = modelOf(emb.train.adam());
    await fit(model);
    const whole = withoutStateNames(await saved(model));
    free(await load(whole));
    const names = whole.weightSpecs!.map((spec) => spec.name);
    const ofDense = ['m', 'v'].map((kind) =>
      names.find((each) => each.startsWith('dense/') && each.endsWith(`/${kind}`))!,
    );
    const gone = ['iter', 'table_0/embeddings/momenta', 'table_1/embeddings/velocities', 'dense/accBeta1', ...ofDense];
    for (const name of gone) {
      const part = without(whole, (spec) => spec.name === name);
      await expectRefusal(part, name);
    }
    free(model);
  });

  it('of a table is refused where its optimizer needs more, though another one would not', async () => {
    const model = modelOf(emb.train.adagradMomentum());
    await fit(model);
    const whole = withoutStateNames(await saved(model));
    await expectRefusal(
      without(whole, (spec) => spec.name === 'table_0/embeddings/momenta'),
      'table_0/embeddings/momenta',
    );
    free(model);
  });

  it('is not asked of whoever copies an optimizer by its config', async () => {
    const model = modelOf(emb.train.adagrad());
    await fit(model);
    const cls = model.optimizer.constructor as unknown as { fromConfig(cls: unknown, config: unknown): tf.Optimizer };
    const copy = cls.fromConfig(cls, model.optimizer.getConfig());
    const other = modelOf(copy);
    await fit(other);
    expect(copy.iterations).toBe(2);
    free(other);
    free(model);
  });

  it('comes in any order', async () => {
    const [optimizer, again] = [emb.train.sgd(), emb.train.sgd()];
    const table = tf.tidy(() => tf.variable(tf.ones([2, 1])));
    optimizer.minimize(() => emb.ops.embeddingBag(table, [0], [0, 1], { combiner: 'sum' }).sum());
    await again.setWeights([...(await optimizer.getWeights())].reverse());
    expect(again.iterations).toBe(1);
    await expectAsync(again.setWeights([])).toBeRejectedWithError(emb.ValueError, /iter/);
    expect(again.iterations).toBe(1);
    optimizer.dispose();
    again.dispose();
  });
});

describe('missing slots', () => {
  const of = (name: UpdateName, ...given: string[]): string[] => missingSlots(given, () => name);

  it('are those without which the others are of no optimizer', () => {
    expect(of('adam', 'a/momenta', 'a/velocities', 'b/c/momenta')).toEqual(['b/c/velocities']);
    expect(of('adam', 'a/velocities')).toEqual(['a/momenta']);
    expect(of('adagradMomentum', 'a/momenta')).toEqual(['a/accumulators']);
    expect(of('adagrad', 'a/linears')).toEqual(['a/accumulators']);
    expect(of('sgd', 'a/accumulators', 'a/momenta', 'iter', 'dense/momenta/m')).toEqual([]);
  });

  it('are not sought where the others are of no optimizer at all', () => {
    expect(of('adam', 'a/velocities', 'a/linears', 'a/accumulators')).toEqual([]);
  });
});

describe('names of state', () => {
  it('are read from a list of {name}, or there are none', () => {
    expect(readStateNames(undefined)).toBeNull();
    expect(readStateNames(null)).toBeNull();
    expect(readStateNames([])).toEqual([]);
    expect(readStateNames([{ name: 'iter' }, { name: 'a/momenta', more: 1 }])).toEqual(['iter', 'a/momenta']);
    for (const state of ['iter', { name: 'iter' }, ['iter'], [{ name: 'iter' }, { name: 3 }], [null], [{}], 7]) {
      expectError(() => readStateNames(state), 'TypeError', 'state');
    }
  });

  it('that are due must all be given', () => {
    checkNothingMissing(['a', 'b'], ['c', 'b', 'a']);
    const run = (strangers?: string[]) => () => checkNothingMissing(['a', 'b', 'c'], ['b'], strangers);
    expectError(run(), 'ValueError', 'optimizer state', 'state without it');
    expect(run()).toThrowError(/expected a, c, as it was saved, received state without it\.$/);
    expect(run(['x', 'y'])).toThrowError(/Unknown names: x, y\.$/);
  });
});
