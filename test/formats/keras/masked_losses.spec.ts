/** Models of Keras whose outputs carry masks: losses, metrics and training leave out what the masks do, as in Keras. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectClose, expectNoLeakAsync } from '../../helpers/tensors.js';

interface Values {
  readonly shape: number[];
  readonly values: number[];
}

interface Golden {
  readonly name: string;
  readonly loss: string;
  readonly metrics: string[];
  readonly words: Values;
  readonly targets: Values;
  readonly evaluated: number[];
  /** Before the first and the second step of SGD with a rate of 0.5. */
  readonly losses: number[];
  /** What is predicted after both. */
  readonly after: Values;
}

const path = (name: string): string => fileURLToPath(new URL(`../../goldens/keras_files/${name}`, import.meta.url));
const GOLDENS = JSON.parse(readFileSync(path('masked_losses.json'), 'utf8')) as Golden[];
const NAMES: Readonly<Record<string, string>> = {
  mean_squared_error: 'meanSquaredError',
  sparse_categorical_crossentropy: 'sparseCategoricalCrossentropy',
};
const METRICS: Readonly<Record<string, string | typeof tf.metrics.meanAbsoluteError>> = {
  mean_absolute_error: tf.metrics.meanAbsoluteError,
  sparse_categorical_accuracy: 'accuracy',
};

function tensorOf({ shape, values }: Values, dtype: 'int32' | 'float32'): tf.Tensor {
  return tf.tensor(values, shape, dtype);
}

const close = (found: readonly number[], wanted: readonly number[], what: string): void =>
  expectClose(found, wanted, wanted.map(Math.abs), what, 1e-5);

async function numbersOf(told: unknown): Promise<number[]> {
  const all = [told].flat() as (tf.Scalar | number)[];
  const numbers = await Promise.all(
    all.map(async (each) => (typeof each === 'number' ? each : (await each.data())[0]!)),
  );
  tf.dispose(all);
  return numbers;
}

async function withModel(
  golden: Golden,
  optimizer: tf.Optimizer,
  run: (model: tf.LayersModel, words: tf.Tensor, targets: tf.Tensor) => Promise<void>,
): Promise<void> {
  const model = await emb.loadKerasModel(path(`${golden.name}.keras`));
  const [words, targets] = [tensorOf(golden.words, 'int32'), tensorOf(golden.targets, 'float32')];
  const metrics = golden.metrics.map((name) => METRICS[name]!);
  model.compile({ optimizer, loss: NAMES[golden.loss]!, metrics });
  await run(model, words, targets);
  model.dispose();
  optimizer.dispose();
  tf.dispose([words, targets]);
}

describeForBackends(
  'losses of masked outputs of Keras',
  ({ backend }) => {
    for (const golden of GOLDENS) {
      for (const [kind, make] of Object.entries({
        stock: () => tf.train.sgd(0.5),
        own: () => emb.train.sgd({ learningRate: 0.5 }),
      })) {
        it(`are those of Keras: ${golden.name}, ${kind} SGD`, async () => {
          await expectNoLeakAsync(async () => {
            await withModel(golden, make(), async (model, words, targets) => {
              close(await numbersOf(model.evaluate(words, targets)), golden.evaluated, 'evaluated');
              const losses: number[] = [];
              for (const _ of golden.losses) {
                const told = [await model.trainOnBatch(words, targets)].flat() as number[];
                if (losses.length === 0) close(told, golden.evaluated, 'told by the first step');
                losses.push(told[0]!);
              }
              close(losses, golden.losses, 'losses');
              const after = tf.tidy(() => Array.from((model.predict(words) as tf.Tensor).dataSync()));
              close(after, golden.after.values, 'after two steps');
            });
          });
        });
      }
    }

    it('are the same in captured steps and in fit', async () => {
      const golden = GOLDENS[0]!;
      const found: number[][] = [];
      for (const isCaptured of [true, false]) {
        await withModel(golden, emb.train.sgd({ learningRate: 0.5 }), async (model, words, targets) => {
          emb.setCapture(isCaptured, model);
          const { history } = await model.fit(words, targets, {
            ...{ epochs: 8, batchSize: 4, shuffle: false, verbose: 0, validationData: [words, targets] },
          });
          found.push([...(history['loss'] as number[]), ...(history['val_loss'] as number[])]);
          if (isCaptured && backend === 'tensorflow') expect(emb.stepInfo(model).captured).toBeTrue();
        });
      }
      close(found[0]!, found[1]!, 'captured');
      close(found[0]!.slice(0, 2), golden.losses, 'first epochs');
    });

    it('count every step in a model that was saved and loaded as one of tfjs, as tfjs does', async () => {
      const golden = GOLDENS[1]!;
      await withModel(golden, tf.train.sgd(0.5), async (model, words, targets) => {
        let kept: tf.io.ModelArtifacts | null = null;
        await model.save(
          tf.io.withSaveHandler((artifacts) => {
            kept = artifacts;
            return Promise.resolve({ modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } });
          }),
        );
        const plain = await tf.loadLayersModel(tf.io.fromMemory(kept!));
        const optimizer = tf.train.sgd(0.5);
        plain.compile({ optimizer, loss: 'meanSquaredError' });
        const [whole] = await numbersOf(plain.evaluate(words, targets));
        const expected = tf.tidy(() => {
          const difference = tf.squaredDifference(plain.predict(words) as tf.Tensor, targets);
          return tf.mean(difference).dataSync()[0]!;
        });
        close([whole!], [expected], 'all steps');
        expect(Math.abs(whole! - golden.evaluated[0]!)).toBeGreaterThan(0.01);
        plain.dispose();
        optimizer.dispose();
      });
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
