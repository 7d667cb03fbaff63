/** Layers of attention, pooling under masks and operations of Keras: captured steps beside the same op by op. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { expectClose } from '../../helpers/tensors.js';

const [LENGTH, DIM, ROWS] = [6, 8, 20];

const uniform = (seed: number): never => tf.initializers.randomUniform({ minval: -0.5, maxval: 0.5, seed }) as never;
type Symbol = tf.SymbolicTensor;

/** What stands between the vectors of the ids and one vector for each row. */
const PARTS: Readonly<Record<string, (x: Symbol, ids: Symbol) => Symbol>> = {
  'attention of many heads, causal': (x) => {
    const args = { numHeads: 2, keyDim: 4, kernelInitializer: uniform(3) };
    const seen = emb.layers.multiHeadAttention(args).apply([x, x], { useCausalMask: true } as never) as Symbol;
    return emb.layers.globalAveragePooling1d().apply(tf.layers.add().apply([x, seen]) as Symbol) as Symbol;
  },
  'attention of one head': (x) => {
    const seen = emb.layers.attention({ useScale: true }).apply([x, x]) as Symbol;
    return emb.layers.globalAveragePooling1d().apply(seen) as Symbol;
  },
  'additive attention': (x) => {
    const seen = emb.layers.additiveAttention().apply([x, x]) as Symbol;
    return emb.layers.globalAveragePooling1d().apply(seen) as Symbol;
  },
  'rows of length one': (x) => {
    const mean = emb.layers.globalAveragePooling1d().apply(x) as Symbol;
    return emb.layers.unitNormalization().apply(mean) as Symbol;
  },
  operations: (x) => {
    const last = emb.layers.operation({ operation: 'GetItem', operands: [{ tensor: 0 }, [{}, -1]] }).apply(x) as Symbol;
    return emb.layers.operation({ operation: 'Tanh' }).apply(last) as Symbol;
  },
};

function modelOf(part: (x: Symbol, ids: Symbol) => Symbol): tf.LayersModel {
  const ids = tf.input({ shape: [LENGTH], dtype: 'int32' });
  const table = { inputDim: ROWS, outputDim: DIM, maskZero: true, embeddingsInitializer: uniform(1) };
  const x = emb.layers.embedding(table).apply(ids) as Symbol;
  const outputs = tf.layers.dense({ units: 1, kernelInitializer: uniform(2) }).apply(part(x, ids)) as Symbol;
  const model = tf.model({ inputs: ids, outputs });
  model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  return model;
}

const numbersOf = (model: tf.LayersModel): number[] =>
  model.getWeights().flatMap((each) => Array.from(each.dataSync()));

function predicted(model: tf.LayersModel, x: tf.Tensor): Float32Array {
  return tf.tidy(() => (model.predict(x) as tf.Tensor).dataSync<'float32'>().slice());
}

describeForBackends(
  'Captured steps of attention and operations',
  () => {
    for (const [name, part] of Object.entries(PARTS)) {
      it(`equal those op by op: ${name}`, async () => {
        const x = tf.randomUniform([24, LENGTH], 0, ROWS, 'int32', 5);
        const y = tf.randomNormal([24, 1], 0, 1, 'float32', 6);
        const [captured, plain] = [modelOf(part), modelOf(part)];
        emb.setCapture(false, plain);
        plain.setWeights(captured.getWeights());
        const before = numbersOf(captured);
        const args = { epochs: 4, batchSize: 8, shuffle: false, verbose: 0 };
        for (const model of [captured, plain]) await model.fit(x, y, args);
        expect(emb.stepInfo(captured).reason).toBeNull();
        expect(emb.stepInfo(captured).captured).toBeTrue();
        expect(emb.stepInfo(captured).signatures).toBeGreaterThan(0);
        expect(numbersOf(captured)).not.toEqual(before);
        // Graphs have another softmax, with other last bits.
        expectClose(numbersOf(captured), numbersOf(plain), 1, name, 1e-5);
        expectClose(predicted(captured, x), predicted(plain, x), 1, 'predictions', 1e-5);
        for (const model of [captured, plain]) {
          model.optimizer.dispose();
          model.dispose();
        }
        tf.dispose([x, y]);
      });
    }
  },
  ['tensorflow'],
);
