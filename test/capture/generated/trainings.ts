/**
 * Training of generated models, captured beside op by op: a spec for each model. TFJS_EMBEDDINGS_STEP_MODELS sets the
 * number of models, TFJS_EMBEDDINGS_STEP_STEPS that of steps (24); where it is set, the largest difference is printed.
 */
import * as tf from '@tensorflow/tfjs';
import { describeForBackends } from '../../helpers/backends.js';
import { buildModel } from './models.js';
import { expectEqual, largestDifference, twins } from '../twins.js';

const WANTED_STEPS = process.env['TFJS_EMBEDDINGS_STEP_STEPS'];
export const STEPS = Number(WANTED_STEPS ?? 24);
const SEED = Number(process.env['TFJS_EMBEDDINGS_TEST_SEED'] ?? 1);
const TOLERANCE = STEPS > 60 ? 1e-4 : 1e-6;

/** Why steps may run op by op: much happens between them, or a stock embedding layer looks at its ids. */
const EXPECTED = /^$|changes from step to step|have no ids|JavaScript reads a tensor/;

interface Generated {
  /** What equals that op by op. */
  readonly what: 'fits' | 'nets' | 'steps';
  /** How many models, where the environment does not say. */
  readonly models: number;
  /** Makes a model; `buildModel` where it is missing. */
  readonly build?: (seed: number) => tf.LayersModel;
  /** Disposes what `build` made beside the models. */
  readonly cleanUp?: () => void;
  /** Trains a model; returns its losses. */
  readonly train: (model: tf.LayersModel, seed: number) => Promise<number[]>;
}

export function describeGenerated({ what, models, build = buildModel, cleanUp, train }: Generated): void {
  const count = Number(process.env['TFJS_EMBEDDINGS_STEP_MODELS'] ?? models);
  const specs = (): void => {
    let tensors: number;
    beforeEach(() => (tensors = tf.memory().numTensors));
    afterEach(() => {
      cleanUp?.();
      expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors);
    });

    let captured = 0;
    let most = { difference: 0, seed: SEED };
    for (let seed = SEED; seed < SEED + count; seed++) {
      it(`equal the ${what} op by op: model ${seed}`, async () => {
        const found = await twins(
          () => build(seed),
          (model) => train(model, seed),
        );
        expect(found.captured.info.reason ?? '').toMatch(EXPECTED);
        if (found.captured.info.captured) captured += 1;
        expectEqual(found, TOLERANCE);
        const difference = largestDifference(found);
        if (difference > most.difference) most = { difference, seed };
      });
    }

    afterAll(() => {
      expect(captured)
        .withContext('models that were captured')
        .toBeGreaterThan(0.7 * count);
      if (WANTED_STEPS === undefined) return;
      console.log(
        `largest difference of ${what}, ${STEPS} steps: ${most.difference.toExponential(2)}, model ${most.seed}`,
      );
    });
  };
  describeForBackends(`Captured ${what} of generated models`, specs, ['tensorflow']);
}
