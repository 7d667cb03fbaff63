// runner: alone
/** Workers that share the kernels of one memory: the same bits with any number of them, and errors for those that fail. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { WITH_SOURCES } from '../../../helpers/programs.js';
import { FLOAT32 } from '../../../../src/codecs/float32.js';
import {
  floatTable,
  type IdOutOfRange,
  type BagOptions,
  type HostBags,
  type HostTable,
} from '../../../../src/backends/kernel_set.js';
import type { WorkerProgram } from '../../../../src/base/worker_thread.js';
import { WasmHeap } from '../../../../src/backends/wasm/heap.js';
import { embeddingBags, type LookupAt } from '../../../../src/backends/wasm/joint_calls.js';
import { moduleFor } from '../../../../src/backends/wasm/module.js';
import { bringThreads } from '../../../../src/backends/wasm/threads/bring_threads.js';
import type { Team } from '../../../../src/backends/wasm/threads/team.js';
import { WasmKernels } from '../../../../src/backends/wasm/kernels.js';
import { hostOf } from '../../../../src/backends/wasm/tensor_kernels.js';
import type { WasmBackend } from '../../../../src/backends/wasm/tfjs_heap.js';
import { WasmKernelSet } from '../../../../src/backends/wasm/wasm_kernel_set.js';
import { RuntimeError } from '../../../../src/base/errors.js';
import { WEIGHING } from '../../../../src/base/types.js';
import { UPDATE_NAMES } from '../../../../src/rules/rules.js';
import { copyOf, randomNumbers, usualHyper, usualSlots } from '../generated_case.js';
import { lookUpInto, stepOne } from '../../../helpers/kernel_calls.js';

const WAIT_MS = 10_000;

bringThreads();

interface LargeCase {
  readonly table: HostTable<Float32Array>;
  readonly bags: HostBags;
  readonly gradient: Float32Array;
  readonly options: BagOptions;
}

/** Ids enough for several threads: ragged, with repeated ids, bags without any, and some with weights or maxNorm. */
function largeCase(seed: number): LargeCase {
  const random = randomNumbers(seed);
  const floats = (length: number) => Float32Array.from({ length }, () => 2 * random() - 1);
  const [rows, dim, batch] = [[7, 900, 50_000][seed % 3]!, [3, 32, 64, 130][seed % 4]!, 1500];
  const rowSplits = new Int32Array(batch + 1);
  for (let b = 0; b < batch; b++) rowSplits[b + 1] = rowSplits[b]! + Math.floor(random() * 14);
  const values = Int32Array.from({ length: rowSplits[batch]! }, () => Math.floor(random() * rows));
  const weights = seed % 2 === 0 ? null : Float32Array.from(values, () => random());
  const options = { combiner: WEIGHING[seed % 3]!, outOfRange: 'error', maxNorm: seed % 5 === 0 ? 0.5 : 0 } as const;
  return {
    table: floatTable(floats(rows * dim), rows, dim),
    bags: { values, rowSplits, weights },
    gradient: floats(batch * dim),
    options,
  };
}

/** Everything that a set computes for a case. */
function results(set: WasmKernelSet, { table, bags, gradient, options }: LargeCase, seed: number): Float32Array[] {
  const pooled = new Float32Array(gradient.length);
  lookUpInto(set, table, bags, options, pooled);
  const { uniqueIds, rowGradients } = set.rowGradients(gradient, bags, table, options);
  const weightsGradient = new Float32Array(bags.values.length);
  const weights = bags.weights ?? new Float32Array(bags.values.length).fill(1);
  set.weightsGradient(table, gradient, { ...bags, weights }, options, weightsGradient);
  const optimizer = UPDATE_NAMES[seed % UPDATE_NAMES.length]!;
  const own = copyOf(table);
  const slots = usualSlots(optimizer, own, seed);
  stepOne(set, optimizer, own, slots, gradient, bags, options, usualHyper(optimizer));
  return [pooled, Float32Array.from(uniqueIds), rowGradients, weightsGradient, own.data, ...slots];
}

