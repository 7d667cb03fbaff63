/** Runs in a page: how long steps take on the backend of the page. Bundled by gpu.ts. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/index.js';
import { PROGRAM } from '../../../test/browser/gpu_program.js';
import { Random } from '../../../test/helpers/random.js';

export interface TimedSteps {
  readonly optimizer: emb.OptimizerName;
  /** Heights of tables, which take steps in turns. */
  readonly rows: readonly number[];
  readonly dim: number;
  readonly batch: number;
  /** Ids of each sample. */
  readonly length: number;
  readonly steps: number;
}

interface Stepper {
  step(): Promise<void>;
  dispose(): void;
}

function stepperOf(what: TimedSteps, rows: number): Stepper {
  const { optimizer, dim, batch, length } = what;
  const random = new Random(7);
  // As many rows are touched in each table, all over it.
  const apart = Math.max(1, Math.floor(rows / what.rows[0]!));
  const table = tf.tidy(() => tf.variable(tf.randomUniform([rows, dim], -0.1, 0.1)));
  const made = emb.train[optimizer]({ learningRate: 0.01 });
  return {
    async step() {
      const values = Int32Array.from({ length: batch * length }, () => apart * random.whole(0, what.rows[0]!));
      const ids = tf.tensor2d(values, [batch, length], 'int32');
      const loss = made.minimize(() => {
        return (emb.embeddingLookup(table, ids, { combiner: 'mean' }) as unknown as tf.Tensor).square().sum();
      }, true);
      // The step comes after the loss: a value of the table is there when both are done.
      const corner = table.slice([0, 0], [1, 1]);
      await Promise.all([loss!.data(), corner.data()]);
      tf.dispose([ids, loss!, corner]);
    },
    dispose() {
      table.dispose();
      made.dispose();
    },
  };
}

const WARM_UPS = 3;

/** Milliseconds of each step, by table. */
async function timedSteps(what: TimedSteps): Promise<number[][]> {
  const steppers = what.rows.map((rows) => stepperOf(what, rows));
  const taken: number[][] = steppers.map(() => []);
  for (let step = 0; step < WARM_UPS + what.steps; step++) {
    for (const [i, stepper] of steppers.entries()) {
      const start = performance.now();
      await stepper.step();
      if (step >= WARM_UPS) taken[i]!.push(performance.now() - start);
    }
  }
  for (const stepper of steppers) stepper.dispose();
  return taken;
}

Object.assign(globalThis, { gpu: PROGRAM, timedSteps });
