/** Ragged rows in the methods of models, beside the same ids padded. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { Random } from '../../helpers/random.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';

const [ROWS, DIM, SAMPLES, EPOCHS] = [12, 4, 11, 3];

type Inputs = Record<string, emb.RaggedTensor | tf.Tensor>;

/** A model, and its data with ragged rows and with the same rows padded. */
interface Case {
  readonly build: () => tf.LayersModel;
  readonly ragged: () => Inputs;
  readonly padded: () => Inputs;
}

const uniform = (seed: number): ReturnType<typeof tf.initializers.randomUniform> =>
  tf.initializers.randomUniform({ minval: -1, maxval: 1, seed });

function rowsOf(seed: number, low = 0): number[][] {
  const random = new Random(seed);
  return Array.from({ length: SAMPLES }, (_, row) =>
    Array.from({ length: row % 4 === 3 ? 0 : random.whole(1, 6) }, () => random.whole(low, ROWS)),
  );
}

const ids = (seed: number, low = 0): emb.RaggedTensor =>
  emb.RaggedTensor.fromRows(rowsOf(seed, low), { dtype: 'int32' });
const weights = (seed: number): emb.RaggedTensor => {
  const rows = rowsOf(seed).map((row) => row.map((id) => 0.5 + id / ROWS));
  return emb.RaggedTensor.fromRows(rows, { dtype: 'float32' });
};
const dense = (seed: number): tf.Tensor2D => {
  const random = new Random(seed);
  return tf.tensor2d(
    Array.from({ length: SAMPLES * 2 }, () => random.whole(0, ROWS)),
    [SAMPLES, 2],
    'int32',
  );
};
const input = (name: string, dtype: tf.DataType = 'int32'): tf.SymbolicTensor =>
  tf.input({ shape: [null], name, dtype } as never);

function modelOf(inputs: tf.SymbolicTensor[], pooled: tf.SymbolicTensor): tf.LayersModel {
  const outputs = tf.layers.dense({ units: 1, kernelInitializer: uniform(9) }).apply(pooled) as tf.SymbolicTensor;
  const model = tf.model({ inputs, outputs });
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  return model;
}

type Kind = 'embedding' | 'raggedEmbedding';

function pooling(kind: Kind, args: object, low = 0): Case {
  return {
    build() {
      const x = input('x');
      const own = { inputDim: ROWS, outputDim: DIM, embeddingsInitializer: uniform(1) as never, ...args };
      return modelOf([x], emb.layers[kind](own as never).apply(x) as tf.SymbolicTensor);
    },
    ragged: () => ({ x: ids(1, low) }),
    padded: () => ({ x: ids(1, low).toPadded() }),
  };
}

function weighted(kind: Kind, combiner: emb.Combiner): Case {
  return {
    build() {
      const [x, w] = [input('x'), input('w', 'float32')];
      const own = { inputDim: ROWS, outputDim: DIM, combiner, embeddingsInitializer: uniform(1) as never };
      return modelOf([x, w], emb.layers[kind](own).apply([x, w]) as tf.SymbolicTensor);
    },
    ragged: () => ({ x: ids(1), w: weights(1) }),
    padded: () => ({ x: ids(1).toPadded(), w: weights(1).toPadded({ defaultValue: 0 }) }),
  };
}

