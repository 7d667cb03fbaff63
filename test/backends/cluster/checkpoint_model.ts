/** A model whose tables are cut in any way. A row occurs once in a step, so that no sum depends on how. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

/** Rows and columns: odd ones, so that shards differ in size. */
export const SIZES = [
  [23, 4],
  [7, 6],
  [2, 3],
] as const;

const BATCH = 2;

/** How tables are cut. */
export const CUTS = {
  whole: {},
  ranges: { rowSliceThreshold: 1 },
  modulo: { rowSliceThreshold: 1, rowSharding: 'modulo' },
  columns: { columnSliceThreshold: 2 },
  copies: { dataParallelThreshold: 1000 },
} as const satisfies Record<string, object>;

export type Cut = keyof typeof CUTS;

export const OPTIMIZERS = {
  sgd: () => emb.train.sgd({ learningRate: 0.1 }),
  adagrad: () => emb.train.adagrad({ learningRate: 0.1, initialAccumulatorValue: 0.25 }),
  adam: () => emb.train.adam({ learningRate: 0.1 }),
  /** Moves rows of earlier steps too. */
  denseAdam: () => emb.train.adam({ learningRate: 0.1, lazy: false }),
} as const;

export class CheckpointModel {
  readonly model: tf.LayersModel;
  readonly layer: emb.DistributedEmbedding;
  optimizer: ReturnType<(typeof OPTIMIZERS)[keyof typeof OPTIMIZERS]>;

  constructor(
    cut: Cut,
    optimizer: keyof typeof OPTIMIZERS,
    private readonly sizes: readonly (readonly [number, number])[] = SIZES,
  ) {
    const embeddings = sizes.map(([inputDim, outputDim], i) => ({
      name: `t${i}`,
      inputDim,
      outputDim,
      combiner: 'sum' as const,
    }));
    this.layer = emb.layers.distributedEmbedding({ embeddings, name: 'tables', seed: 5, ...CUTS[cut] });
    const inputs = sizes.map(() => tf.input({ shape: [1], dtype: 'int32' }));
    const pooled = this.layer.apply(inputs) as tf.SymbolicTensor[];
    const joined = pooled.length === 1 ? pooled[0]! : tf.layers.concatenate().apply(pooled);
    const dense = tf.layers.dense({ units: 1, kernelInitializer: 'ones', trainable: false });
    this.model = tf.model({ inputs, outputs: dense.apply(joined) as tf.SymbolicTensor });
    this.optimizer = this.compile(optimizer);
  }

  /** Trains with another optimizer, without the state of the one before. */
  renew(optimizer: keyof typeof OPTIMIZERS): void {
    this.optimizer.dispose();
    this.optimizer = this.compile(optimizer);
  }

  private compile(name: keyof typeof OPTIMIZERS): typeof this.optimizer {
    const optimizer = OPTIMIZERS[name]();
    this.model.compile({ optimizer, loss: 'meanSquaredError' });
    return optimizer;
  }

  /** Takes steps; each number is one, with ids of its own. */
  async train(...steps: readonly number[]): Promise<void> {
    for (const step of steps) {
      const inputs = this.sizes.map(([rows], t) => {
        return tf.tensor2d(
          Array.from({ length: BATCH }, (_, i) => [(step * (t + 3) + i) % rows]),
          [BATCH, 1],
          'int32',
        );
      });
      const labels = tf.tensor2d(
        Array.from({ length: BATCH }, (_, i) => [step + i / 3]),
        [BATCH, 1],
      );
      await this.model.trainOnBatch(inputs, labels);
      tf.dispose([inputs, labels]);
    }
  }

  /** All numbers of tables. */
  tables(): number[][] {
    return this.layer.getWeights().map((table) => Array.from(table.dataSync()));
  }

  /** The same with those of slots. */
  async state(): Promise<number[][]> {
    const [, ...slots] = (await this.optimizer.getWeights()) as { name: string; tensor: tf.Tensor }[];
    slots.sort((a, b) => (a.name < b.name ? -1 : 1));
    return [...this.tables(), ...slots.map(({ tensor }) => Array.from(tensor.dataSync()))];
  }

  dispose(): void {
    this.model.dispose();
    this.optimizer.dispose();
  }
}
