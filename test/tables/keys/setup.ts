/** What specs of open tables share: a model over one, batches of texts, and the rows that keys begin with. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { rowFiller } from '../../../src/backends/fill.js';
import { startKey } from '../../../src/tables/keys/key_steps.js';
import { readKeys } from '../../../src/tables/keys/read_keys.js';
import { take } from '../../layers/setup.js';

export const DIM = 3;
export const CAPACITY = 40;
export const SEED = 7;

type Keys = string | number | bigint;

/** The row that a key begins with, by the default initializer. */
export function startOf(key: Keys, seed = SEED): number[] {
  const { words } = readKeys([key], typeof key === 'string' ? 'string' : 'int64', 'key');
  const values = new Float32Array(DIM);
  const fill = { kind: 'uniform', min: -0.05, max: 0.05, seed } as const;
  rowFiller(fill, DIM)(startKey(seed, words[0]!, words[1]!), values);
  return Array.from(values);
}

type LayerArgs = Partial<emb.EmbeddingArgs>;

export function head(rows: tf.SymbolicTensor): tf.SymbolicTensor {
  const kernelInitializer = tf.initializers.glorotUniform({ seed: 5 });
  return tf.layers.dense({ units: 1, kernelInitializer, name: 'head' }).apply(rows) as tf.SymbolicTensor;
}

export function openModel(table: emb.OpenTable, optimizer: tf.Optimizer, args: LayerArgs = {}): tf.LayersModel {
  const input = emb.input({ shape: [2], dtype: table.keyKind, name: 'keys' });
  const layer = emb.layers.embedding({ table, combiner: 'mean', ...args } as emb.EmbeddingArgs);
  const model = tf.model({ inputs: input, outputs: head(layer.apply(input)) });
  model.compile({ optimizer, loss: 'meanSquaredError' });
  return model;
}

export function open(args: Partial<emb.OpenTableArgs> = {}): emb.OpenTable {
  return emb.openTable({ outputDim: DIM, capacity: CAPACITY, keys: 'string', seed: SEED, ...args });
}

/** Batches of texts: some of them in each, new ones as it goes on. */
export function batches(count: number): { keys: string[][]; y: number[][] }[] {
  return Array.from({ length: count }, (_, step) => {
    const keys = Array.from({ length: 4 }, (__, row) => [`k${(step * 3 + row) % 11}`, `k${(step + 2 * row) % 20}`]);
    return { keys, y: keys.map(([a]) => [a!.length - 1 + (step % 3) / 4]) };
  });
}

export async function train(model: tf.LayersModel, all: ReturnType<typeof batches>): Promise<number[]> {
  const losses: number[] = [];
  for (const { keys, y } of all) {
    const target = tf.tensor2d(y);
    losses.push((await model.trainOnBatch(keys as never, target)) as number);
    target.dispose();
  }
  return losses;
}

export function predicted(model: tf.LayersModel, keys: unknown): number[] {
  return take(model.predict(keys as never));
}
