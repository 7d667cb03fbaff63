/** What a layer tells optimizers about its table; kept beside the variable, never in it. */
import type * as tf from '@tensorflow/tfjs';
import { ValueError } from '../errors.js';
import { perProcess } from '../per_process.js';
import type { SparseOptimizer } from './sparse_optimizer.js';

/** A constraint that update kernels apply to touched rows. */
export interface RowConstraint {
  /** `axis`: a norm along another axis than 1, which rows alone cannot keep. */
  readonly kind: 'nonNeg' | 'rowNorm' | 'axis';
  readonly min: number;
  readonly max: number;
  readonly rate: number;
}

export interface TableSettings {
  /** Stable name `<layer or table>/embeddings`: saved slots are found again by it. */
  readonly name: string;
  /** The table's own optimizer, which overrides the one of `compile`. */
  readonly optimizer: SparseOptimizer | null;
  readonly constraint: RowConstraint | null;
  /** Whether lookups must be recorded for a penalty on the touched rows. */
  readonly regularized: boolean;
}

/** What layers say of their tables. */
const known = (): WeakMap<tf.Variable, TableSettings> => perProcess('table settings', () => new WeakMap());

export function setTableSettings(table: tf.Variable, settings: TableSettings): void {
  known().set(table, settings);
}

export function tableSettings(table: tf.Variable): TableSettings | undefined {
  return known().get(table);
}

/** Refuses constraints that cannot be kept by looking at touched rows alone. */
export function checkRowConstraint(settings: TableSettings | undefined): void {
  if (settings?.constraint?.kind !== 'axis') return;
  throw new ValueError(
    'embeddingsConstraint',
    'a constraint along axis 1 (the rows), such as maxNorm({axis: 1}), or nonNeg, under an emb.train optimizer',
    'another axis',
  );
}
