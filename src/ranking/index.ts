/** Ranking and retrieval. Importing this file gives `compile` the names of its losses and metrics. */
import * as tf from '@tensorflow/tfjs';
import { watchSteps } from '../tfjs/training/model_steps.js';
import { BruteForceRetrieval } from './brute_force_retrieval.js';
import { nameLosses } from './losses/index.js';
import { nameMetrics } from './metrics/index.js';

watchSteps();
nameLosses();
nameMetrics();
tf.serialization.registerClass(BruteForceRetrieval as never);

export * as ann from './ann/index.js';
export * as evaluate from './evaluate.js';
export * as losses from './losses/index.js';
export * as metrics from './metrics/index.js';
export * as sampling from './sampling.js';
export { BruteForceRetrieval, bruteForceRetrieval, type BruteForceRetrievalArgs } from './brute_force_retrieval.js';
export { foldIn, type FoldInArgs } from './fold_in.js';
export type { TopK } from './id_lists.js';
export { topK, type RerankArgs, type TopKOptions } from './top_k.js';
export type { KeyedTopK, KeyedTopKOptions } from './open_top_k.js';
export type { RankedTable } from './ranked_table.js';
