/** The order of lookups and steps: one after the other, or overlapping by one step. */
import * as tf from '@tensorflow/tfjs';
import type { EmbeddingTables } from '../tables/embedding_tables.js';
import {
  freeLookups,
  lookUpInTables,
  stepFeatures,
  steppedTables,
  type FeatureLookup,
  type KeptLookup,
  type TableValues,
} from './table_lookups.js';

/** A batch that was looked up for training. */
export interface TrainingStep {
  readonly number: number;
  readonly kept: readonly KeptLookup[];
}

interface PendingStep {
  readonly run: () => void;
  readonly free: () => void;
}

/**
 * With pipelining a lookup reads the tables as they were before the step of the batch just before it, as on hardware that
 * looks the next batch up while the dense part of the model still works on this one. That step waits for the lookup.
 */
export class StepPipeline {
  #lookups = 0;
  #pending: PendingStep | null = null;
  /** Tables before a step that was made early, because the tables were read. */
  #snapshots: tf.Tensor2D[] | null = null;

  constructor(
    private readonly tables: EmbeddingTables,
    private readonly isPipelined: boolean,
  ) {}

  /** Pooled rows of all features, which are the caller's, and what a training step needs of them. */
  lookUp(
    features: readonly FeatureLookup[],
    isTraining: boolean,
  ): { pooled: tf.Tensor2D[]; step: TrainingStep | null } {
    this.tables.place();
    const snapshots = this.#snapshots;
    const valuesOf: TableValues = (table) => snapshots?.[table] ?? this.tables.of(table).table;
    const { pooled, kept } = lookUpInTables(this.tables, features, valuesOf, isTraining);
    const number = ++this.#lookups;
    this.#dropSnapshots();
    this.#finish();
    return { pooled, step: kept === null ? null : { number, kept } };
  }

  /** Steps the tables of a batch; frees what was kept of it. */
  apply({ number, kept }: TrainingStep, gradients: readonly (tf.Tensor2D | null)[]): void {
    const stepped = steppedTables(this.tables, kept);
    if (!this.isPipelined || number < this.#lookups) {
      stepFeatures(this.tables, stepped, kept, gradients);
      freeLookups(kept);
      return;
    }
    const own = gradients.map((gradient) => (gradient === null ? null : tf.keep(gradient.clone())));
    const free = (): void => {
      freeLookups(kept);
      tf.dispose(own as tf.Tensor[]);
    };
    this.#pending = { run: () => stepFeatures(this.tables, stepped, kept, own), free };
  }

  /** Frees what was kept of a batch that is not to be trained. */
  abandon({ kept }: TrainingStep): void {
    freeLookups(kept);
  }

  /** Makes the step that waits, so that the tables can be read; the next lookup still reads them as they were. */
  settle(): void {
    if (this.#pending === null) return;
    this.#dropSnapshots();
    this.#snapshots = this.tables.tables.map((_, i) => tf.keep(this.tables.of(i).table.clone()) as tf.Tensor2D);
    this.#finish();
  }

  /** The next lookup reads the tables as they are: they were written from outside. */
  catchUp(): void {
    this.#dropSnapshots();
  }

  #finish(): void {
    const pending = this.#pending;
    this.#pending = null;
    try {
      pending?.run();
    } finally {
      pending?.free();
    }
  }

  #dropSnapshots(): void {
    tf.dispose(this.#snapshots ?? []);
    this.#snapshots = null;
  }

  /** Frees all that waits. */
  dispose(): void {
    this.#pending?.free();
    this.#pending = null;
    this.#dropSnapshots();
  }
}
