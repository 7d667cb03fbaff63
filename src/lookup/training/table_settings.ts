/** What a layer tells optimizers about its table; kept beside the variable, never in it. */
import type * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../base/errors.js';
import { perProcess } from '../../base/per_process.js';
import type { OptimizerName } from '../../rules/rules.js';
import type { Settings } from './optimizer_settings.js';
import type { RowConstraint } from './row_constraint.js';

/** What steps a table: an `emb.train` optimizer. */
export interface TableOptimizer {
  /** Which update kernel it runs. */
  readonly optimizerName: OptimizerName;
  readonly settings: Readonly<Settings>;
}

export interface TableSettings {
  /** Stable name `<layer or table>/embeddings`: saved slots are found again by it. */
  readonly name: string;
  /** The table's own optimizer, which overrides the one of `compile`. */
  readonly optimizer: TableOptimizer | null;
  readonly constraint: RowConstraint | null;
  /** Whether lookups must be recorded for a penalty on the touched rows. */
  readonly regularized: boolean;
  /** Seed of stochastic rounding, where rows are float16. */
  readonly roundingSeed?: number;
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
