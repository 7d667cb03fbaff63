/** How a table begins, as plain data: each value depends on the seed, its row and its column alone. */

/** Seeds are whole numbers from 0 to 2^53 - 1. Bounds, mean and deviation are float64, values are rounded to float32. */
export type Fill =
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'uniform'; readonly min: number; readonly max: number; readonly seed: number }
  | { readonly kind: 'normal'; readonly mean: number; readonly deviation: number; readonly seed: number }
  /** Drawn again where a value lies more than two deviations from the mean. */
  | { readonly kind: 'truncatedNormal'; readonly mean: number; readonly deviation: number; readonly seed: number };

/** Which part of a table an array holds, row-major. */
export interface FilledPart {
  /** Local row r is global row firstRow + rowStep * r. */
  readonly firstRow: number;
  readonly rowStep: number;
  readonly rows: number;
  readonly firstColumn: number;
  readonly columns: number;
}

/** Writes the values of a part into `target`, from its start. */
export function fillPart(target: Float32Array, part: FilledPart, fill: Fill, _progress?: () => void): void {
  if (fill.kind === 'constant') {
    target.fill(fill.value, 0, part.rows * part.columns);
    return;
  }
  throw new Error(`not yet: ${fill.kind}`);
}
