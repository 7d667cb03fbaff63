import * as tf from '@tensorflow/tfjs';
import { checkWeightsShape, featureShapes, readRaggedInputs } from '../../../src/layers/embedding/layer_inputs.js';
import { readAll } from '../../../src/layers/distributed_embedding/arguments.js';
import { expectError } from '../../helpers/errors.js';

type Shape = (number | null)[];

describe('shapes of features in a symbolic graph', () => {
  const paths = { ids: ['inputs[0]', 'inputs[1]'], weights: ['weights[0]', 'weights[1]'] };
  const { features } = readAll({
    embeddings: [
      { inputDim: 5, outputDim: 2, combiner: 'sum' },
      { inputDim: 5, outputDim: 3, combiner: 'sum' },
    ],
  }) as unknown as { features: never[] };
  const shapesOf = (shapes: Shape[], weighted: number[] = []): unknown =>
    featureShapes(features, [2, 3], shapes, weighted, paths);

  it('are those of ids, combined, each with the width of its table', () => {
    expect(shapesOf([[null, 4], [7, 4]])).toEqual([[null, 2], [7, 3]]); // prettier-ignore
    expect(shapesOf([[7, 4], [7, 1], [null, 1]], [1])).toEqual([[7, 2], [7, 3]]); // prettier-ignore
  });

  it('refuse other numbers of inputs, batches that differ and weights of another shape', () => {
    expectError(() => shapesOf([[null, 4]]), 'ValueError', 'inputs', '1');
    expectError(() => shapesOf([[null, 4], [null, 4], [null, 4]]), 'ValueError', 'inputs', '3'); // prettier-ignore
    expectError(() => shapesOf([[7, 4], [8, 4]]), 'ValueError', 'inputs[1]', 'one of 8'); // prettier-ignore
    expectError(() => shapesOf([[null, 4], [7, 4], [7, 3]], [1]), 'ValueError', 'weights[1]', '[7, 3]'); // prettier-ignore
    expectError(() => checkWeightsShape([null, 3], [null, 3, 1]), 'ValueError', 'weights', '[null, 3]');
    expectError(() => checkWeightsShape([2, 3], [3, 3], 'w'), 'ValueError', 'w', '[2, 3]');
    for (const ids of [[null, 3], [2, null], [2, 3]]) checkWeightsShape([2, 3], ids); // prettier-ignore
    checkWeightsShape([null, 3], [2, 3]);
  });

  it('of ragged ids are made of a pair, weights, and nothing behind these', () => {
    tf.tidy(() => {
      const pair = [tf.tensor1d([1, 2], 'int32'), tf.tensor1d([0, 1, 2], 'int32')];
      const weights = tf.tensor1d([0.5, 1]);
      for (const ids of [pair, { values: [1, 2], rowSplits: [0, 1, 2] }]) {
        expect(readRaggedInputs([ids, weights])).toEqual({ ids, weights } as never);
        expectError(() => readRaggedInputs([ids, weights, weights]), 'TypeError', 'inputs');
      }
      expect(readRaggedInputs([...pair, weights])).toEqual({ ids: pair, weights } as never);
      expectError(() => readRaggedInputs([...pair, weights, weights]), 'ValueError', 'inputs', 'a list of 4');
    });
  });
});