/** A set with so many threads, all of which have begun to work. */
async function setWith(threads: number): Promise<WasmKernelSet> {
  const set = new WasmKernelSet({ shared: true });
  set.setThreads(threads);
  const example = largeCase(1);
  const pooled = new Float32Array(example.gradient.length);
  const end = performance.now() + WAIT_MS;
  while (set.threadsAtWork < threads || (threads > 1 && set.tasksHelped === 0)) {
    if (performance.now() > end) throw new Error(`${set.threadsAtWork} of ${threads} threads have started`);
    lookUpInto(set, example.table, example.bags, example.options, pooled);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return set;
}

describe('threads of the WebAssembly kernels', () => {
  const sets: WasmKernelSet[] = [];
  const opened = async (threads: number): Promise<WasmKernelSet> => {
    const set = await setWith(threads);
    sets.push(set);
    return set;
  };
  afterEach(async () => {
    await Promise.all(sets.splice(0).map((set) => set.close()));
  });

  it('give the same bits, however many there are', async () => {
    const alone = await opened(1);
    for (const threads of [2, 3]) {
      const many = await opened(threads);
      for (let seed = 0; seed < 12; seed++) {
        const example = largeCase(seed);
        const expected = results(alone, example, seed);
        results(many, example, seed).forEach((array, i) => {
          const bits = (floats: Float32Array) => Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength);
          expect(bits(array).equals(bits(expected[i]!)))
            .withContext(`case ${seed}, result ${i}, ${threads} threads`)
            .toBeTrue();
        });
      }
    }
  });

  it('do a part of the tasks, and none after setThreads(1)', async () => {
    const set = await opened(2);
    const run = (): number => {
      const before = set.tasksHelped;
      for (let seed = 0; seed < 40; seed++) results(set, largeCase(4), 4);
      return set.tasksHelped - before;
    };
    expect(set.info()).toEqual({ implementation: 'wasm', instructionSet: 'simd128', threads: 2 });
    expect(run()).toBeGreaterThan(0);
    set.setThreads(1);
    expect(run()).toBe(0);
    expect(set.info().threads).toBe(1);
  });

  it('do not start for small calls', () => {
    const set = new WasmKernelSet({ shared: true });
    sets.push(set);
    set.setThreads(2);
    const table = floatTable(new Float32Array(8), 2, 4);
    const bags = { values: new Int32Array([0, 1]), rowSplits: new Int32Array([0, 2]), weights: null };
    const pooled = new Float32Array(4);
    for (let i = 0; i < 100; i++)
      lookUpInto(set, table, bags, { combiner: 'sum', outOfRange: 'error', maxNorm: 0 }, pooled);
    expect(set.threadsAtWork).toBe(1);
  });

  it('tell the first id out of range', async () => {
    const set = await opened(2);
    const { table, bags, options, gradient } = largeCase(4);
    const values = bags.values.slice();
    for (const position of [1500, 3000, 7000]) values[position] = table.rows + position;
    const pooled = new Float32Array(gradient.length);
    for (let i = 0; i < 20; i++) {
      expect(() => lookUpInto(set, table, { ...bags, values }, options, pooled)).toThrow(
        jasmine.objectContaining({ id: table.rows + 1500, position: 1500 } as Partial<IdOutOfRange>),
      );
    }
  });

  it('grow the memory while they wait', async () => {
    const set = await opened(2);
    const before = set.heap.memory.buffer.byteLength;
    const place = set.heap.malloc(4 * before, 'test');
    const example = largeCase(2);
    const alone = await opened(1);
    const expected = results(alone, example, 2);
    expect(results(set, example, 2)).toEqual(expected);
    set.heap.free(place);
  });

  it('end with the process, which they do not keep alive', () => {
    const source = fileURLToPath(new URL('../../../fixtures/wasm_threads.ts', import.meta.url));
    const { status, stdout, stderr } = spawnSync(process.execPath, [...WITH_SOURCES, source], {
      encoding: 'utf8',
      timeout: 30_000,
    });
    expect({ status, stdout: stdout.trim(), stderr: stderr.trim() }).toEqual({ status: 0, stdout: '2', stderr: '' });
  });
});

const OPTIONS: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };

/** A kernel over a memory of its own, with a team of two, and a call that is large enough for both. */
function withTeam(program?: WorkerProgram): { team: Team; words: Int32Array; call: () => void } {
  const heap = new WasmHeap(undefined, true);
  const kernels = new WasmKernels(heap, program);
  const team = kernels.team!;
  team.setThreads(2);
  expect(moduleFor(heap.memory)).toBeInstanceOf(WebAssembly.Module);
  return { team, words: new Int32Array(heap.memory.buffer, team.pool, 64), call: largeCallOf(kernels) };
}

/** A lookup that takes long enough for a helper that must wake up first. */
function largeCallOf(kernels: WasmKernels): () => void {
  const { table, bags, options, pooled } = lookupOf(kernels, 65_536);
  return () => kernels.embeddingBag(table, bags, options, pooled);
}

/** A lookup of single ids, in the memory of the kernels. */
function lookupOf({ heap }: WasmKernels, batch: number): LookupAt {
  const [rows, dim] = [64, 64];
  const at = (words: number): number => heap.malloc(4 * words, 'test');
  const [address, values, rowSplits, pooled] = [at(rows * dim), at(batch), at(batch + 1), at(batch * dim)];
  new Int32Array(heap.memory.buffer, values, batch).fill(0);
  new Int32Array(heap.memory.buffer, rowSplits, batch + 1).forEach((_, b, splits) => (splits[b] = b));
  const bags = { values, rowSplits, weights: 0, nnz: batch, batch };
  return { table: { address, codec: FLOAT32, rows, dim }, bags, options: OPTIONS, pooled };
}