const CASES: Record<string, Case> = {
  'embedding, sum': pooling('embedding', { combiner: 'sum' }),
  'embedding, mean, ids that are 0 left out': pooling('embedding', { combiner: 'mean', maskZero: true }),
  'raggedEmbedding, mean': pooling('raggedEmbedding', { combiner: 'mean' }),
  'raggedEmbedding, sqrtn, ids that are 0 left out': pooling('raggedEmbedding', { combiner: 'sqrtn', maskZero: true }),
  'raggedEmbedding with maxNorm and a penalty': pooling('raggedEmbedding', {
    combiner: 'sum',
    maxNorm: 0.8,
    embeddingsRegularizer: tf.regularizers.l2({ l2: 0.01 }),
  }),
  'weights, embedding': weighted('embedding', 'mean'),
  'weights, raggedEmbedding': weighted('raggedEmbedding', 'sum'),
  'rows side by side into an LSTM': {
    build() {
      const x = input('x');
      const own = { inputDim: ROWS, outputDim: DIM, embeddingsInitializer: uniform(1) as never };
      const rows = emb.layers.raggedEmbedding(own).apply(x) as tf.SymbolicTensor;
      const lstm = { units: 3, kernelInitializer: uniform(2), recurrentInitializer: uniform(3) };
      return modelOf([x], tf.layers.lstm(lstm as never).apply(rows) as tf.SymbolicTensor);
    },
    ragged: () => ({ x: ids(1) }),
    padded: () => ({ x: ids(1).toPadded() }),
  },
  'rows side by side, as long as the input says, into a dense layer': {
    build() {
      const x = emb.input({ shape: [7], ragged: true, name: 'x' });
      const own = { inputDim: ROWS, outputDim: DIM, embeddingsInitializer: uniform(1) as never };
      const rows = emb.layers.raggedEmbedding(own).apply(x) as tf.SymbolicTensor;
      return modelOf([x], tf.layers.flatten().apply(rows) as tf.SymbolicTensor);
    },
    ragged: () => ({ x: ids(1) }),
    padded: () => ({ x: ids(1).toPadded({ maxLength: 7 }) }),
  },
  'rows side by side whose ids of 0 are left out': {
    build() {
      const x = input('x');
      const own = { inputDim: ROWS, outputDim: DIM, maskZero: true, embeddingsInitializer: uniform(1) as never };
      const rows = emb.layers.embedding(own).apply(x) as tf.SymbolicTensor;
      const lstm = { units: 3, kernelInitializer: uniform(2), recurrentInitializer: uniform(3) };
      return modelOf([x], tf.layers.lstm(lstm as never).apply(rows) as tf.SymbolicTensor);
    },
    ragged: () => ({ x: ids(1) }),
    // Padding is the id 0 here, which the mask leaves out as well.
    padded: () => ({ x: ids(1).toPadded({ defaultValue: 0 }) }),
  },
  'two ragged inputs that share a table, and a dense one': {
    build() {
      const [x, y, z] = [input('x'), input('y'), tf.input({ shape: [2], name: 'z', dtype: 'int32' })];
      const table = emb.embeddingTable({ inputDim: ROWS, outputDim: DIM, embeddingsInitializer: uniform(1) as never });
      const parts = [x, y].map((each) => emb.layers.raggedEmbedding({ table, combiner: 'sum' }).apply(each));
      const last = emb.layers
        .embedding({ inputDim: ROWS, outputDim: DIM, combiner: 'mean', embeddingsInitializer: uniform(4) as never })
        .apply(z);
      return modelOf([x, y, z], tf.layers.concatenate().apply([...parts, last] as never) as tf.SymbolicTensor);
    },
    ragged: () => ({ x: ids(1), y: ids(2), z: dense(3) }),
    padded: () => ({ x: ids(1).toPadded(), y: ids(2).toPadded(), z: dense(3) }),
  },
  'distributedEmbedding of ragged and dense features': {
    build() {
      const [x, z] = [input('x'), tf.input({ shape: [2], name: 'z', dtype: 'int32' })];
      const own = { inputDim: ROWS, outputDim: DIM, combiner: 'mean' as const };
      const layer = emb.layers.distributedEmbedding({
        embeddings: [1, 2].map((seed) => ({
          ...own,
          ragged: seed === 1,
          embeddingsInitializer: uniform(seed) as never,
        })),
      });
      const parts = layer.apply([x, z]) as unknown as tf.SymbolicTensor[];
      return modelOf([x, z], tf.layers.concatenate().apply(parts) as tf.SymbolicTensor);
    },
    ragged: () => ({ x: ids(1), z: dense(3) }),
    padded: () => ({ x: ids(1).toPadded(), z: dense(3) }),
  },
  'a model within a model': {
    build() {
      const inner = pooling('raggedEmbedding', { combiner: 'mean' }).build();
      const x = input('outer');
      return modelOf([x], inner.apply(x) as tf.SymbolicTensor);
    },
    ragged: () => ({ outer: ids(1) }),
    padded: () => ({ outer: ids(1).toPadded() }),
  },
};

/** The numbers of a model: losses of everything that it does, predictions, and weights at the end. */
async function numbersOf({ build }: Case, data: Inputs, options: object): Promise<number[]> {
  const model = build();
  const given = data as Record<string, tf.Tensor>;
  const y = tf.tidy(() => tf.linspace(-1, 1, SAMPLES).reshape([SAMPLES, 1]));
  const fitted = await model.fit(given, y, { epochs: EPOCHS, batchSize: 4, verbose: 0, ...options });
  const found = Object.values(fitted.history).flat() as number[];
  found.push((await model.trainOnBatch(given, y)) as number);
  const values = model.inputNames.map((name) => given[name]!);
  const x = values.length === 1 ? values[0]! : values;
  tf.tidy(() => {
    found.push(...(model.evaluate(x, y, { batchSize: 3 }) as tf.Scalar).dataSync());
    found.push(...(model.predict(x, { batchSize: 4 }) as tf.Tensor).dataSync());
    found.push(...(model.predictOnBatch(given as never) as tf.Tensor).dataSync());
    for (const weight of model.getWeights()) found.push(...weight.dataSync());
  });
  model.optimizer.dispose();
  model.dispose();
  const tensors = Object.values(data).filter((each) => each instanceof tf.Tensor);
  tf.dispose([y, ...tensors]);
  return found;
}

/** Runs with the same shuffles. */
async function seeded<T>(run: () => Promise<T>): Promise<T> {
  const random = new Random(5);
  const { random: stock } = Math;
  Math.random = () => random.next();
  try {
    return await run();
  } finally {
    Math.random = stock;
  }
}

const FITS: Record<string, object> = {
  'in order': { shuffle: false, validationData: null },
  'shuffled, and a part to validate on': { shuffle: true, validationSplit: 0.3 },
};

type Run = (body: () => Promise<void>) => Promise<void>;

function defineCases(run: Run): void {
  for (const [what, each] of Object.entries(CASES)) {
    for (const [how, options] of Object.entries(FITS)) {
      it(`are trained, evaluated and predicted as padded ones: ${what}, ${how}`, () =>
        run(() =>
          expectNoLeakAsync(async () => {
            const ragged = await seeded(() => numbersOf(each, each.ragged(), options));
            const padded = await seeded(() => numbersOf(each, each.padded(), options));
            expect(ragged.length).toBe(padded.length);
            ragged.forEach((value, i) => expect(value).withContext(`number ${i}`).toBeCloseTo(padded[i]!, 5));
          }),
        ));
    }
  }
}

describeForBackends('Ragged inputs of models', () => defineCases((body) => body()));

describe('Ragged inputs of models [tpu-emulator]', () => {
  defineCases((body) => withTpuEmulator({ chips: 2 }, body));
});
