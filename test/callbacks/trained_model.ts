/** A small model with a table, which trains on the same few rows in the same order. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

const [ROWS, DIM, COUNT, BATCH] = [12, 3, 8, 2];

export type TrainedBy = 'adagrad' | 'adam' | 'stock';

function optimizerOf(name: TrainedBy): tf.Optimizer {
  if (name === 'stock') return tf.train.adam(0.05);
  return emb.train[name]({ learningRate: 0.05 });
}

/** Batches in an order that a seed decides, anew for each reading. */
function shuffled(): emb.data.Dataset {
  const items = Array.from({ length: COUNT }, (_, i) => [(5 * i) % ROWS, (7 * i + 2) % ROWS]);
  const rows = { items, target: items.map(([a, b]) => (a! - b!) / 8) };
  const columns = { items: { list: 'int' }, target: 'float' } as const;
  return emb.data
    .fromArrays(rows, { columns, label: 'target' } as never)
    .shuffle(COUNT, 3)
    .batch(BATCH);
}

export class TrainedModel {
  readonly model: tf.LayersModel;
  readonly #made: { dispose(): unknown }[] = [];

  /** `name`: of layers. `layer`: another one with a table, which takes lists. */
  constructor(optimizer: TrainedBy, name?: string, layer: (() => tf.layers.Layer) | null = null) {
    const named = (end: string): { name?: string } => (name === undefined ? {} : { name: `${name}_${end}` });
    const input = tf.input({ shape: [2], dtype: 'int32', name: 'items' });
    const first =
      layer?.() ??
      (emb.layers.embedding({
        ...named('table'),
        inputDim: ROWS,
        outputDim: DIM,
        combiner: 'sum',
        embeddingsInitializer: tf.initializers.randomUniform({ minval: -0.5, maxval: 0.5, seed: 7 }),
      }) as tf.layers.Layer);
    const pooled = first.apply(layer === null ? input : [input]);
    const dense = tf.layers.dense({ ...named('dense'), units: 1, kernelInitializer: 'ones' });
    const outputs = dense.apply([pooled].flat()[0] as tf.SymbolicTensor) as tf.SymbolicTensor;
    this.model = tf.model({ inputs: input, outputs });
    const by = optimizerOf(optimizer);
    this.#made.push(this.model, by);
    this.model.compile({ optimizer: by, loss: 'meanSquaredError' });
  }

  /** Returns how many epochs there were. */
  async train(
    how: 'fit' | 'fitDataset' | 'shuffled',
    epochs: number,
    callbacks: readonly unknown[],
    batches = Infinity,
  ): Promise<number> {
    const broken = new tf.CustomCallback({
      onBatchEnd: () => {
        if (--batches < 0) throw new Error('broken off');
      },
    });
    const args = {
      epochs,
      verbose: 0 as const,
      callbacks: [...callbacks, broken] as unknown as tf.CustomCallbackArgs[],
    };
    if (how === 'shuffled') {
      const { epoch } = await this.model.fitDataset(shuffled() as never, args as never);
      return epoch.length;
    }
    if (how === 'fitDataset') {
      const dataset = tf.data.generator(batchesInOrder).batch(BATCH) as unknown as tf.data.Dataset<tf.TensorContainer>;
      const { epoch } = await this.model.fitDataset(dataset as never, args as never);
      return epoch.length;
    }
    const [x, y] = tensors();
    try {
      const { epoch } = await this.model.fit(x, y, { ...args, batchSize: BATCH, shuffle: false });
      return epoch.length;
    } finally {
      tf.dispose([x, y]);
    }
  }

  /** All numbers of the model and its optimizer, by name. */
  async state(): Promise<Record<string, number[]>> {
    const found: Record<string, number[]> = {};
    this.model.getWeights().forEach((weight, i) => (found[`weight ${i}`] = Array.from(weight.dataSync())));
    const state = (await this.model.optimizer.getWeights()) as { name: string; tensor: tf.Tensor }[];
    state.forEach(({ tensor }, i) => {
      found[`state ${i}`] = Array.from(tensor.dataSync());
      // Those of tfjs make the count of steps for each call.
      if (!(this.model.optimizer instanceof emb.SparseOptimizer) && !(tensor instanceof tf.Variable)) tensor.dispose();
    });
    return found;
  }

  dispose(): void {
    for (const each of this.#made) each.dispose();
  }
}

function rowOf(i: number): [number[], number] {
  const ids = [(5 * i) % ROWS, (7 * i + 2) % ROWS];
  return [ids, (ids[0]! - ids[1]!) / 8];
}

function tensors(): [tf.Tensor, tf.Tensor] {
  const rows = Array.from({ length: COUNT }, (_, i) => rowOf(i));
  return [
    tf.tensor2d(rows.map(([ids]) => ids), [COUNT, 2], 'int32'), // prettier-ignore
    tf.tensor2d(rows.map(([, target]) => [target])), // prettier-ignore
  ];
}

function* batchesInOrder(): Generator<{ xs: tf.Tensor; ys: tf.Tensor }> {
  for (let i = 0; i < COUNT; i++) {
    const [ids, target] = rowOf(i);
    yield { xs: tf.tensor1d(ids, 'int32'), ys: tf.tensor1d([target]) };
  }
}
