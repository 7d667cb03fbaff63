import * as emb from 'tfjs-embeddings';
import { customStep } from '../../../src/tpu/optimizers/custom_step.js';
import { expectError } from '../../helpers/errors.js';
import { expectNoLeak } from '../../helpers/tensors.js';

const { tpu } = emb;

describe('customStep', () => {
  const touched = {
    rows: Int32Array.of(1, 4),
    dim: 2,
    gradient: Float32Array.of(1, 2, 3, 4),
    parameters: Float32Array.of(10, 20, 30, 40),
    slots: [Float32Array.of(1, 1, 1, 1), Float32Array.of(5, 6)],
  };
  const make = (customComputation: emb.tpu.CustomComputation): emb.tpu.CustomOptimizer =>
    new tpu.CustomOptimizer({
      customComputation,
      slotNames: ['squares', 'counts'],
      slotInitializers: [0, 0],
      slotDims: [2, 1],
      hyperparameters: { scale: () => 2 },
    });
  const stepped = {
    parameters: Float32Array.of(9, 18, 27, 36),
    slots: [Float32Array.of(2, 5, 10, 17), Float32Array.of(6, 7)],
  };

  it('gives the touched rows to the function, and what it returns back', () => {
    const seen: unknown[] = [];
    const byName = make(({ gradient, parameters, slots, hyperparameters, learningRate, rows }) => {
      const { scale } = hyperparameters as { scale: number };
      seen.push(scale, learningRate, [...rows], slots['counts']!.shape);
      return {
        parameters: parameters.sub(gradient.mul(scale * learningRate)),
        slots: { squares: slots['squares']!.add(gradient.square()), counts: slots['counts']!.add(1) },
      };
    });
    expectNoLeak(() => expect(customStep(byName, touched, 0.5)).toEqual(stepped));
    expect(seen).toEqual([2, 0.5, [1, 4], [2]]);
  });

  it('takes slots in their order too', () => {
    const inOrder = make(({ gradient, parameters, slots }) => ({
      parameters: parameters.sub(gradient),
      slots: [slots['squares']!.add(gradient.square()), slots['counts']!.add(1)],
    }));
    expect(customStep(inOrder, touched, 0.5)).toEqual(stepped);
  });

  it('refuses what is no step, and leaves no tensors then', () => {
    const wrong: [result: unknown, name: 'TypeError' | 'ValueError'][] = [
      [null, 'TypeError'],
      [{ parameters: 1 }, 'TypeError'],
      [{ parameters: touched.parameters, slots: [] }, 'ValueError'],
    ];
    expectNoLeak(() => {
      for (const [result, name] of wrong) {
        expectError(
          () =>
            customStep(
              make(() => result as never),
              touched,
              1,
            ),
          name,
          'customComputation',
        );
      }
      const narrow = make(({ parameters, slots }) => ({ parameters: parameters.slice([0, 0], [1, 2]), slots }));
      expectError(() => customStep(narrow, touched, 1), 'ValueError', 'customComputation');
      const missing = make(({ parameters, slots }) => ({ parameters, slots: { squares: slots['squares']! } }));
      expectError(() => customStep(missing, touched, 1), 'TypeError', 'customComputation');
    });
  });
});
