/** The row-sparse optimizers as classes and as the factories of `emb.train`. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../errors.js';
import { readOptions } from '../options.js';
import type { OptimizerName } from '../types.js';
import { fieldsOf, type SparseOptimizerConfig } from '../ops/optimizer_settings.js';
import { SparseOptimizer, type TrainConfig } from './sparse_optimizer.js';

type Constructor = new (config?: TrainConfig) => SparseOptimizer;

/** Makes the nested dense optimizer of a saved config. */
function readDense(config: Record<string, unknown>): TrainConfig {
  const { dense, ...own } = config as Record<string, unknown> & {
    dense?: { className: string; config: tf.serialization.ConfigDict } | null;
  };
  if (dense === undefined || dense === null || dense instanceof tf.Optimizer) return config as TrainConfig;
  const map = tf.serialization.SerializationMap.getMap().classNameMap;
  const entry = Object.hasOwn(map, dense.className) ? map[dense.className] : undefined;
  if (entry === undefined) throw new ValueError('dense.className', 'a registered optimizer class', dense.className);
  const [cls, fromConfig] = entry;
  return { ...own, dense: fromConfig(cls, dense.config) as unknown as tf.Optimizer } as TrainConfig;
}

function defineOptimizer(name: OptimizerName, className: string): Constructor {
  const optimizer = class extends SparseOptimizer {
    // The prefix keeps stock classes of the same name as they are: saved models name classes by this text.
    static readonly className = `TfjsEmbeddings>${className}`;
    readonly optimizerName = name;
    constructor(config: TrainConfig = {}) {
      super(name, config);
    }
    static override fromConfig<T extends tf.serialization.Serializable>(
      cls: tf.serialization.SerializableConstructor<T>,
      config: tf.serialization.ConfigDict,
    ): T {
      return new cls(readDense(config as Record<string, unknown>));
    }
  };
  tf.serialization.registerClass(optimizer as never);
  return optimizer;
}

/** w -= lr g. */
export const SparseSgd = defineOptimizer('sgd', 'SGD');
/** a += g^2; w -= lr g / sqrt(a + epsilon). */
export const SparseAdagrad = defineOptimizer('adagrad', 'Adagrad');
/** One accumulator per row: a += mean over columns of g^2; w -= lr g / sqrt(a + epsilon). */
export const SparseRowWiseAdagrad = defineOptimizer('rowWiseAdagrad', 'RowWiseAdagrad');
/** Momentum over Adagrad-scaled gradients. */
export const SparseAdagradMomentum = defineOptimizer('adagradMomentum', 'AdagradMomentum');
/** Adam; lazy (rows without ids keep still) unless `lazy: false`. */
export const SparseAdam = defineOptimizer('adam', 'Adam');
/** Follow the regularized leader. */
export const SparseFtrl = defineOptimizer('ftrl', 'Ftrl');

function factory(name: OptimizerName, cls: Constructor): (config?: TrainConfig) => SparseOptimizer {
  const known = [...fieldsOf(name), 'dense'] as const;
  return (config = {}) => new cls(readOptions<TrainConfig>(config, known, 'config'));
}

/**
 * Factories of row-sparse optimizers for `model.compile`, `optimizer.minimize` and a table's own `optimizer`.
 *
 * Each returns a `tf.Optimizer`. Embedding tables are stepped by rows: exact, once per touched row, at a cost that
 * grows with the batch and not with the table. Dense variables go to `dense`, by default the matching stock optimizer
 * (sgd: sgd; adagrad, rowWiseAdagrad, ftrl: adagrad; adagradMomentum: momentum; adam: adam). Defaults equal those of
 * the stock optimizers, so that results equal dense training: sgd and adagrad always, adam with `lazy: false`.
 * `clipValue`, `clipNorm`, `clipWeightMin/Max` and `weightDecay` concern tables; the dense optimizer has its own.
 * Throws TypeError and ValueError that name the field.
 * Source: tf.train.* (TensorFlow.js 4.22), tf.tpu.experimental.embedding.* (TensorFlow 2.21).
 *
 * @example
 * model.compile({optimizer: emb.train.adagrad({learningRate: 0.1}), loss: 'binaryCrossentropy'});
 */
export const train = {
  sgd: factory('sgd', SparseSgd),
  adagrad: factory('adagrad', SparseAdagrad),
  rowWiseAdagrad: factory('rowWiseAdagrad', SparseRowWiseAdagrad),
  adagradMomentum: factory('adagradMomentum', SparseAdagradMomentum),
  adam: factory('adam', SparseAdam),
  ftrl: factory('ftrl', SparseFtrl),
} satisfies Record<OptimizerName, (config?: TrainConfig) => SparseOptimizer>;

export type { SparseOptimizerConfig };
