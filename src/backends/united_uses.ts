/** Several uses of a table in one step as one batch, side by side. */
import { floatTable, SINGLE_ROW, type HostBags, type HostStep, type KernelSet } from './kernel_set.js';

/** The ids of several uses, side by side. */
export interface UnitedIds extends HostBags {
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

/** The ids of the uses as one batch; those of a single use stay as they are. */
export function unitedIds(uses: readonly HostBags[]): UnitedIds {
  const [only] = uses;
  if (uses.length === 1) {
    const { values, rowSplits, weights } = only!;
    return { values, rowSplits, weights, useStarts: null };
  }
  const lists = uses.map(({ values }) => values);
  const values = joinedInts(lists);
  const rowSplits = new Int32Array(1 + total(uses.map(({ rowSplits }) => rowSplits)) - uses.length);
  const useStarts = new Int32Array(uses.length - 1);
  let [bags, ids] = [0, 0];
  uses.forEach((use, u) => {
    if (u > 0) useStarts[u - 1] = bags;
    for (let b = 1; b < use.rowSplits.length; b++) rowSplits[++bags] = ids + use.rowSplits[b]!;
    ids += use.values.length;
  });
  const isWeighted = uses.some(({ weights }) => weights !== null);
  const ofUse = ({ weights, values: own }: HostBags): Float32Array => weights ?? new Float32Array(own.length).fill(1);
  const weights = isWeighted ? joined(uses.map(ofUse), new Float32Array(values.length)) : null;
  return { values, rowSplits, weights, useStarts };
}

/** The gradients of the uses, one after the other; that of a single use stays as it is. */
export function unitedGradient(gradients: readonly Float32Array[]): Float32Array {
  return gradients.length === 1 ? gradients[0]! : joined(gradients, new Float32Array(total(gradients)));
}

/** United ids of the tables of one step: those that are used with the same ids share them, and the kernels group them once. */
export class SharedIds {
  readonly #known: { readonly keys: readonly unknown[]; readonly ids: UnitedIds }[] = [];

  /** `keys`: values, row splits and weights of each use, or what stands for them. */
  of(keys: readonly unknown[], unite: () => UnitedIds): UnitedIds {
    const same = this.#known.find(({ keys: known }) => {
      return known.length === keys.length && known.every((key, i) => key === keys[i]);
    });
    if (same !== undefined) return same.ids;
    const ids = unite();
    this.#known.push({ keys, ids });
    return ids;
  }
}

/** A step whose uses were summed, for an implementation that takes one: rows of each use, as bags of one id. */
export function mergeUses(set: Pick<KernelSet, 'rowGradients'>, step: HostStep): HostStep {
  const { table, bags, gradient, options, useStarts } = step;
  if (useStarts === null) return step;
  const floats = floatTable(table.codec.unpack(table.data, table.dim), table.rows, table.dim);
  const ends = [...useStarts, bags.rowSplits.length - 1];
  const parts = ends.map((end, use) => {
    const first = use === 0 ? 0 : ends[use - 1]!;
    const [from, to] = [bags.rowSplits[first]!, bags.rowSplits[end]!];
    const ofUse: HostBags = {
      values: bags.values.subarray(from, to),
      rowSplits: bags.rowSplits.slice(first, end + 1).map((split) => split - from),
      weights: bags.weights?.subarray(from, to) ?? null,
    };
    return set.rowGradients(gradient.subarray(first * table.dim, end * table.dim), ofUse, floats, options);
  });
  const values = joinedInts(parts.map(({ uniqueIds }) => uniqueIds));
  const rowSplits = Int32Array.from({ length: values.length + 1 }, (_, i) => i);
  return {
    ...step,
    gradient: unitedGradient(parts.map(({ rowGradients }) => rowGradients)),
    bags: { values, rowSplits, weights: null },
    options: SINGLE_ROW,
    useStarts: null,
  };
}

/** Ids one list after the other; a single list stays as it is. */
export function joinedInts(lists: readonly Int32Array[]): Int32Array {
  return lists.length === 1 ? lists[0]! : joined(lists, new Int32Array(total(lists)));
}