async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + WAIT_MS;
  while (!condition()) {
    if (performance.now() > end) throw new Error('it did not come to that');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('a helper that stands still', () => {
  /** Words of the pool, as threads_wasm.c has them. */
  const ALONE = 39;

  it('is left alone for a while, and asked again afterwards', async () => {
    const { team, words, call } = withTeam();
    const helped = (): number => {
      const before = team.tasksHelped;
      call();
      return team.tasksHelped - before;
    };
    await until(() => helped() > 0);
    // As the pool says when it has waited for long.
    words[ALONE] = 1;
    expect(helped()).toBe(0);
    await until(() => {
      call();
      return words[ALONE] === 0;
    });
    await until(() => helped() > 0);
    await team.close();
  });
});

describe('helpers of calls with many tables', () => {
  it('start where the ids of all tables together are enough', async () => {
    const kernels = new WasmKernels(new WasmHeap(undefined, true));
    const team = kernels.team!;
    team.setThreads(2);
    const lookups = Array.from({ length: 64 }, () => lookupOf(kernels, 1024));
    await until(() => {
      embeddingBags(kernels, lookups);
      return team.tasksHelped > 0;
    });
    expect(team.tasksHelped).toBeGreaterThan(0);
    await team.close();
  });
});

describe('helpers without work', () => {
  /** Words of the pool, as threads_wasm.c has them. */
  const [ASLEEP, ALONE] = [32, 39];

  it('sleep, and are woken before a large call, if calls may have them', async () => {
    const { team, words, call } = withTeam();
    // On a busy machine a helper may have stood still, and the next calls are made alone.
    await until(() => {
      call();
      return team.tasksHelped > 0 && words[ALONE] === 0;
    });
    const sleeps = (): boolean => Atomics.load(words, ASLEEP) === 1;
    /** Whether the helper wakes up; it looks for work for a while, and sleeps again. */
    const wakes = (): boolean => {
      const end = performance.now() + 50;
      // Waiting leaves the core to the helper where there is no other.
      const nobody = new Int32Array(new SharedArrayBuffer(4));
      while (sleeps()) {
        if (performance.now() > end) return false;
        Atomics.wait(nobody, 0, 0, 0.05);
      }
      return true;
    };
    await until(sleeps);
    team.wakeWorkers(10);
    expect(wakes()).toBeFalse();
    team.setThreads(1);
    team.wakeWorkers(100_000);
    expect(wakes()).toBeFalse();
    team.setThreads(2);
    await until(() => {
      team.wakeWorkers(100_000);
      return wakes();
    });
    await until(sleeps);
    await team.close();
  });
});

describe('helpers on the memory of tfjs', () => {
  it('end when the backend is disposed, once', async () => {
    const memory = new WasmHeap(undefined, true);
    let disposed = 0;
    const wasm = {
      wasmMemory: memory.memory,
      _malloc: (bytes: number) => memory.malloc(bytes, 'test'),
      _free: (address: number) => memory.free(address),
    };
    const backend = { wasm, dispose: () => void disposed++ } as unknown as WasmBackend;
    const { kernels } = hostOf(backend);
    const team = kernels.team!;
    team.setThreads(2);
    const close = spyOn(team, 'close').and.callThrough();
    const call = largeCallOf(kernels);
    await until(() => {
      call();
      return team.tasksHelped > 0;
    });
    backend.dispose();
    expect(disposed).toBe(1);
    expect(close).toHaveBeenCalledTimes(1);
    await close.calls.mostRecent().returnValue;
    expect(team.oneThreadBecause).toBeNull();
    backend.dispose();
    expect(close).toHaveBeenCalledTimes(1);
  });
});

describe('a helper that fails', () => {
  /** A kernel over a memory whose team runs another program. */
  function withProgram(body: string): ReturnType<typeof withTeam> {
    const text = `function help(message, answer) { ${body} }`;
    const inNode = `${text}; const { parentPort } = require('node:worker_threads');
      parentPort.on('message', (message) => help(message, (said) => parentPort.postMessage(said)));`;
    return withTeam({ inNode, inPage: '' });
  }

  it('in the middle of a call makes it an error, and the next calls run alone', async () => {
    // Comes as a helper does, joins the first job, and fails there.
    const joined = `
      const words = new Int32Array(message.memory.buffer, message.pool, 64);
      Atomics.add(words, 35, 1);
      for (;;) {
        const gate = Atomics.load(words, 0);
        if ((gate & 256) !== 0 && Atomics.compareExchange(words, 0, gate, gate + 1) === gate) break;
      }
      Atomics.store(words, message.failed, 1);
      Atomics.notify(words, message.gate);
      answer({ failed: 'a trap' });`;
    const { team, call } = withProgram(joined);
    let error: unknown = null;
    await until(() => {
      try {
        call();
      } catch (caught) {
        error = caught;
      }
      return error !== null;
    });
    expect(error).toBeInstanceOf(RuntimeError);
    expect((error as RuntimeError).argument).toBe('threads');
    expect(team.threads).toBe(1);
    expect(team.oneThreadBecause).toContain('failed');
    for (let i = 0; i < 10; i++) expect(call).not.toThrow();
    await team.close();
  });

  it('before it begins leaves the calls to this thread', async () => {
    const { team, call } = withProgram(`throw new Error('no memory');`);
    for (let i = 0; i < 10; i++) call();
    await until(() => team.oneThreadBecause !== null);
    expect(team.threads).toBe(1);
    expect(team.oneThreadBecause).toContain('no memory');
    expect(call).not.toThrow();
    await team.close();
  });
});
