/** Scans of lists inside the memory of an instance. */
import { workOf, type ListScanJob } from '../ranking.js';
import type { WasmKernels } from './kernels.js';
import { runCall, sizesOf } from './ranking_calls.js';

const NO_IDS = new Int32Array(0);

/** Bytes of rows that are copied at once. */
const BLOCK_BYTES = 2 ** 23;

/** The lists of a job that queries look at, in blocks whose rows, copied one list after the other, are a few megabytes. */
function* listBlocks({ table, starts, ends, splits }: ListScanJob): Generator<{ lists: number[]; rows: number }> {
  const bytes = 4 * table.codec.words(table.dim);
  let [lists, rows]: [number[], number] = [[], 0];
  for (let list = 0; list < starts.length; list++) {
    const own = ends[list]! - starts[list]!;
    if (own === 0 || splits[list] === splits[list + 1]) continue;
    if (rows > 0 && (rows + own) * bytes > BLOCK_BYTES) {
      yield { lists, rows };
      [lists, rows] = [[], 0];
    }
    lists.push(list);
    rows += own;
  }
  if (rows > 0) yield { lists, rows };
}

/** Those lists alone, with their rows. */
function packedLists(job: ListScanJob, lists: readonly number[], rows: number): ListScanJob {
  const { table, ids, starts, ends, members, splits } = job;
  const words = table.codec.words(table.dim);
  const data = table.codec.isPlain ? new Float32Array(rows * words) : new Int32Array(rows * words);
  const packed = {
    ids: new Int32Array(rows),
    starts: new Int32Array(lists.length),
    ends: new Int32Array(lists.length),
    splits: new Int32Array(lists.length + 1),
  };
  const all: number[] = [];
  let at = 0;
  lists.forEach((list, i) => {
    const [first, end] = [starts[list]!, ends[list]!];
    data.set(table.data.subarray(first * words, end * words), at * words);
    packed.ids.set(ids.subarray(first, end), at);
    packed.starts[i] = at;
    packed.ends[i] = at += end - first;
    for (const query of members.subarray(splits[list], splits[list + 1])) all.push(query);
    packed.splits[i + 1] = all.length;
  });
  return { ...job, ...packed, table: { ...table, data, rows }, members: Int32Array.from(all) };
}

/** Scans lists whose rows lie outside of this memory, which is small: only those that are looked at are copied. */
export function scanLists(kernels: WasmKernels, whole: ListScanJob): void {
  for (const { lists, rows } of listBlocks(whole)) scanStaged(kernels, packedLists(whole, lists, rows));
}

function scanStaged(kernels: WasmKernels, job: ListScanJob): void {
  const { table, ids, starts, ends, members, splits, queries, count, k, exclude, values, indices } = job;
  runCall(kernels, {
    table,
    nnz: 0,
    work: workOf(job),
    args: [
      { array: table.data, direction: 'in' },
      { array: ids, direction: 'in' },
      { array: starts, direction: 'in' },
      { array: ends, direction: 'in' },
      { array: members, direction: 'in' },
      { array: splits, direction: 'in' },
      { array: queries, direction: 'in' },
      { array: exclude?.values ?? NO_IDS, direction: 'in' },
      { array: exclude?.rowSplits ?? NO_IDS, direction: 'in' },
      { array: values, direction: 'inout' },
      { array: indices, direction: 'inout' },
    ],
    record([tableAt, idsAt, startsAt, endsAt, membersAt, splitsAt, queriesAt, excludeAt, excludeSplits, ...written]) {
      const lists = [idsAt!, startsAt!, endsAt!, starts.length, membersAt!, splitsAt!, members.length];
      const excluded = exclude === null ? [0, 0, 0] : [excludeAt!, excludeSplits!, exclude.values.length];
      return [tableAt!, ...sizesOf(table), ...lists, queriesAt!, count, k, ...excluded, ...written];
    },
    workspace: (exports, record) => exports.te_wasm_list_scan_workspace(record),
    run: (exports, record, room, bytes) => exports.te_wasm_scan_lists(record, room, bytes, kernels.result),
  });
}
