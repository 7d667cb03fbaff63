/** Calls of the kernels of ranking inside one memory: a record of 32-bit words for each. */
import type { HostTable } from '../kernel_set.js';
import { workOf, type FoldInJob, type RankingKernels, type TopKJob } from '../ranking.js';
import { NO_BAGS, type WasmKernels } from './kernels.js';
import { Staging, type Argument } from './staging.js';

const NO_IDS = new Int32Array(0);
const NO_NUMBERS = new Float32Array(0);

/** te_wasm_ranked, but for the address. */
export function sizesOf({ codec, rows, dim }: HostTable): number[] {
  return [codec.number, rows, dim];
}

interface Call {
  readonly table: HostTable;
  /** Ids of the call, for its error. */
  readonly nnz: number;
  readonly work: number;
  readonly args: readonly Argument[];
  /** The words of the record, without the workers at its end. */
  record(addresses: readonly number[]): number[];
  workspace(exports: WasmKernels['exports'], record: number): number;
  run(exports: WasmKernels['exports'], record: number, workspace: number, bytes: number): number;
}

export function runCall(kernels: WasmKernels, { table, nnz, work, args, record, workspace, run }: Call): void {
  const { heap, exports, team } = kernels;
  team?.expect(work);
  team?.wakeWorkers(work);
  const staging = new Staging(heap, args);
  let recordAt = 0;
  let room = 0;
  try {
    const words = [...record(staging.addresses), exports.te_wasm_threads()];
    recordAt = heap.malloc(4 * words.length, 'values');
    new Int32Array(heap.memory.buffer, recordAt, words.length).set(words);
    const bytes = workspace(exports, recordAt) >>> 0;
    room = heap.malloc(bytes, 'values');
    const tableAt = { address: staging.addresses[0]!, codec: table.codec, rows: table.rows, dim: table.dim };
    kernels.check(run(exports, recordAt, room, bytes), tableAt, { ...NO_BAGS, nnz });
    staging.copyBack();
  } finally {
    staging.release();
    if (recordAt !== 0) heap.free(recordAt);
    if (room !== 0) heap.free(room);
  }
}

function topK(kernels: WasmKernels, job: TopKJob): void {
  const { table, firstRow, queries, count, k, exclude, only, values, indices } = job;
  runCall(kernels, {
    table,
    nnz: only?.values.length ?? 0,
    work: workOf(job),
    args: [
      { array: table.data, direction: 'in' },
      { array: queries, direction: 'in' },
      { array: exclude?.values ?? NO_IDS, direction: 'in' },
      { array: exclude?.rowSplits ?? NO_IDS, direction: 'in' },
      { array: only?.values ?? NO_IDS, direction: 'in' },
      { array: only?.rowSplits ?? NO_IDS, direction: 'in' },
      { array: values, direction: 'inout' },
      { array: indices, direction: 'inout' },
    ],
    record([tableAt, queriesAt, excludeAt, excludeSplits, onlyAt, onlySplits, valuesAt, indicesAt]) {
      const excluded = exclude === null ? [0, 0, 0] : [excludeAt!, excludeSplits!, exclude.values.length];
      const named = only === null ? [0, 0, 0] : [onlyAt!, onlySplits!, only.values.length];
      const lists = [...excluded, ...named, valuesAt!, indicesAt!];
      return [tableAt!, ...sizesOf(table), firstRow, queriesAt!, count, k, ...lists];
    },
    workspace: (exports, record) => exports.te_wasm_top_k_workspace(record),
    run: (exports, record, room, bytes) => exports.te_wasm_top_k(record, room, bytes, kernels.result),
  });
}

function foldIn(kernels: WasmKernels, { table, bags, regularization, gram, out }: FoldInJob): void {
  const { values, rowSplits, weights } = bags;
  runCall(kernels, {
    table,
    nnz: values.length,
    work: values.length * table.dim,
    args: [
      { array: table.data, direction: 'in' },
      { array: values, direction: 'in' },
      { array: rowSplits, direction: 'in' },
      { array: weights ?? NO_NUMBERS, direction: 'in' },
      { array: gram ?? NO_NUMBERS, direction: 'in' },
      { array: out, direction: 'out' },
    ],
    record([tableAt, valuesAt, splitsAt, weightsAt, gramAt, outAt]) {
      const ids = [valuesAt!, splitsAt!, weights === null ? 0 : weightsAt!, values.length, rowSplits.length - 1];
      return [tableAt!, ...sizesOf(table), ...ids, gram === null ? 0 : gramAt!, outAt!];
    },
    workspace: (exports, record) => exports.te_wasm_fold_in_workspace(record),
    run: (exports, record, room, bytes) => exports.te_wasm_fold_in(record, regularization, room, bytes, kernels.result),
  });
}

/** The kernels of ranking in the memory of an instance; arrays that lie there are used where they lie. */
export function rankingKernels(kernels: WasmKernels): RankingKernels {
  return {
    topK: (job) => topK(kernels, job),
    foldIn: (job) => foldIn(kernels, job),
  };
}
