/** Models that earlier releases wrote predict the same on every backend, and their SavedModels run in TensorFlow. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { describeForBackends } from '../../test/helpers/backends.js';
import { RELEASES, filesOf, told, type ModelCase, type PlainTensor } from './fixtures/told.js';
import { tensorOf, valuesOf } from './fixtures/values.mjs';

interface Runnable {
  predict(inputs: Record<string, tf.Tensor>): Record<string, tf.Tensor>;
  dispose(): void;
}

const cases = RELEASES.flatMap((release) => {
  const models = join(filesOf(release), 'models');
  return readdirSync(models).map((name) => [join(models, name), told<ModelCase>(join(models, name))] as const);
});

function expectNear(found: readonly tf.Tensor[], expected: readonly PlainTensor[], name: string): void {
  expect(found.length).withContext(name).toBe(expected.length);
  found.forEach((output, i) => {
    const values = output.dataSync();
    const wanted = valuesOf(expected[i]!);
    expect(values.length).withContext(name).toBe(wanted.length);
    const far = Array.from(wanted, (value, j) => Math.abs(value - values[j]!));
    expect(Math.max(...far))
      .withContext(name)
      .toBeLessThan(1e-6);
  });
}

describeForBackends(
  'models of earlier releases',
  () => {
    it('predict as they did', async () => {
      for (const [folder, { name, inputs, outputs }] of cases) {
        const before = tf.memory().numTensors;
        const model = await tf.loadLayersModel(`file://${join(folder, 'layers', 'model.json')}`);
        tf.tidy(() => {
          const given = inputs.map((each) => tensorOf(tf, each) as tf.Tensor);
          expectNear([model.predict(given.length === 1 ? given[0]! : given)].flat(), outputs, name);
        });
        model.optimizer?.dispose();
        model.dispose();
        if (name !== 'stock momentum') expect(tf.memory().numTensors).withContext(name).toBe(before);
      }
    }, 120_000);
  },
  ['cpu native', 'cpu wasm', 'wasm', 'tensorflow'],
);

describeForBackends(
  'SavedModels of earlier releases',
  () => {
    it('run in TensorFlow', async () => {
      for (const [folder, { name, names, inputs, outputs }] of cases) {
        const path = join(folder, 'saved_model');
        const model = (await emb.savedModel.load(path, { signature: 'serving_default' })) as unknown as Runnable;
        tf.tidy(() => {
          const given = Object.fromEntries(
            names.inputs.map((each, i) => [each, tensorOf(tf, inputs[i]!) as tf.Tensor]),
          );
          const found = model.predict(given);
          // Several outputs of one layer have numbers after its name, in their order.
          const isNamed =
            names.outputs.every((each) => each in found) && new Set(names.outputs).size === outputs.length;
          expectNear(isNamed ? names.outputs.map((each) => found[each]!) : Object.values(found), outputs, name);
        });
        model.dispose();
      }
    }, 120_000);
  },
  ['tensorflow'],
);
