/** What looks up and steps the tables of a layer. */
import type * as tf from '@tensorflow/tfjs';
import { withoutTape } from '../../tfjs/lazy_gradient.js';
import {
  freeLookups,
  lookUpInTables,
  stepFeatures,
  steppedTables,
  type FeatureLookup,
  type KeptLookup,
} from '../embedding/table_lookups.js';
import type { EmbeddingTables } from '../tables/embedding_tables.js';

/** One call of the layer in training: what a step needs of it. */
export interface LayerCall {
  /** Adds the gradients of pooled rows, one per feature, null for zeros, to those of `others`, and steps all tables once. */
  step(gradients: Gradients, others: readonly CallGradients[]): void;
  /** Frees what was kept. */
  free(): void;
}

export type Gradients = readonly (tf.Tensor2D | null)[];

/** A call of the same tables, and the gradients that came for it. */
export interface CallGradients {
  readonly call: LayerCall;
  readonly gradients: Gradients;
}

export interface LookedUpCall {
  /** Pooled rows [bags, dim] of each feature, which are the caller's. */
  readonly pooled: tf.Tensor2D[];
  /** null: no gradients are to come. */
  readonly call: LayerCall | null;
}

export interface LayerTables {
  /** Looks all features up, in their order. Call outside the tape. */
  lookUp(features: readonly FeatureLookup[], isTraining: boolean): LookedUpCall;
}

class RowCall implements LayerCall {
  constructor(
    private readonly tables: EmbeddingTables,
    readonly kept: readonly KeptLookup[],
  ) {}

  step(gradients: Gradients, others: readonly CallGradients[]): void {
    const kept = [...this.kept, ...others.flatMap(({ call }) => (call as RowCall).kept)];
    const all = [...gradients, ...others.flatMap((other) => other.gradients)];
    stepFeatures(this.tables, steppedTables(this.tables, kept), kept, all);
  }

  free(): void {
    freeLookups(this.kept);
  }
}

/** Tables as `TPUEmbedding` keeps them, and, without devices, as they are served: rows are looked up one by one. */
export class RowTables implements LayerTables {
  constructor(private readonly tables: EmbeddingTables) {}

  lookUp(features: readonly FeatureLookup[], isTraining: boolean): LookedUpCall {
    this.tables.place();
    const valuesOf = (table: number): tf.Tensor => this.tables.of(table).table;
    const { pooled, kept } = withoutTape(() => lookUpInTables(this.tables, features, valuesOf, isTraining));
    return { pooled, call: kept === null ? null : new RowCall(this.tables, kept) };
  }
}
