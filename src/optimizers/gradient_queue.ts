/** What the backward pass hands to the update kernels: one entry per lookup, grouped by table. */
import * as tf from '@tensorflow/tfjs';
import type { LookupScope, QueuedGradient } from '../lookup/training/lookup_scope.js';
import { present } from '../lookup/kernel_calls.js';

/** The open channel of one `computeGradients`, and the entries that it collected. */
export class GradientQueue implements LookupScope {
  readonly #entries: QueuedGradient[] = [];
  readonly #touched = new Map<tf.Variable, tf.Tensor1D[]>();
  readonly #taken = new Set<tf.Variable>();
  readonly #managed: ReadonlySet<tf.Variable> | null;
  readonly #depth = tf.engine().state.gradientDepth;

  /** `varList`: the variables to train; null stands for all trainable ones. */
  constructor(
    readonly anchor: tf.Variable,
    varList: readonly tf.Variable[] | null,
  ) {
    this.#managed = varList === null ? null : new Set(varList);
  }

  manages(table: tf.Variable): boolean {
    // A table that was frozen after compile is still in the list: its own flag decides.
    return table.trainable && (this.#managed === null || this.#managed.has(table));
  }

  touch(table: tf.Variable, values: tf.Tensor1D): void {
    const known = this.#touched.get(table);
    const kept = tf.keep(values.clone());
    if (known === undefined) this.#touched.set(table, [kept]);
    else known.push(kept);
  }

  takeTouched(table: tf.Variable): readonly tf.Tensor1D[] | null {
    if (this.#taken.has(table)) return null;
    this.#taken.add(table);
    return this.#touched.get(table) ?? [];
  }

  get isDifferentiating(): boolean {
    return tf.engine().state.gradientDepth === this.#depth;
  }

  push(entry: QueuedGradient): void {
    // A pass within a pass meets lookups of the outer one, of tables that it need not manage.
    if (this.manages(entry.table)) this.#entries.push(entry);
    else disposeEntry(entry);
  }

  /** Entries by table, in the order in which tables came up. */
  byTable(): Map<tf.Variable, QueuedGradient[]> {
    const groups = new Map<tf.Variable, QueuedGradient[]>();
    for (const entry of this.#entries) {
      const group = groups.get(entry.table);
      if (group === undefined) groups.set(entry.table, [entry]);
      else group.push(entry);
    }
    return groups;
  }

  /** Disposes the ids kept for penalties; the entries live on until they are applied. */
  close(): void {
    for (const kept of this.#touched.values()) tf.dispose(kept);
    this.#touched.clear();
  }

  dispose(): void {
    this.close();
    this.#entries.forEach(disposeEntry);
    this.#entries.length = 0;
  }
}

function disposeEntry({ gradient, bags }: QueuedGradient): void {
  tf.dispose([gradient, ...present(bags)]);
}
