/** Learning-rate schedules against what Keras 3 computes, through every door by which a config comes in. */
import * as tf from '@tensorflow/tfjs';
import { readFileSync } from 'node:fs';
import * as emb from 'tfjs-embeddings/node';
import { readSchedule, scheduledRate } from '../../src/rules/schedules.js';
import { expectError } from '../helpers/errors.js';
import { expectClose } from '../helpers/tensors.js';

interface Golden {
  readonly serialized: { class_name: string; config: Record<string, unknown> };
  readonly rates: number[];
}

const goldens = JSON.parse(readFileSync(new URL('../goldens/schedules.json', import.meta.url), 'utf8')) as {
  steps: number[];
  cases: Golden[];
};

const DECAY = { className: 'ExponentialDecay', config: { initialLearningRate: 0.5, decaySteps: 2, decayRate: 0.25 } };

function fromConfig(optimizer: emb.SparseOptimizer, config: unknown): emb.SparseOptimizer {
  const cls = optimizer.constructor as unknown as {
    fromConfig(cls: unknown, config: unknown): emb.SparseOptimizer;
  };
  return cls.fromConfig(cls, config);
}

describe('learning-rate schedules', () => {
  for (const { serialized, rates } of goldens.cases) {
    it(`give the rates of Keras: ${serialized.class_name} ${JSON.stringify(serialized.config)}`, () => {
      const schedule = readSchedule(serialized)!;
      const actual = goldens.steps.map((step) => scheduledRate(schedule, step));
      expectClose(actual, rates, rates, serialized.class_name, 1.5e-7);
      expect(new Set(rates).size).toBeGreaterThan(1);
    });
  }

  it('are read in emb.train, in setLearningRate and in saved configs, by the names of JavaScript and of Python', () => {
    const { serialized, rates } = goldens.cases[0]!;
    const { class_name: className, config } = serialized;
    const initialLearningRate = config['initial_learning_rate'];
    const camel = { initialLearningRate, decaySteps: config['decay_steps'], decayRate: config['decay_rate'] };
    const set = emb.train.sgd();
    set.setLearningRate(serialized);
    for (const optimizer of [
      emb.train.sgd({ learningRate: serialized }),
      emb.train.sgd({ learningRate: { className, config: camel } }),
      emb.train.sgd({ learning_rate: serialized } as never),
      fromConfig(set, { learning_rate: serialized, name: 'sgd' }),
      fromConfig(set, { learningRate: { className, config: camel }, customObjects: {} }),
      set,
    ]) {
      const table = tf.tidy(() => tf.variable(tf.zeros([2, 1])));
      let expected = 0;
      for (let step = 0; step < 3; step++) {
        expect(optimizer.learningRate).toBeCloseTo(rates[step]!, 6);
        optimizer.minimize(() => emb.ops.embeddingBag(table, [0], [0, 1], { combiner: 'sum' }).sum());
        expected -= rates[step]!;
      }
      expectClose(table.dataSync(), [expected, 0]);
      table.dispose();
      optimizer.dispose();
    }
  });

  it('warm up only to a target', () => {
    const config = { initialLearningRate: 0.5, decaySteps: 8, warmupSteps: 4 };
    const rates = (more: object): number[] => {
      const schedule = readSchedule({ className: 'CosineDecay', config: { ...config, ...more } })!;
      return [0, 1, 2].map((step) => scheduledRate(schedule, step));
    };
    expect(rates({ warmupTarget: null })).toEqual(rates({ warmupSteps: 0 }));
    expectClose(rates({ warmupTarget: 1 }), [0.5, 0.625, 0.75]);
  });

  it('keep a name that is given', () => {
    const configWith = (name?: unknown): unknown =>
      readSchedule({ ...DECAY, config: { ...DECAY.config, ...(name === undefined ? {} : { name }) } })!.config;
    expect(configWith('slow')).toEqual(jasmine.objectContaining({ name: 'slow' }));
    for (const none of [null, undefined]) expect(Object.keys(configWith(none) as object)).not.toContain('name');
  });

  it('are not read beside another learning rate', () => {
    const both = { learningRate: 0.1, learning_rate: goldens.cases[0]!.serialized };
    expectError(() => emb.train.sgd(both as never), 'ValueError', 'learning_rate');
  });

  it('are saved with every field, and read again', () => {
    for (const { serialized } of goldens.cases) {
      const optimizer = emb.train.adam({ learningRate: serialized });
      const saved = JSON.parse(JSON.stringify(optimizer.getConfig())) as { learningRate: typeof DECAY };
      expect(saved.learningRate.className).toBe(serialized.class_name);
      const names = Object.keys(serialized.config).map((name) =>
        name.replace(/_(.)/g, (_, c: string) => c.toUpperCase()),
      );
      expect(Object.keys(saved.learningRate.config).sort()).toEqual(names.sort());
      const again = fromConfig(optimizer, saved);
      expect(again.getConfig()).toEqual(optimizer.getConfig());
      again.dispose();
      optimizer.dispose();
    }
  });

  it('come back with a model, and go on where they stopped', async () => {
    const model = tf.sequential({
      layers: [
        emb.layers.embedding({
          inputDim: 4,
          outputDim: 2,
          combiner: 'sum',
          inputShape: [2],
          optimizer: emb.train.sgd({ learningRate: DECAY }),
        }),
        tf.layers.dense({ units: 1 }),
      ],
    });
    model.compile({ optimizer: emb.train.adagrad({ learningRate: DECAY }), loss: 'meanSquaredError' });
    const [x, y] = [tf.tensor2d([[0, 1], [3, 3]], [2, 2], 'int32'), tf.ones([2, 1])]; // prettier-ignore
    await model.fit(x, y, { epochs: 3, verbose: 0 });
    let saved: tf.io.ModelArtifacts | undefined;
    const keep = tf.io.withSaveHandler(async (artifacts) => {
      saved = JSON.parse(JSON.stringify({ ...artifacts, weightData: null })) as tf.io.ModelArtifacts;
      saved.weightData = artifacts.weightData!;
      return { modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' } };
    });
    await model.save(keep, { includeOptimizer: true });
    const again = await tf.loadLayersModel(tf.io.fromMemory(saved!));
    const optimizer = again.optimizer as emb.SparseOptimizer;
    expect(optimizer.learningRate).toBeCloseTo(0.5 * 0.25 ** 1.5, 9);
    const [mine, other] = [await model.trainOnBatch(x, y), await again.trainOnBatch(x, y)];
    expect(other).toBe(mine);
    const values = (each: tf.LayersModel): number[][] => each.getWeights().map((w) => Array.from(w.dataSync()));
    expect(values(again)).toEqual(values(model));
    tf.dispose([x, y]);
    for (const each of [model, again]) {
      each.optimizer.dispose();
      each.dispose();
    }
  });

  it('come with the Keras optimizer of a table', () => {
    const { serialized, rates } = goldens.cases[0]!;
    const table = new emb.TableConfig({
      name: 'visits',
      vocabularySize: 4,
      embeddingDim: 2,
      optimizer: { className: 'Adagrad', config: { learning_rate: serialized } },
    } as never);
    expect(table.optimizer!.learningRate).toBeCloseTo(rates[0]!, 6);
    expect(table.optimizer!.settings.learningRate).toEqual(readSchedule(serialized)!);
  });

  it('of other classes are refused by name', () => {
    for (const className of ['CosineDecayRestarts', 'MySchedule', 'Custom>Decay', '']) {
      const run = (): unknown => emb.train.sgd({ learningRate: { className, config: {} } });
      expectError(run, 'ValueError', 'learningRate', JSON.stringify(className));
      expect(run).toThrowError(/ExponentialDecay, .*CosineDecay/);
    }
  });

  const wrong: [string, object, 'TypeError' | 'ValueError', string][] = [
    ['no config', { className: 'ExponentialDecay' }, 'TypeError', 'learningRate.config'],
    ['a missing field', { className: 'ExponentialDecay', config: {} }, 'TypeError', 'learningRate.initialLearningRate'],
    ['no steps', { ...DECAY, config: { ...DECAY.config, decaySteps: 0 } }, 'ValueError', 'learningRate.decaySteps'],
    ['text', { ...DECAY, config: { ...DECAY.config, decayRate: '1' } }, 'TypeError', 'learningRate.decayRate'],
    ['NaN', { ...DECAY, config: { ...DECAY.config, decayRate: NaN } }, 'ValueError', 'learningRate.decayRate'],
    ['1 for true', { ...DECAY, config: { ...DECAY.config, staircase: 1 } }, 'TypeError', 'learningRate.staircase'],
    [
      'a misspelt field',
      { ...DECAY, config: { ...DECAY.config, decayStep: 1 } },
      'ValueError',
      'learningRate.config.decayStep',
    ],
    [
      'too few values',
      { className: 'PiecewiseConstantDecay', config: { boundaries: [1, 2], values: [1, 2] } },
      'ValueError',
      'learningRate.values',
    ],
    [
      'boundaries that fall',
      { className: 'PiecewiseConstantDecay', config: { boundaries: [2, 1], values: [1, 2, 3] } },
      'ValueError',
      'learningRate.boundaries',
    ],
    [
      'boundaries that are equal',
      { className: 'PiecewiseConstantDecay', config: { boundaries: [1, 1], values: [1, 2, 3] } },
      'ValueError',
      'learningRate.boundaries',
    ],
    [
      'no boundaries',
      { className: 'PiecewiseConstantDecay', config: { boundaries: [], values: [1] } },
      'ValueError',
      'learningRate.boundaries',
    ],
    [
      'boundaries of text',
      { className: 'PiecewiseConstantDecay', config: { boundaries: ['1'], values: [1, 2] } },
      'TypeError',
      'learningRate.boundaries',
    ],
  ];
  for (const [what, learningRate, type, argument] of wrong) {
    it(`refuse ${what}`, () => {
      expectError(() => emb.train.adam({ learningRate: learningRate as never }), type, argument);
    });
  }

  it('that fall below 0 stop the step', () => {
    const config = { initialLearningRate: 0.5, decaySteps: 2, alpha: -1 };
    const optimizer = emb.train.sgd({ learningRate: { className: 'CosineDecay', config } });
    expect(optimizer.learningRate).toBe(0.5);
    const table = tf.tidy(() => tf.variable(tf.zeros([2, 1])));
    const step = (): void =>
      void optimizer.minimize(() => emb.ops.embeddingBag(table, [0], [0, 1], { combiner: 'sum' }).sum());
    step();
    step();
    expectError(step, 'ValueError', 'learningRate');
    table.dispose();
    optimizer.dispose();
  });
});
