/**
 * The kernels in WebAssembly beside the native ones on one thread, in turns: one JSON line per case.
 *   node --import tsx tools/bench/wasm.ts [--threads 1,2] [--dims 32,64,128] [--hots 10,50] [--ops forward,sgd]
 *     [--rows 1000000] [--batch 4096] [--repeats 15]
 * `ratio`: how many times as long as native code on one thread WebAssembly takes, on each number of threads; `ratioOfPlain`
 * the same beside native code whose tables lie in ordinary arrays: huge pages are worth a lot on random rows, and a
 * memory of WebAssembly has none where the system gives them on request alone. Everything lies in the memory that the
 * kernels run in, as it does on the tfjs backend. `otherCpu`: processors that other processes kept busy meanwhile.
 */
import { floatTable, type HostBags, type KernelSet } from '../../src/backends/kernel_set.js';
import { loadNative } from '../../src/backends/native/register.js';
import { bringThreads } from '../../src/backends/wasm/threads/bring_threads.js';
import { WasmKernelSet } from '../../src/backends/wasm/wasm_kernel_set.js';
import type { UpdateName } from '../../src/rules/rules.js';
import { Random } from '../../test/helpers/random.js';
import { HYPER, OPTIONS, readSizes } from './bag_options.js';
import { Load, median, printLine } from './stopwatch.js';
import { lookUpInto, stepOne } from '../../test/helpers/kernel_calls.js';

const given = readSizes({ threads: '1', hots: '10,50', ops: 'forward,sgd' });
const { rows, batch, repeats } = given;
/** The engine compiles WebAssembly again while it runs: before that has ended nothing is timed. */
const WARM_UP_MS = 2000;

/** Makes arrays where a set runs without copies; views are made anew for each call, as the memory may have grown. */
interface Room {
  floats(length: number): () => Float32Array;
  ints(values: Int32Array): () => Int32Array;
}

function roomOf(set: KernelSet, plain: boolean): Room {
  if (!(set instanceof WasmKernelSet)) {
    return {
      floats: (length) => {
        const array = plain ? new Float32Array(length) : set.allocate!(length);
        return () => array;
      },
      ints: (values) => () => values,
    };
  }
  const { heap } = set;
  return {
    floats: (length) => {
      const address = heap.malloc(4 * length, 'bench');
      return () => new Float32Array(heap.memory.buffer, address, length);
    },
    ints: (values) => {
      const address = heap.malloc(4 * values.length, 'bench');
      new Int32Array(heap.memory.buffer, address, values.length).set(values);
      return () => new Int32Array(heap.memory.buffer, address, values.length);
    },
  };
}

/** One step of each kind on tables of a set's own. */
function stepsOf(set: KernelSet, dim: number, hot: number, op: string, plain = false): (n: number) => void {
  const room = roomOf(set, plain);
  const random = new Random(dim + hot);
  const splits = room.ints(Int32Array.from({ length: batch + 1 }, (_, b) => b * hot));
  const lists = Array.from({ length: 8 }, () =>
    room.ints(Int32Array.from({ length: batch * hot }, () => random.whole(0, rows))),
  );
  const [data, pooled, gradient] = [room.floats(rows * dim), room.floats(batch * dim), room.floats(batch * dim)];
  data().fill(0.5);
  gradient().fill(1e-4);
  const slots = op === 'adagrad' ? [room.floats(rows * dim)] : op === 'rowWiseAdagrad' ? [room.floats(rows)] : [];
  for (const slot of slots) slot().fill(0.1);
  return (n) => {
    const bags: HostBags = { values: lists[n % lists.length]!(), rowSplits: splits(), weights: null };
    const table = floatTable(data(), rows, dim);
    lookUpInto(set, table, bags, OPTIONS, pooled());
    if (op === 'forward') return;
    const slotViews = slots.map((slot) => slot());
    stepOne(set, op as UpdateName, table, slotViews, gradient(), bags, OPTIONS, HYPER);
  };
}

for (const dim of given.dims) {
  for (const hot of given.hots) {
    for (const op of given.ops) {
      const native = loadNative();
      native.setThreads(1);
      const { threads } = given;
      const rivals = threads.map((count) => {
        bringThreads();
        const set = new WasmKernelSet({ shared: true });
        set.setThreads(count);
        return { run: stepsOf(set, dim, hot, op), taken: [] as number[] };
      });
      const ours = { run: stepsOf(native, dim, hot, op), taken: [] as number[] };
      const inArrays = { run: stepsOf(native, dim, hot, op, true), taken: [] as number[] };
      for (const { run } of [ours, inArrays, ...rivals]) {
        const start = performance.now();
        for (let n = 0; performance.now() - start < WARM_UP_MS; n++) run(n);
        await new Promise((resolve) => setTimeout(resolve));
      }
      const load = new Load();
      for (let n = 0; n < repeats; n++) {
        for (const { run, taken } of [ours, inArrays, ...rivals]) {
          const from = performance.now();
          run(n);
          taken.push(performance.now() - from);
        }
      }
      const otherCpu = load.ofOthers();
      const [base, plain] = [median(ours.taken), median(inArrays.taken)];
      const ms = rivals.map(({ taken }) => median(taken));
      printLine({
        case: `${op} d${dim} h${hot}`,
        nativeMs: base,
        nativePlainMs: plain,
        ...Object.fromEntries(threads.map((count, i) => [`wasmMs${count}`, ms[i]])),
        ...Object.fromEntries(threads.map((count, i) => [`ratio${count}`, ms[i]! / base])),
        ...Object.fromEntries(threads.map((count, i) => [`ratioOfPlain${count}`, ms[i]! / plain])),
        otherCpu,
      });
    }
  }
}
