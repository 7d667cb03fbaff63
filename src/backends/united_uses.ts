/** Several uses of a table in one step as one batch, side by side. */
import type { HostBags } from './kernel_set.js';

/** What one lookup adds to the gradient of its table. */
export interface Use extends HostBags {
  readonly gradient: Float32Array; // [batch * dim]
}

export interface UnitedUses extends Use {
  /** The first bag of each use but the first; null for one use. */
  readonly useStarts: Int32Array | null;
}

function joined<T extends Float32Array | Int32Array>(parts: readonly T[], into: T): T {
  let at = 0;
  for (const part of parts) {
    (into as Float32Array).set(part, at);
    at += part.length;
  }
  return into;
}

function total(parts: readonly { readonly length: number }[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** The uses as one batch; a single use stays as it is. */
export function unitedUses(uses: readonly Use[], dim: number): UnitedUses {
  if (uses.length === 1) return { ...uses[0]!, useStarts: null };
  const lists = uses.map(({ values }) => values);
  const values = joined(lists, new Int32Array(total(lists)));
  const rowSplits = new Int32Array(1 + total(uses.map(({ rowSplits }) => rowSplits)) - uses.length);
  const useStarts = new Int32Array(uses.length - 1);
  let [bags, ids] = [0, 0];
  uses.forEach((use, u) => {
    if (u > 0) useStarts[u - 1] = bags;
    for (let b = 1; b < use.rowSplits.length; b++) rowSplits[++bags] = ids + use.rowSplits[b]!;
    ids += use.values.length;
  });
  const isWeighted = uses.some(({ weights }) => weights !== null);
  const ofUse = ({ weights, values: own }: Use): Float32Array => weights ?? new Float32Array(own.length).fill(1);
  const weights = isWeighted ? joined(uses.map(ofUse), new Float32Array(values.length)) : null;
  const gradients = uses.map(({ gradient }) => gradient);
  return { values, rowSplits, weights, gradient: joined(gradients, new Float32Array(bags * dim)), useStarts };
}
