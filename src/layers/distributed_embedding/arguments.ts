/** The arguments of `DistributedEmbedding`. */
import type * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { checkBoolean } from '../../base/layer_arguments.js';
import type { PlanData } from '../../partition/plan.js';
import { PLACEMENT_FIELDS, type PlacementArgs } from '../../partition/plan_request.js';
import type { Combiner } from '../../base/types.js';
import { readEmbeddings, readFeatures, type DistributedFeatures, type DistributedItemArgs } from './features.js';
import type { Embedding } from '../embedding/embedding.js';
import type { NestedFeatures } from './feature_types.js';
import type { OutputForm } from './joined_output.js';
import type { RaggedEmbedding } from '../embedding/ragged_embedding.js';

/** What `embeddings` may hold: unbuilt layers, of this package or stock ones, or plain arguments. */
export type DistributedItem<C extends Combiner | null = Combiner | null> =
  Embedding<C> | RaggedEmbedding<C> | tf.layers.Layer | DistributedItemArgs<C>;

/** One table each, unless they share one. */
export interface EmbeddingsForm<Items = readonly DistributedItem[]> {
  embeddings: Items;
  features?: null | undefined;
  /** The item of `embeddings` that each input uses; by default one input for each. */
  inputTableMap?: readonly number[] | null | undefined;
}

/** As in Keras RS. */
export interface FeaturesForm<F = NestedFeatures> {
  features: F;
  embeddings?: null | undefined;
  inputTableMap?: null | undefined;
}

/** How a `DistributedEmbedding` lies on devices; the arguments of the plan as in `planEmbedding`. */
export interface DistributedPlacementArgs<D extends boolean = boolean> extends PlacementArgs<D> {
  /**
   * 'structure' (default): a result for each feature, in the structure of the features. 'concat': one tensor, with the
   * results side by side along the last axis, in the order of the features.
   */
  output?: OutputForm | undefined;
  /** A plan made by hand, which is checked; in place of the planner's. Default: null. */
  plan?: PlanData | string | null | undefined;
  /** Seed of all tables whose initializers have none of their own; null (default): another one each time. */
  seed?: number | null | undefined;
  /** Of Keras RS: kept in the config, without effect. */
  tableStacking?: string | readonly unknown[] | null | undefined;
  /** Of Keras RS: kept in the config, without effect. Default: null. */
  updateStats?: boolean | undefined;
  /** Features with weights in a symbolic graph: known from the first symbolic call, and saved. */
  weightedFeatures?: readonly number[] | null | undefined;
  /** Default: distributed_embedding, with a number. */
  name?: string | undefined;
  /** false: no table is updated. Default: true. */
  trainable?: boolean | undefined;
  /** Accepted for compatibility: tables are always float32. */
  dtype?: string | undefined;
}

/** Arguments of `DistributedEmbedding`, in one of two forms. */
export type DistributedEmbeddingArgs = DistributedPlacementArgs & (EmbeddingsForm | FeaturesForm);

export const ARGUMENTS: readonly (keyof DistributedEmbeddingArgs)[] = [
  'embeddings',
  'features',
  'inputTableMap',
  'output',
  ...PLACEMENT_FIELDS,
  'plan',
  'seed',
  'tableStacking',
  'updateStats',
  'weightedFeatures',
  'name',
  'trainable',
  'dtype',
];

export function checkSeed(seed: unknown): number | null {
  if (seed === undefined || seed === null) return null;
  if (typeof seed !== 'number') throw new ArgumentTypeError('seed', 'a whole number', seed);
  if (!Number.isSafeInteger(seed)) throw new ValueError('seed', 'a whole number', seed);
  return seed;
}

/** Checks what is kept in the config, without effect. */
export function checkKept({ tableStacking, updateStats }: Partial<DistributedEmbeddingArgs>): void {
  checkBoolean(updateStats, 'updateStats', false);
  if (tableStacking === undefined || tableStacking === null || tableStacking === 'auto') return;
  const expected = "'auto', or names of tables, or lists of them";
  if (typeof tableStacking === 'string') throw new ValueError('tableStacking', expected, tableStacking);
  const isName = (value: unknown): boolean => typeof value === 'string';
  const fits = (value: unknown): boolean => isName(value) || (Array.isArray(value) && value.every(isName));
  if (!Array.isArray(tableStacking) || !tableStacking.every(fits)) {
    throw new ArgumentTypeError('tableStacking', expected, tableStacking);
  }
}

/** Tables and features, from either form. */
export function readAll(args: Partial<DistributedEmbeddingArgs>): DistributedFeatures {
  const { embeddings, features, inputTableMap } = args;
  const [hasList, hasConfigs] = [embeddings, features].map((given) => given !== undefined && given !== null);
  if (hasList === hasConfigs) {
    const received = described(hasList ? 'both' : 'neither');
    const Wrong = hasList ? ValueError : ArgumentTypeError;
    throw new Wrong('embeddings', 'either embeddings or features', received);
  }
  if (hasList) return readEmbeddings(embeddings, inputTableMap);
  if (inputTableMap !== undefined && inputTableMap !== null) {
    throw new ValueError('inputTableMap', 'nothing: with features each FeatureConfig names its table', inputTableMap);
  }
  return readFeatures(features);
}

/** The features that have weights in a symbolic graph. */
export function checkWeighted(value: unknown, features: number): readonly number[] | null {
  if (value === undefined || value === null) return null;
  const expected = 'numbers of features';
  if (!Array.isArray(value)) throw new ArgumentTypeError('weightedFeatures', expected, value);
  const fits = value.every((item) => Number.isInteger(item) && item >= 0 && item < features);
  if (!fits) throw new ValueError('weightedFeatures', `${expected}, 0 to ${features - 1}`, value);
  return value as number[];
}
