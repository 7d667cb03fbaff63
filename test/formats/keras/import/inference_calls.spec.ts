/** Models of Keras 2 that call layers with `training=False`, and masks that layers pass on: training is that of Keras. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { expectClose, expectNoLeakAsync } from '../../../helpers/tensors.js';

interface Values {
  readonly dtype: tf.DataType;
  readonly shape: number[];
  readonly values: number[];
}

interface Golden {
  readonly name: string;
  readonly x: Values;
  readonly y: Values;
  readonly losses: number[];
  readonly after: Values;
}

const path = (name: string): string =>
  fileURLToPath(new URL(`../../../goldens/keras_files/inference/${name}`, import.meta.url));
const GOLDENS = JSON.parse(readFileSync(path('inference.json'), 'utf8')) as Golden[];

const tensorOf = ({ values, shape, dtype }: Values): tf.Tensor => tf.tensor(values, shape, dtype);

async function trained(model: tf.LayersModel, { x, y, losses }: Golden): Promise<{ told: number[]; after: number[] }> {
  const optimizer = tf.train.sgd(0.2);
  model.compile({ optimizer, loss: 'meanSquaredError' });
  const [given, wanted] = [tensorOf(x), tensorOf(y)];
  const told: number[] = [];
  for (const _ of losses) told.push((await model.trainOnBatch(given, wanted)) as number);
  const after = tf.tidy(() => Array.from((model.predict(given) as tf.Tensor).dataSync()));
  tf.dispose([given, wanted]);
  optimizer.dispose();
  return { told, after };
}

describe('training of models of Keras', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  for (const golden of GOLDENS) {
    it(`has the losses and the results of Keras: ${golden.name}`, () =>
      expectNoLeakAsync(async () => {
        const model = await emb.loadKerasModel(path(`${golden.name}.keras`));
        const { told, after } = await trained(model, golden);
        model.dispose();
        expectClose(told, golden.losses, golden.losses, 'losses', 1e-5);
        expectClose(after, golden.after.values, golden.after.values.map(Math.abs), 'after', 1e-5);
      }));
  }

  it('is the same once a model was saved and loaded as one of tfjs', async () => {
    const golden = GOLDENS.find(({ name }) => name === 'k2_still_norm')!;
    const model = await emb.loadKerasModel(path('k2_still_norm.keras'));
    let kept: tf.io.ModelArtifacts | null = null;
    await model.save(
      tf.io.withSaveHandler((artifacts) => {
        kept = artifacts;
        return Promise.resolve({ modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } });
      }),
    );
    model.dispose();
    const again = await tf.loadLayersModel(tf.io.fromMemory(kept!));
    const { told } = await trained(again, golden);
    expectClose(told, golden.losses, golden.losses, 'losses', 1e-5);
    again.dispose();
  });
});
