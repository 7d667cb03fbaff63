/** What rows of keys begin with: numbers by the table's seed, the key and the column alone. The C core writes the same. */
import { fillInputs, rowFiller, type Fill } from '../../backends/fill.js';
import { randomKey } from '../../backends/counter_random.js';
import { platform, type KeyKernels } from '../../base/platform.js';
import { startKey } from './key_steps.js';
import type { KeyWords } from './steps/key_search.js';

/** Writes the first rows of keys, [keys, columns], one after the other; `core` null: in JavaScript. */
export function writeStartRows(
  fill: Fill,
  seed: number,
  keys: KeyWords,
  rows: Float32Array,
  core: KeyKernels | null = platform().keys ?? null,
): void {
  const count = keys.length / 2;
  if (count === 0) return;
  const columns = rows.length / count;
  const { kind, numbers, quantiles } = fillInputs(fill);
  // A uniform one of one number is constant there.
  if (core !== null && kind !== 0) {
    const { low, high } = randomKey(seed);
    core.fillKeyedRows(kind, numbers, quantiles, Int32Array.of(low, high), keys, columns, rows);
    return;
  }
  const fillRow = rowFiller(fill, columns);
  for (let i = 0; i < count; i++) {
    fillRow(startKey(seed, keys[2 * i]!, keys[2 * i + 1]!), rows.subarray(i * columns, (i + 1) * columns));
  }
}
