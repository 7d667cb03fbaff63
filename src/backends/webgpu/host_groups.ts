/** Ids grouped by row on the host, in the order in which they came. */
const BITS = 11;
const BUCKETS = 2048;

/** The numbers `order` sorted by their keys, those of one key as they were. `most`: what keys are below. */
function sortedBy(order: Int32Array<ArrayBuffer>, keys: Int32Array, most: number): Int32Array {
  let from = order;
  let to = new Int32Array(order.length);
  const starts = new Int32Array(BUCKETS + 1);
  for (let shift = 0; shift < 32 && (most - 1) / 2 ** shift >= 1; shift += BITS) {
    starts.fill(0);
    for (const at of from) starts[((keys[at]! >>> shift) & (BUCKETS - 1)) + 1]!++;
    for (let b = 0; b < BUCKETS; b++) starts[b + 1]! += starts[b]!;
    for (const at of from) to[starts[(keys[at]! >>> shift) & (BUCKETS - 1)]!++] = at;
    [from, to] = [to, from];
  }
  return from;
}

/** What a shader needs to sum gradients by row. */
export interface HostGroups {
  /** The rows that are touched, ascending. */
  readonly rows: Int32Array;
  /** Where the places of each row begin in `order`, and at last where they end. */
  readonly starts: Int32Array;
  /** Places among the ids of all uses, one use after the other: of ids that name rows, by row. */
  readonly order: Int32Array;
}

export function groupOnHost(uses: readonly Int32Array[], rows: number): HostGroups {
  const ids = uses.length === 1 ? uses[0]! : joined(uses);
  const places = new Int32Array(ids.length);
  let kept = 0;
  for (let i = 0; i < ids.length; i++) if (ids[i]! >= 0 && ids[i]! < rows) places[kept++] = i;
  const order = sortedBy(places.slice(0, kept), ids, rows);
  const unique = new Int32Array(kept);
  const starts = new Int32Array(kept + 1);
  let count = 0;
  for (let k = 0; k < kept; k++) {
    const id = ids[order[k]!]!;
    if (count > 0 && unique[count - 1] === id) continue;
    unique[count] = id;
    starts[count++] = k;
  }
  starts[count] = kept;
  return { rows: unique.slice(0, count), starts: starts.slice(0, count + 1), order };
}

function joined(lists: readonly Int32Array[]): Int32Array {
  const all = new Int32Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
}
