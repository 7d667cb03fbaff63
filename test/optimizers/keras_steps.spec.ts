/** Optimizers that Keras has too step tables and dense variables as Keras does. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { camelKeys } from '../../src/base/camel_case.js';
import { describeForBackends } from '../helpers/backends.js';
import { ROOT } from '../helpers/project.js';
import { expectClose } from '../helpers/tensors.js';

type Matrix = number[][];
interface Case {
  readonly serialized: { readonly class_name: string; readonly config: Record<string, unknown> };
  readonly everyRow: Matrix[];
  readonly someRows: Matrix[];
}
interface Goldens {
  readonly table: Matrix;
  readonly rates: number[];
  readonly gradients: { readonly everyRow: Matrix[]; readonly someRows: Matrix[] };
  readonly cases: Case[];
}
const {
  table: start,
  rates,
  gradients,
  cases,
} = JSON.parse(readFileSync(join(ROOT, 'test', 'goldens', 'optimizer_steps.json'), 'utf8')) as Goldens;

const NAMES: Readonly<Record<string, emb.OptimizerName>> = {
  AdamW: 'adamW',
  RMSprop: 'rmsprop',
  SGD: 'sgd',
  Adam: 'adam',
};
/** Keras rounds 1 - beta to float32, kernels subtract a beta that was rounded: 1 - 0.999 then differs by 1e-5 of itself. */
const ROUNDED = 5e-6;
const FIELDS = ['beta1', 'beta2', 'epsilon', 'amsgrad', 'rho', 'momentum', 'centered', 'nesterov', 'weightDecay'];

function optimizerOf({ serialized: { class_name, config } }: Case, more: object): emb.SparseOptimizer {
  const own = Object.entries(camelKeys(config)).filter(([field, value]) => FIELDS.includes(field) && value !== null);
  return emb.train[NAMES[class_name]!]({ ...Object.fromEntries(own), ...more } as never);
}

function textOf({ serialized: { class_name, config } }: Case): string {
  const { beta_1, epsilon, rho, momentum, ...others } = config;
  const on = Object.keys(others).filter((field) => others[field] === true);
  return `${class_name} ${JSON.stringify({ beta_1, epsilon, rho, momentum })} ${on.join(' ')}`;
}

describeForBackends('steps of Keras', () => {
  for (const example of cases) {
    for (const rows of ['everyRow', 'someRows'] as const) {
      it(`are those of tables and of dense variables: ${textOf(example)}, ${rows}`, () => {
        const tensors = tf.memory().numTensors;
        const [table, bias] = tf.tidy(() => [tf.variable(tf.tensor2d(start)), tf.variable(tf.tensor2d(start))]);
        // Where a step does not touch every row, the others go on as those of a dense variable do.
        const optimizer = optimizerOf(example, { lazy: rows === 'everyRow' });
        gradients[rows].forEach((gradient, step) => {
          optimizer.setLearningRate(rates[step]!);
          const ids = gradient.flatMap((row, id) => (row.some((g) => g !== 0) ? [id] : []));
          optimizer.minimize(() => {
            const whole = bias!.mul(tf.tensor2d(gradient)).sum();
            if (ids.length === 0) return whole as tf.Scalar;
            const pooled = emb.embeddingLookup(table!, ids.map((id) => [id]), { combiner: 'sum' }) as tf.Tensor; // prettier-ignore
            return pooled.mul(tf.tensor2d(ids.map((id) => gradient[id]!))).sum().add(whole); // prettier-ignore
          });
          const what = `step ${step + 1}`;
          expectClose(table!.dataSync(), example[rows][step]!.flat(), 1, `${what}, table`, ROUNDED);
          expectClose(bias!.dataSync(), example[rows][step]!.flat(), 1, `${what}, dense variable`, ROUNDED);
        });
        optimizer.dispose();
        tf.dispose([table, bias]);
        expect(tf.memory().numTensors).toBe(tensors);
      });
    }
  }
});
