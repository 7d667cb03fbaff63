// runner: python
/** `emb.callbacks.earlyStopping`: by the rules of Keras, and with the optimizer's state. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { PYTHON_TIMEOUT_MS, pythonWithKeras } from '../backends/tensorflow/python_tensorflow.js';
import { describeForBackends, skipOrFail } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';
import { TrainedModel } from './trained_model.js';

const SCRIPT = fileURLToPath(new URL('early_stopping.py', import.meta.url));

interface Case extends Required<Omit<emb.callbacks.EarlyStoppingArgs, 'monitor' | 'verbose'>> {
  readonly values: readonly (number | 'NaN' | null)[];
}

/** Numbers that fall and rise, some of them the same, missing or NaN. */
function drawn(seed: number): Case {
  const random = new Random(seed);
  const value = (): number | 'NaN' | null => {
    if (random.chance(0.05)) return random.pick(['NaN', null] as const);
    return random.whole(0, 9) / 4;
  };
  return {
    values: Array.from({ length: random.whole(1, 14) }, value),
    minDelta: random.pick([0, 0, 0.25, -0.25, 0.5]),
    patience: random.whole(0, 4),
    mode: random.pick(['min', 'max'] as const),
    baseline: random.chance(0.3) ? random.whole(0, 9) / 4 : null,
    startFromEpoch: random.chance(0.3) ? random.whole(0, 4) : 0,
    restoreBestWeights: random.chance(0.6),
  };
}

function oneWeight(): tf.LayersModel {
  const inputs = tf.input({ shape: [1] });
  const outputs = tf.layers.dense({ units: 1, useBias: false }).apply(inputs) as tf.SymbolicTensor;
  return tf.model({ inputs, outputs });
}

describe('Early stopping', () => {
  it(
    'ends and restores as Keras does',
    async () => {
      const python = pythonWithKeras();
      if (typeof python === 'string') return skipOrFail(python);
      const cases = Array.from({ length: 400 }, (_, seed) => drawn(seed));
      const folder = mkdtempSync(join(tmpdir(), 'early-'));
      const file = join(folder, 'cases.json');
      writeFileSync(file, JSON.stringify(cases));
      const wanted = JSON.parse(python.run(SCRIPT, file).trim().split('\n').at(-1)!) as number[][];
      rmSync(folder, { recursive: true });
      spyOn(console, 'warn');
      const model = oneWeight();
      const before = tf.memory().numTensors;
      for (const [i, { values, ...args }] of cases.entries()) {
        const callback = emb.callbacks.earlyStopping(args);
        callback.setModel(model);
        model.stopTraining = false;
        await callback.onTrainBegin();
        let ended = values.length;
        for (const [epoch, value] of values.entries()) {
          tf.tidy(() => model.setWeights([tf.tensor2d([epoch + 1], [1, 1])]));
          await callback.onEpochEnd(epoch, value === null ? {} : { val_loss: Number(value) });
          if (!model.stopTraining) continue;
          ended = epoch + 1;
          break;
        }
        await callback.onTrainEnd();
        const found = [ended, model.getWeights()[0]!.dataSync()[0]];
        expect(found)
          .withContext(`${i}: ${JSON.stringify(cases[i])}`)
          .toEqual(wanted[i]!);
      }
      expect(tf.memory().numTensors).toBe(before);
      model.dispose();
    },
    PYTHON_TIMEOUT_MS,
  );

  it('knows which numbers are to rise', () => {
    for (const monitor of ['val_acc', 'accuracy', 'val_auc', 'recallAt20', 'val_ndcgAtK', 'mrr', 'binaryAccuracy']) {
      expect(() => emb.callbacks.earlyStopping({ monitor })).not.toThrow();
    }
    for (const monitor of ['val_loss', 'loss', 'val_rated_loss', 'mse', 'logLoss', 'meanSquaredError']) {
      expect(() => emb.callbacks.earlyStopping({ monitor })).not.toThrow();
    }
    expect(() => emb.callbacks.earlyStopping({ monitor: 'val_profit' })).toThrowError(
      emb.ValueError,
      /`mode`: expected 'min' or 'max', received 'auto' and a number called val_profit/,
    );
    expect(() => emb.callbacks.earlyStopping({ monitor: 'val_profit', mode: 'max' })).not.toThrow();
  });

  it('follows a number that is to rise by its name', async () => {
    const model = oneWeight();
    for (const [monitor, numbers, ended] of [
      ['val_auc', [0.5, 0.6, 0.55], 3],
      ['val_loss', [0.5, 0.6, 0.55], 2],
    ] as const) {
      const callback = emb.callbacks.earlyStopping({ monitor });
      callback.setModel(model);
      model.stopTraining = false;
      await callback.onTrainBegin();
      let epochs = 0;
      for (const value of numbers) {
        await callback.onEpochEnd(epochs++, { [monitor]: value });
        if (model.stopTraining) break;
      }
      expect(epochs).withContext(monitor).toBe(ended);
    }
    model.dispose();
  });

  it('names what is wrong', () => {
    for (const [args, words] of [
      [{ patience: -1 }, /`patience`: expected a whole number from 0 on, received -1/],
      [{ minDelta: NaN }, /`minDelta`: expected a number/],
      [{ mode: 'least' }, /`mode`: expected one of auto, min, max/],
      [{ monitor: '' }, /`monitor`: expected a name/],
      [{ verbose: 2 }, /`verbose`: expected 0 or 1/],
      [{ patience: 1.5 }, /`patience`/],
      [{ patient: 1 }, /Did you mean patience/],
    ] as const) {
      expect(() => emb.callbacks.earlyStopping(args as never)).toThrowError(emb.ValueError, words);
    }
    for (const [args, words] of [
      [{ restoreBestWeights: 1 }, /`restoreBestWeights`: expected true or false/],
      [{ baseline: '1' }, /`baseline`: expected a number/],
      [null, /`args`/],
    ] as const) {
      expect(() => emb.callbacks.earlyStopping(args as never)).toThrowError(emb.TypeError, words);
    }
  });
});

describeForBackends('Early stopping of a table', () => {
  for (const how of ['fit', 'fitDataset'] as const) {
    for (const optimizer of ['adagrad', 'adam', 'stock'] as const) {
      it(`brings back table and slots of ${optimizer} in ${how}, and training goes on from there`, async () => {
        const before = tf.memory().numTensors;
        // The epoch whose number is least decides.
        const scores = [3, 1, 2, 5];
        const told = new tf.CustomCallback({ onEpochEnd: (epoch, logs) => void (logs!['score'] = scores[epoch]!) });
        const stopped = new TrainedModel(optimizer);
        const callback = emb.callbacks.earlyStopping({
          monitor: 'score',
          mode: 'min',
          patience: 2,
          restoreBestWeights: true,
        });
        expect(await stopped.train(how, 9, [told, callback])).toBe(4);
        const plain = new TrainedModel(optimizer);
        await plain.train(how, 2, []);
        expect(await stopped.state()).toEqual(await plain.state());
        await stopped.train(how, 1, []);
        await plain.train(how, 1, []);
        expect(await stopped.state()).toEqual(await plain.state());
        stopped.dispose();
        plain.dispose();
        expect(tf.memory().numTensors).toBe(before);
      }, 60_000);
    }
  }
});
