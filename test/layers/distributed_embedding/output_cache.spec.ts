/** One layer, asked for the same ids by several parts of a model: each gets outputs of its own. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { OutputCache } from '../../../src/layers/distributed_embedding/output_cache.js';
import { whileFeeding } from '../../../src/tfjs/uncast_inputs.js';
import { describeForBackends } from '../../helpers/backends.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { expectClose, leakFree, take, useCpu } from '../setup.js';

const ROWS = 9;
const DIM = 2;

const tables = (): tf.Tensor2D[] =>
  [0, 1].map((table) => tf.tensor2d(Float32Array.from({ length: ROWS * DIM }, (_, i) => Math.sin(i + 7 * table)), [ROWS, DIM])); // prettier-ignore

function layerOfTwo(): emb.DistributedEmbedding {
  const item = { inputDim: ROWS, outputDim: DIM, combiner: 'sum' } as const;
  const layer = emb.layers.distributedEmbedding({ embeddings: [item, item] });
  layer.build();
  const values = tables();
  layer.setWeights(values);
  tf.dispose(values);
  return layer;
}

const inputs = (): tf.SymbolicTensor[] => [0, 1].map(() => tf.input({ shape: [2], dtype: 'int32' }));
const symbolic = (value: unknown): tf.SymbolicTensor[] => value as tf.SymbolicTensor[];
const ids = (): tf.Tensor2D[] => [[[1, 2], [8, 0]], [[3, 3], [5, 1]]].map((rows) => tf.tensor2d(rows, [2, 2], 'int32')); // prettier-ignore

/** Applies the layer twice, and frees what the first call made before the second. */
class TwiceTidied extends tf.layers.Layer {
  static readonly className = 'TwiceTidied';
  constructor(private readonly inner: emb.DistributedEmbedding) {
    super({});
  }

  override computeOutputShape(): number[] {
    return [null as never, DIM];
  }

  override call(given: tf.Tensor | tf.Tensor[]): tf.Tensor {
    const run = (): tf.Tensor => tf.tidy(() => tf.addN(this.inner.apply(given as tf.Tensor[]) as tf.Tensor[]));
    return tf.tidy(() => run().add(run()));
  }
}

/** Models that look the same ids up more than once in a step; each gives the dot products of both lookups. */
const MODELS: Record<string, (layer: emb.DistributedEmbedding) => tf.LayersModel> = {
  'a model in a model': (layer) => {
    const [inner, outer] = [inputs(), inputs()];
    const towers = tf.model({ inputs: inner, outputs: symbolic(layer.apply(inner)).map(through) });
    return tf.model({ inputs: outer, outputs: dotOf(symbolic(towers.apply(outer))) });
  },
  'a model that is applied twice to the same inputs': (layer) => {
    const [inner, outer] = [inputs(), inputs()];
    const towers = tf.model({ inputs: inner, outputs: symbolic(layer.apply(inner)).map(through) });
    const [first, second] = [symbolic(towers.apply(outer)), symbolic(towers.apply(outer))];
    return tf.model({ inputs: outer, outputs: dotOf([first[0]!, second[1]!]) });
  },
  'a layer that is applied twice to the same inputs': (layer) => {
    const outer = inputs();
    const [first, second] = [symbolic(layer.apply(outer)), symbolic(layer.apply(outer))];
    return tf.model({ inputs: outer, outputs: dotOf([through(first[0]!), through(second[1]!)]) });
  },
};

/** The same numbers from another layer, after which tfjs frees what came in. */
function through(input: tf.SymbolicTensor): tf.SymbolicTensor {
  const same = { units: DIM, useBias: false, kernelInitializer: 'identity', trainable: false } as const;
  return tf.layers.dense(same).apply(input) as tf.SymbolicTensor;
}

function dotOf(pair: tf.SymbolicTensor[]): tf.SymbolicTensor {
  return tf.layers.dot({ axes: -1 }).apply(pair) as tf.SymbolicTensor;
}

/** What all of them must predict. */
function expected(layer: emb.DistributedEmbedding, x: tf.Tensor[]): number[] {
  const [a, b] = (layer.apply(x) as tf.Tensor[]).map((each) => take(each)) as [number[], number[]];
  return [0, 1].map((row) => a[2 * row]! * b[2 * row]! + a[2 * row + 1]! * b[2 * row + 1]!);
}

async function check(): Promise<void> {
  for (const [what, make] of Object.entries(MODELS)) {
    const layer = layerOfTwo();
    const x = ids();
    const wanted = expected(layer, x);
    const model = make(layer);
    expectClose(take(model.predict(x)), wanted);
    const y = tf.tensor2d([[1], [2]]);
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    model.compile({ optimizer, loss: 'meanSquaredError' });
    const loss = (wanted: readonly number[]): number => wanted.reduce((sum, w, i) => sum + (w - i - 1) ** 2, 0) / 2;
    const evaluated = take(model.evaluate(x, y) as tf.Scalar)[0]!;
    expectClose([evaluated], [loss(wanted)]);
    const { history } = await model.fit(x, y, { epochs: 2, validationData: [x, y], shuffle: false, verbose: 0 });
    expectClose([(history['loss'] as number[])[0]!], [loss(wanted)]);
    expect((history['val_loss'] as number[])[1]!)
      .withContext(what)
      .toBeLessThan(loss(wanted));
    tf.dispose([...x, y]);
    model.dispose();
    optimizer.dispose();
  }
}

describeForBackends('DistributedEmbedding that is asked again', () => {
  it('gives each part of a model its own outputs', check);
});

describe('DistributedEmbedding that is asked again', () => {
  beforeAll(useCpu);

  it('does so on devices', () => withTpuEmulator({ chips: 2 }, check));

  it(
    'looks ids up again where what it gave is gone',
    leakFree(() => {
      const layer = layerOfTwo();
      const outer = inputs();
      const twice = new TwiceTidied(layer);
      const model = tf.model({ inputs: outer, outputs: twice.apply(outer) as tf.SymbolicTensor });
      const x = ids();
      const [a, b] = (layer.apply(x) as tf.Tensor[]).map((each) => take(each)) as [number[], number[]];
      expectClose(
        take(model.predict(x)),
        a.map((value, i) => 2 * (value + b[i]!)),
      );
      tf.dispose(x);
      model.dispose();
      layer.dispose();
    }),
  );

  it('gives out one copy of each output, and none of those that nobody takes', () => {
    tf.tidy(() =>
      whileFeeding(() => {
        const cache = new OutputCache();
        const [input, ...outputs] = [tf.ones([1]), tf.zeros([1]), tf.zeros([2])];
        cache.keep([input], outputs, false);
        const before = tf.memory().numTensors;
        const found = cache.outputsOf([input], false)!;
        expect(tf.memory().numTensors).toBe(before);
        expect(found[1]).toBe(found[1]);
        expect(found[1]).not.toBe(outputs[1]);
        expect(tf.memory().numTensors).toBe(before + 1);
      }),
    );
  });
});
