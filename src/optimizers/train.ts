/** The row-sparse optimizers as classes and as the factories of `emb.train`. */
import * as tf from '@tensorflow/tfjs';
import { camelKeys } from '../base/camel_case.js';
import { ValueError } from '../base/errors.js';
import { fieldsOf } from '../rules/optimizer_settings.js';
import { isRecord, readOptions } from '../base/options.js';
import { OPTIMIZER_NAMES, ofEachRule, type OptimizerName } from '../rules/rules.js';
import type { UpdateRule } from '../rules/update_rule.js';
import { clipByGlobalNorm } from './step_gradients.js';
import { readStateNames } from './saved_state.js';
import { SparseOptimizer, type SavedParts, type TrainConfig } from './sparse_optimizer.js';

type MakeDense = () => tf.Optimizer;
type Constructor = new (config?: TrainConfig, saved?: SavedParts) => SparseOptimizer;

/** What tfjs and Keras put beside the fields of an optimizer. */
const WITHOUT_EFFECT = ['customObjects', 'name'];

/** A note on a field that only other optimizers have. */
function ownersOf(field: string): string | undefined {
  const owners = OPTIMIZER_NAMES.filter((name) => (fieldsOf(name) as readonly string[]).includes(field));
  return owners.length === 0 ? undefined : `${field} is a field of emb.train.${owners.join(', ')}.`;
}

/** The fields of one optimizer. `usage`: how its factory is called. */
function readConfig(name: OptimizerName, config: unknown, usage?: string): TrainConfig {
  return readOptions<TrainConfig>(config, [...fieldsOf(name), 'dense'], 'config', usage, ownersOf);
}

/** The fields of a saved config, and what it holds beside them. */
function readSaved(name: OptimizerName, config: Record<string, unknown>): [TrainConfig, SavedParts] {
  const entries = Object.entries(camelKeys(config)).filter(([key]) => !WITHOUT_EFFECT.includes(key));
  const { dense, state, ...own } = Object.fromEntries(entries);
  const read = readConfig(name, own);
  // A copy by config has no state to bring; tfjs sets `customObjects` when it loads a model, which has.
  const due = 'customObjects' in config ? readStateNames(state) : null;
  if (dense === undefined || dense === null) return [read, { state: due }];
  if (dense instanceof tf.Optimizer) return [{ ...read, dense }, { state: due }];
  const make = readDense(dense as { className: string; config: tf.serialization.ConfigDict });
  return [read, { state: due, dense: make }];
}

function readDense({ className, config }: { className: string; config: tf.serialization.ConfigDict }): MakeDense {
  const map = tf.serialization.SerializationMap.getMap().classNameMap;
  const entry = Object.hasOwn(map, className) ? map[className] : undefined;
  if (entry === undefined) throw new ValueError('dense.className', 'a registered optimizer class', className);
  const [cls, fromConfig] = entry;
  return () => fromConfig(cls, config) as unknown as tf.Optimizer;
}

function defineOptimizer(name: OptimizerName, { className }: UpdateRule): Constructor {
  const optimizer = class extends SparseOptimizer {
    // The prefix keeps stock classes of the same name as they are: saved models name classes by this text.
    static readonly className = `TfjsEmbeddings>${className}`;
    readonly optimizerName = name;
    constructor(config: TrainConfig = {}, saved: SavedParts = {}) {
      super(name, config, saved);
    }
    static override fromConfig<T extends tf.serialization.Serializable>(
      cls: tf.serialization.SerializableConstructor<T>,
      config: tf.serialization.ConfigDict,
    ): T {
      const [read, saved] = readSaved(name, config as Record<string, unknown>);
      return new (cls as unknown as Constructor)(read, saved) as unknown as T;
    }
  };
  tf.serialization.registerClass(optimizer as never);
  return optimizer;
}

/** The classes of the row-sparse optimizers. */
export const SPARSE_OPTIMIZERS = ofEachRule(defineOptimizer);

type Factories = { readonly [N in OptimizerName]: Factory<N> };
type Factory<N extends OptimizerName> = (config?: TrainConfig<N>) => SparseOptimizer;

function factory<N extends OptimizerName>(name: N): Factory<N> {
  return (config = {} as TrainConfig<N>) => {
    const usage = `emb.train.${name}({learningRate: ${typeof config === 'number' ? String(config) : 0.01}})`;
    const given = withSchedule(config);
    return new SPARSE_OPTIMIZERS[name](readConfig(name, given, usage));
  };
}

/** A schedule may come under the name that it has in configs of Keras. */
function withSchedule(config: unknown): unknown {
  if (!isRecord(config) || config['learningRate'] !== undefined || !isRecord(config['learning_rate'])) return config;
  const { learning_rate: learningRate, ...rest } = config;
  return { ...rest, learningRate };
}

/**
 * Factories of row-sparse optimizers for `model.compile`, `optimizer.minimize` and a table's own `optimizer`.
 *
 * Each returns a `tf.Optimizer`. Embedding tables are stepped by rows: exact, once per touched row, at a cost that
 * grows with the batch and not with the table. Dense variables go to `dense`, by default the stock optimizer that does
 * the same, or where there is none the rule itself; docs/optimizers.md names it for each. Defaults equal those of the
 * stock optimizers, so that results equal dense training: those with a field `lazy` where it is false, others always.
 * `clipValue`, `clipNorm`, `clipWeightMin/Max` and `weightDecay` concern tables; the dense optimizer has its own.
 * `globalClipNorm` is the norm over everything together. `learningRate` may be a function of the step or a schedule
 * of Keras (`{className: 'CosineDecay', config}`), which is saved with the model.
 * Source: tf.train.* (TensorFlow.js 4.22), tf.tpu.experimental.embedding.* (TensorFlow 2.21).
 *
 * @throws TypeError and ValueError that name the field.
 *
 * @example
 * model.compile({optimizer: emb.train.adagrad({learningRate: 0.1}), loss: 'binaryCrossentropy'});
 */
export const train = withFunctions(ofEachRule(factory) as Factories);

/** Adds what is no optimizer; not enumerable, so that the keys of `train` remain the names of the optimizers. */
function withFunctions(factories: Factories): Factories & { readonly clipByGlobalNorm: typeof clipByGlobalNorm } {
  return Object.defineProperty(factories, 'clipByGlobalNorm', { value: clipByGlobalNorm }) as never;
}
