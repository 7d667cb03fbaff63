/** TensorFlow's steps of each TPU optimizer, and the optimizers that take them. */
import * as emb from 'tfjs-embeddings';
import { camelCase, readGoldens } from './goldens.js';

const { tpu } = emb;

export interface OptimizerCase {
  readonly name: string;
  readonly optimizer: 'sgd' | 'adagrad' | 'adagrad_momentum' | 'adam' | 'ftrl';
  readonly learning_rate: number;
  readonly hyper: Record<string, unknown>;
  readonly slots_initial: Record<string, number>;
  readonly slot_names: string[];
  readonly clip_w?: [number, number];
  readonly clip_g?: [number, number];
  readonly steps: Record<string, number[][]>[];
}
export interface OptimizerGoldens {
  readonly vocab: number;
  readonly dim: number;
  readonly table: number[][];
  readonly batches: { ids: number[]; grads: number[][] }[];
  readonly cases: OptimizerCase[];
}

export const optimizerGoldens = readGoldens<OptimizerGoldens>('optimizers');
const CLASSES = {
  sgd: tpu.SGD,
  adagrad: tpu.Adagrad,
  adagrad_momentum: tpu.AdagradMomentum,
  adam: tpu.Adam,
  ftrl: tpu.FTRL,
};

/** The optimizer of a case. */
export function optimizerOf({
  optimizer,
  learning_rate,
  hyper,
  slots_initial,
  clip_w,
  clip_g,
}: OptimizerCase): emb.tpu.TPUEmbeddingOptimizer {
  const accumulators = slots_initial['accumulators'];
  const start = ['adagrad', 'ftrl'].includes(optimizer) ? { initialAccumulatorValue: accumulators } : {};
  const limits = { clipWeightMin: clip_w?.[0], clipWeightMax: clip_w?.[1], clipvalue: clip_g };
  const args = { ...camelCase(hyper), ...start, ...limits, learningRate: learning_rate };
  return new (CLASSES[optimizer] as new (args: object) => emb.tpu.TPUEmbeddingOptimizer)(args);
}
