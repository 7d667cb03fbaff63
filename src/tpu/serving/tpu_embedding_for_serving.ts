/** Embedding tables that are only looked up, on any backend. */
import type * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { loadVariables, saveVariables, type SaveOptions } from '../checkpoint/checkpoint.js';
import type { GivenTableConfig } from '../config/table_config.js';
import { readFields } from '../config/fields.js';
import { FeatureNest, type NestedFeatureConfigs } from '../features/feature_nest.js';
import { readOptimizer } from '../optimizers/optimizer_config.js';
import type { TPUEmbeddingOptimizer } from '../optimizers/tpu_optimizer.js';
import { EmbeddingTables } from '../tables/embedding_tables.js';
import { readTables } from '../tables/read_tables.js';
import { serve } from './serving_lookup.js';

export interface TPUEmbeddingForServingArgs {
  /** FeatureConfigs in objects and arrays of any depth. */
  featureConfig: NestedFeatureConfigs;
  /** Of tables that have none; null: those have no slots. */
  optimizer?: TPUEmbeddingOptimizer | null | undefined;
}

/**
 * Tables of the TPU embedding API where there is no TPU: the same features, the same variables, looked up by
 * `servingEmbeddingLookup` on any backend.
 *
 * `call(features, weights?)` returns activations in the structure of the features, and makes the tables when they are first
 * needed. `embeddingTables` is a Map from TableConfig to its variable [vocabularySize, dim], `variables` a Map from the name
 * of a table to `{parameters, <slot>, …}`. `dispose()` frees all of them.
 * Source: tf.tpu.experimental.embedding.TPUEmbeddingForServing (TensorFlow 2.21).
 *
 * @throws TypeError for what are no FeatureConfigs; ValueError for tables of one name and an optimizer of another kind;
 * for lookups as `servingEmbeddingLookup`.
 *
 * @example
 * const table = new emb.tpu.TableConfig({vocabularySize: 8, dim: 4, initializer: new emb.tpu.RowIdInitializer()});
 * const serving = new emb.tpu.TPUEmbeddingForServing({featureConfig: {seen: new emb.tpu.FeatureConfig({table})}});
 * serving.call({seen: [[1, 3], [5]]}).seen.print(); // [[2, 2, 2, 2], [5, 5, 5, 5]]
 */
export class TPUEmbeddingForServing {
  static {
    brand(this, 'tpu.TPUEmbeddingForServing');
  }
  readonly #nest: FeatureNest;
  readonly #tables: EmbeddingTables;

  /** @param args - The features and, for checkpoints with slots, the optimizer; see `TPUEmbeddingForServingArgs`. */
  constructor(args: TPUEmbeddingForServingArgs);
  constructor(...passed: [TPUEmbeddingForServingArgs]) {
    const given = readFields<TPUEmbeddingForServingArgs>(
      'new emb.tpu.TPUEmbeddingForServing',
      ['featureConfig', 'optimizer'],
      passed,
    );
    const optimizer = readOptimizer(given.optimizer);
    this.#nest = new FeatureNest(given.featureConfig);
    this.#tables = new EmbeddingTables(readTables(this.#nest.features, optimizer).tables);
  }

  /** Makes the tables, unless they are there. */
  build(): void {
    this.#tables.make();
  }

  /**
   * The activations of features, in their structure; `weights` in the same, null where there are none.
   *
   * @param features - The ids, in the structure of the features: dense, sparse or ragged.
   * @param weights - In the same structure, null where there are none.
   * @returns float32 tensors in the structure of the features.
   */
  call(features: unknown, weights: unknown = null): unknown {
    this.build();
    return serve(this.#nest, features, weights, this.#tables.byConfig());
  }

  get embeddingTables(): Map<GivenTableConfig, tf.Variable> {
    this.build();
    return this.#tables.byConfig();
  }

  /**
   * The variables: all tables in their order, then their slots.
   *
   * @returns The variables themselves, not copies.
   */
  getWeights(): tf.Variable[] {
    this.build();
    return this.#tables.named().map(({ variable }) => variable);
  }

  /**
   * Sets tables, or tables and slots, as `TPUEmbedding.setWeights` does.
   *
   * @param weights - One value for each weight.
   */
  setWeights(weights: readonly unknown[]): void {
    this.build();
    this.#tables.write(weights);
  }

  get variables(): Map<string, Record<string, tf.Variable>> {
    this.build();
    const { tables } = this.#tables;
    const entries = tables.map(({ name, optimizer }, i) => {
      const { table, slots } = this.#tables.of(i);
      const named = slots.map((slot, k) => [optimizer!.slotNames[k]!, slot] as const);
      return [name, { parameters: table, ...Object.fromEntries(named) }] as const;
    });
    return new Map(entries);
  }

  /**
   * Saves tables and slots in a folder, or at a URL of tfjs, as `TPUEmbedding.save` does.
   *
   * @param directory - A folder, or a URL of tfjs.
   * @param options - `format`: 'tfjs' (the default) holds all values in memory while it writes, for handlers of tfjs take
   * them at once; 'npy' writes a piece at a time.
   * @returns Resolves when all of them are written.
   */
  async save(directory: string, options: SaveOptions = {}): Promise<void> {
    this.build();
    await saveVariables(this.#tables.named(), directory, options);
  }

  /**
   * Loads what this or a `TPUEmbedding` has saved, on whatever devices; slots that it has not are left alone.
   *
   * @param directory - A folder, or a URL of tfjs.
   * @returns Resolves when all of them are set.
   */
  async load(directory: string): Promise<void> {
    this.build();
    await loadVariables(this.#tables.named(), directory);
    this.#tables.place();
  }

  /** Frees tables and slots; they are made anew where they are needed again. */
  dispose(): void {
    this.#tables.dispose();
  }
}
