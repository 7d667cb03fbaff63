import * as tf from '@tensorflow/tfjs';
import {
  checkDense,
  featureShape,
  type Feature,
  type FeatureKind,
} from '../../../src/layers/embedding/layer_inputs.js';
import * as emb from 'tfjs-embeddings';
import { expectError, leakFree, useCpu } from '../setup.js';

const PATHS = { ids: 'ids', weights: 'weights' };
const RULE = { maskZero: false, maxNorm: null, outOfRange: 'error' } as const;

function feature(inputLength: Feature['inputLength'], kind: FeatureKind = 'embedding'): Feature {
  return { ...RULE, kind, combiner: 'sum', inputLength };
}

describe('inputLength', () => {
  beforeAll(useCpu);

  for (const [inputLength, shape] of [
    [2, [5, 2]],
    [2, [null, null]],
    [[2], [5, 2]],
    [
      [3, 2],
      [5, 3, 2],
    ],
    [
      [null, 2],
      [5, 7, 2],
    ],
    [
      [3, null],
      [null, 3, null],
    ],
  ] as const) {
    it(`${JSON.stringify(inputLength)} takes ids of shape ${JSON.stringify(shape)}`, () => {
      const full = checkDense(feature(inputLength as number), [...shape], 'ids');
      expect(full.length).toBe(shape.length);
      expect(full[0]).toBe(shape[0]);
    });
  }

  for (const [inputLength, shape] of [
    [2, [5, 3]],
    [2, [5, 2, 3]],
    [2, [5, 2, 2]],
    [[2], [5, 2, 3]],
    [
      [2, 3],
      [5, 2],
    ],
    [
      [2, 3],
      [5, 2, 3, 4],
    ],
    [
      [2, 3],
      [5, 3, 2],
    ],
    [
      [null, 2],
      [5, 2],
    ],
    [[null], [5, 2, 2]],
  ] as const) {
    it(`${JSON.stringify(inputLength)} refuses ids of shape ${JSON.stringify(shape)}`, () => {
      for (const kind of ['embedding', 'ragged', 'reduce'] as const) {
        const run = (): unknown => checkDense(feature(inputLength as number, kind), [...shape], 'ids');
        const error = expectError(run, 'ValueError', 'ids');
        expect(error?.received).toBe(`[${shape.join(', ')}]`);
      }
    });
  }

  it('fills in the sizes of a symbolic result', () => {
    const apart: Feature = { ...feature([3, null]), combiner: null };
    expect(featureShape(apart, 8, [null, null, 4], null, PATHS)).toEqual([null, 3, 4, 8]);
    expect(featureShape(feature([3, 4]), 8, [null, null, null], null, PATHS)).toEqual([null, 3, 8]);
    expect(featureShape(feature(3), 8, [2, null], null, PATHS)).toEqual([2, 8]);
  });

  for (const [title, make] of Object.entries({
    embedding: emb.layers.embedding,
    raggedEmbedding: emb.layers.raggedEmbedding,
  })) {
    const refused = leakFree(() => {
      const layer = make({ inputDim: 5, outputDim: 2, combiner: 'sum', inputLength: 2 });
      const ids = tf.zeros([4, 2, 2], 'int32');
      expectError(() => layer.apply(ids), 'ValueError', 'ids', /\[4, 2, 2\]/);
      expectError(() => layer.computeOutputShape([null, 2, 2]), 'ValueError', 'ids');
      ids.dispose();
      if (layer.built) layer.dispose();
    });
    it(`refuses another rank in ${title}`, refused);
  }

  it(
    'refuses another rank in distributedEmbedding, whatever the other inputs',
    leakFree(() => {
      const item = { inputDim: 5, outputDim: 2, combiner: 'sum' } as const;
      const layer = emb.layers.distributedEmbedding({ embeddings: [item, { ...item, inputLength: 2 }] });
      layer.build();
      const [flat, deep] = [tf.zeros([4, 2], 'int32'), tf.zeros([4, 2, 2], 'int32')];
      expectError(() => layer.apply([flat, deep]), 'ValueError', 'inputs[1]', /\[4, 2, 2\]/);
      tf.dispose([flat, deep]);
      layer.dispose();
    }),
  );

  it('ragged ids need a row for each sample, pooled or not', () => {
    for (const combiner of ['sum', null] as const) {
      const ragged: Feature = { ...feature(null, 'ragged'), combiner };
      expectError(() => checkDense(ragged, [5], 'ids'), 'ValueError', 'ids');
      expect(checkDense(ragged, [5, 2], 'ids')).toEqual([5, 2]);
    }
  });
});
