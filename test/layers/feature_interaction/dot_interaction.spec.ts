import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { describeForBackends } from '../../helpers/backends.js';
import { finiteDifferences } from '../../helpers/tensors.js';
import { readInteractions, tensorsOf } from './interactions.js';
import { cloneOf, expectClose, expectError, leakFree, take, useCpu } from '../setup.js';

const CASES = readInteractions().dot;
const OPTIONS = [
  {},
  { selfInteraction: true },
  { skipGather: true },
  { selfInteraction: true, skipGather: true },
] as const;

function fromKeras(config: Record<string, unknown>): emb.DotInteraction {
  return emb.DotInteraction.fromConfig(emb.DotInteraction as never, config as never) as emb.DotInteraction;
}

/** Features a, b, c of width 2 as one flat list, and the pairs' products weighed by 1, 2, 3, ... */
function weighed(layer: emb.DotInteraction, x: tf.Tensor): tf.Scalar {
  const features = x.reshape([3, 1, 2]).unstack() as tf.Tensor[];
  const pairs = layer.apply(features) as tf.Tensor;
  return pairs.mul(tf.range(1, pairs.size + 1).reshape(pairs.shape)).sum();
}

describe('DotInteraction', () => {
  beforeAll(useCpu);

  describeForBackends('on every backend', () => {
    CASES.forEach(({ config, inputs, output }, i) =>
      it(
        `case ${i} equals Keras RS`,
        leakFree(() => {
          const layer = fromKeras(config);
          const tensors = tensorsOf(inputs);
          const result = layer.apply(tensors) as tf.Tensor;
          expect(layer.name).toBe('pairs');
          expect(result.shape).toEqual(output.shape);
          expect(result.dtype).toBe('float32');
          expect(layer.computeOutputShape(inputs.map(({ shape }) => shape))).toEqual(output.shape);
          // Sums of multiples of 1/64 below 2^10 are exact in float32.
          expect(take(result)).toEqual(output.values);
          tf.dispose(tensors);
        }),
      ),
    );

    it(
      'has the gradient of the products',
      leakFree(() => {
        const at = [1, -2, 0.5, 3, 2, 0.25];
        for (const options of OPTIONS) {
          const layer = emb.layers.dotInteraction(options);
          const wanted = finiteDifferences(
            (x) => tf.tidy(() => take(weighed(layer, tf.tensor1d([...x])))[0]!),
            at,
            0.5,
          );
          tf.tidy(() => expectClose(take(tf.grad((x) => weighed(layer, x))(tf.tensor1d(at))), wanted, 1e-5));
        }
      }),
    );
  });

  it(
    'has second derivatives',
    leakFree(() => {
      // f = a.b + 2 a.c + 3 b.c; the derivative of sum(f') is twice the sum over each feature's factors, always equal.
      const layer = emb.layers.dotInteraction();
      tf.tidy(() => {
        const slope = (x: tf.Tensor): tf.Tensor => tf.grad((y) => weighed(layer, y))(x);
        const second = tf.grad((x) => slope(x).sum())(tf.tensor1d([1, 2, 3, 4, 5, 6]));
        expectClose(take(second), [3, 3, 4, 4, 5, 5]);
      });
    }),
  );

  it(
    'an empty batch gives an empty result',
    leakFree(() => {
      const features = [1, 2, 3].map(() => tf.zeros([0, 4]));
      for (const options of OPTIONS) {
        const layer = emb.layers.dotInteraction(options);
        const result = layer.apply(features) as tf.Tensor;
        expect(result.shape).toEqual(
          layer.computeOutputShape([
            [0, 4],
            [0, 4],
            [0, 4],
          ]) as number[],
        );
        result.dispose();
      }
      tf.dispose(features);
    }),
  );

  it(
    'trains in a model, and comes back from a file',
    leakFree(async () => {
      const inputs = [1, 2, 3].map(() => tf.input({ shape: [1], dtype: 'int32' }));
      const features = inputs.map(
        (input) =>
          tf.layers
            .flatten()
            .apply(emb.layers.embedding({ inputDim: 5, outputDim: 4 }).apply(input) as never) as tf.SymbolicTensor,
      );
      const pairs = emb.layers
        .dotInteraction({ name: 'Pairs_of-3', selfInteraction: true })
        .apply(features) as tf.SymbolicTensor;
      expect(pairs.shape).toEqual([null, 6]);
      const model = tf.model({ inputs, outputs: tf.layers.dense({ units: 1 }).apply(pairs) as tf.SymbolicTensor });
      const optimizer = emb.train.adagrad({ learningRate: 0.1 });
      model.compile({ optimizer, loss: 'meanSquaredError' });
      const x = [1, 2, 3].map((k) => tf.tensor2d([[k], [0], [4 - k]], [3, 1], 'int32'));
      const y = tf.tensor2d([[1], [0], [-1]]);
      const { history } = await model.fit(x, y, { epochs: 12, verbose: 0, shuffle: false });
      const losses = history['loss'] as number[];
      expect(losses.at(-1)).toBeLessThan(losses[0]!);
      const again = await cloneOf(model);
      const layer = again.getLayer('Pairs_of-3') as emb.DotInteraction;
      expect(layer).toBeInstanceOf(emb.DotInteraction);
      expect(layer.getConfig()).toEqual(model.getLayer('Pairs_of-3').getConfig());
      expect(take(again.predict(x))).toEqual(take(model.predict(x)));
      tf.dispose([...x, y]);
      optimizer.dispose();
      again.dispose();
      model.dispose();
    }),
  );

  it(
    'loads under the name of Keras RS on request',
    leakFree(() => {
      const undo = emb.useForKerasEmbedding();
      const [first] = CASES as [(typeof CASES)[0]];
      const layer = tf.serialization.SerializationMap.getMap().classNameMap['kerasRs>DotInteraction']!;
      expect(layer[0] as unknown).toBe(emb.DotInteraction);
      undo();
      expect(tf.serialization.SerializationMap.getMap().classNameMap['kerasRs>DotInteraction']).toBeUndefined();
      expect(fromKeras({ ...first.config, skip_gather: true }).skipGather).toBeTrue();
    }),
  );

  it(
    'wrong arguments and inputs are named',
    leakFree(() => {
      const make = emb.layers.dotInteraction as (args: unknown) => emb.DotInteraction;
      for (const args of [null, 5, [1], 'x']) expectError(() => make(args), 'TypeError', 'args');
      expectError(() => make({ selfInteraction: 1 }), 'TypeError', 'selfInteraction');
      expectError(() => make({ skipGather: 'no' }), 'TypeError', 'skipGather');
      expectError(() => make({ skipgather: true }), 'ValueError', 'skipgather');
      expectError(() => make({ name: 'two words' }), 'ValueError', 'name');
      expectError(() => make({ dtype: 'int32' }), 'TypeError', 'dtype');
      expectError(() => fromKeras(7 as never), 'TypeError', 'config');
      expectError(() => fromKeras({ dtype: 'float64' }), 'ValueError', 'dtype');
      const layer = emb.layers.dotInteraction();
      const apply = layer.apply.bind(layer) as (inputs: unknown) => unknown;
      const [a, wide, deep, whole] = [tf.ones([2, 3]), tf.ones([2, 4]), tf.ones([2, 3, 1]), tf.ones([2, 3], 'int32')];
      expectError(() => apply(undefined), 'TypeError', 'inputs');
      expectError(() => apply([]), 'ValueError', 'inputs');
      expectError(() => apply([a, [[1, 2, 3]]]), 'TypeError', 'inputs[1]');
      expectError(() => apply([a, whole]), 'TypeError', 'inputs[1]', /int32/);
      expectError(() => apply([a, wide]), 'ValueError', 'inputs[1]', /\[2, 4\]/);
      expectError(() => apply([a, deep]), 'ValueError', 'inputs[1]', /rank 3/);
      expectError(() => apply([a]), 'ValueError', 'inputs', '1');
      expectError(() => apply([a, tf.input({ shape: [3] })]), 'TypeError', 'inputs[1]');
      expectError(() => apply([tf.input({ shape: [3] }), tf.input({ shape: [4] })]), 'ValueError', 'inputs[1]');
      expectError(() => apply([1, 2].map(() => tf.input({ shape: [3], dtype: 'int32' }))), 'TypeError', 'inputs[0]');
      tf.dispose([a, wide, deep, whole]);
    }),
  );

  it('takes sizes that only one of the inputs tells', () => {
    const shaped = (batchShape: (number | null)[]): tf.SymbolicTensor => tf.input({ batchShape });
    for (const [one, other] of [
      [
        [null, 3],
        [2, 3],
      ],
      [
        [2, 3],
        [null, 3],
      ],
    ] as const) {
      // prettier-ignore
      const pairs = emb.layers.dotInteraction().apply([shaped([...one]), shaped([...other])]);
      expect((pairs as tf.SymbolicTensor).shape.at(-1)).toBe(1);
    }
  });

  it('default names count', () => {
    expect(emb.layers.dotInteraction().name).toMatch(/^dot_interaction_\d+$/);
  });
});
