/** Starts and removals that cross each other, starts that fail, and what they leave. */
import * as tf from '@tensorflow/tfjs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Worker } from 'node:worker_threads';
import { running } from '../../../src/backends/emulator/register.js';
import { BACKEND_NAME } from '../../../src/backends/emulator/settings.js';
import { configureTpuEmulator } from '../../../src/report/tpu_emulator.js';
import { RuntimeError } from '../../../src/base/errors.js';
import { skipOrFail } from '../../helpers/backends.js';
import { HOSTS, emulator, loadHost, startEmulator, stopEmulator } from './describe_emulator.js';

const PAIR = { chips: 2, coresPerChip: 1, devices: 'worker', host: 'cpu' } as const;

describe('starts of the emulator', () => {
  let before: string;
  let started: number;
  let live: Set<Worker>;
  const onWorker = (worker: Worker): void => {
    started++;
    live.add(worker);
    worker.once('exit', () => live.delete(worker));
  };

  beforeAll(async () => {
    await tf.ready();
    before = tf.getBackend();
    await loadHost('cpu');
  });
  beforeEach(() => {
    started = 0;
    live = new Set();
    process.on('worker', onWorker);
  });
  afterEach(async () => {
    await stopEmulator(before);
    process.off('worker', onWorker);
    await expectNoWorkers();
  });

  async function expectNoWorkers(): Promise<void> {
    // Workers that were told to end take a moment.
    for (let turn = 0; turn < 200 && live.size > 0; turn++) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(live.size).withContext('workers left').toBe(0);
  }

  function expectUsable(): void {
    const table = tf.tidy(() => tf.variable(tf.tensor2d([1, 2, 3, 4], [4, 1]))) as unknown as tf.Variable;
    emulator().place(table);
    expect(Array.from(table.dataSync())).toEqual([1, 2, 3, 4]);
    table.dispose();
  }

  it('at the same time make one machine', async () => {
    configureTpuEmulator(PAIR);
    // tfjs answers all but the last with false.
    const ends = await Promise.all([1, 2, 3].map(() => tf.setBackend(BACKEND_NAME)));
    expect(ends.at(-1)).toBeTrue();
    expect(started).toBe(2);
    expect(running()!.backend === tf.backend()).toBeTrue();
    expectUsable();
    tf.removeBackend(BACKEND_NAME);
    await expectNoWorkers();
  });

  it('that are removed meanwhile leave nothing', async () => {
    configureTpuEmulator(PAIR);
    const start = tf.setBackend(BACKEND_NAME);
    expect(() => configureTpuEmulator(PAIR)).toThrowError(RuntimeError, /a machine that has not started/);
    tf.removeBackend(BACKEND_NAME);
    configureTpuEmulator({ ...PAIR, chips: 1 });
    expect(await start).toBeFalse();
    expect(running()).toBeNull();
    await expectNoWorkers();
    expect(await tf.setBackend(BACKEND_NAME)).toBeTrue();
    expect(emulator().count).toBe(1);
    expectUsable();
  });

  it('that are removed once their devices start leave nothing', async () => {
    configureTpuEmulator(PAIR);
    const start = tf.setBackend(BACKEND_NAME);
    while (started < 2) await new Promise((resolve) => setImmediate(resolve));
    tf.removeBackend(BACKEND_NAME);
    expect(await start).toBeFalse();
    expect(running()).toBeNull();
    await expectNoWorkers();
    configureTpuEmulator(PAIR);
  });

  it('that follow a removed one at once get a machine of their own', async () => {
    configureTpuEmulator(PAIR);
    const first = tf.setBackend(BACKEND_NAME);
    while (started < 2) await new Promise((resolve) => setImmediate(resolve));
    tf.removeBackend(BACKEND_NAME);
    configureTpuEmulator({ ...PAIR, chips: 3 });
    const second = tf.setBackend(BACKEND_NAME);
    expect(await Promise.all([first, second])).toEqual([false, true]);
    expect(emulator().count).toBe(3);
    expectUsable();
    expect(live.size).toBe(3);
  });

  it('that tfjs gave up for another backend are found again, or removed', async () => {
    const other = Object.assign(new tf.KernelBackend(), { dispose: () => undefined });
    for (const isUsed of [true, false]) {
      tf.registerBackend('other', () => new Promise<tf.KernelBackend>((resolve) => setImmediate(resolve, other)));
      configureTpuEmulator(PAIR);
      const first = tf.setBackend(BACKEND_NAME);
      expect(await tf.setBackend('other')).toBeTrue();
      expect(await first).toBeFalse();
      const { machine } = running()!;
      if (isUsed) {
        expect(await tf.setBackend(BACKEND_NAME)).toBeTrue();
        expect(running()!.machine).toBe(machine);
        expectUsable();
      }
      tf.removeBackend(BACKEND_NAME);
      tf.removeBackend('other');
      expect(running()).toBeNull();
      await expectNoWorkers();
      await tf.setBackend(before);
    }
  });

  it('on a host that cannot be used make no devices', async () => {
    const warn = spyOn(console, 'warn');
    tf.registerBackend('mine', () => Object.assign(new tf.KernelBackend(), { dispose: () => undefined }));
    configureTpuEmulator({ ...PAIR, host: 'mine' });
    expect(await tf.setBackend(BACKEND_NAME)).toBeFalse();
    expect(warn.calls.allArgs().flat().join(' ')).toMatch(/`host`: expected tensorflow, wasm or cpu, received "mine"/);
    expect([started, running()]).toEqual([0, null]);
    tf.removeBackend('mine');
  });

  it('that fail when devices are there end these', async () => {
    const warn = spyOn(console, 'warn');
    let made = 0;
    class Broken extends tf.KernelBackend {
      readonly wasm = {};
      constructor() {
        super();
        if (made++ > 0) throw new Error('one of these is enough');
      }
      override dispose(): void {
        made = 0;
      }
    }
    tf.registerBackend('broken', () => new Broken());
    configureTpuEmulator({ ...PAIR, host: 'broken' });
    expect(await tf.setBackend(BACKEND_NAME)).toBeFalse();
    expect(warn.calls.allArgs().flat().join(' ')).toContain('one of these is enough');
    expect([started, running()]).toEqual([2, null]);
    await expectNoWorkers();
    tf.removeBackend('broken');
    configureTpuEmulator(PAIR);
    expect(await tf.setBackend(BACKEND_NAME)).toBeTrue();
    expectUsable();
  });
});

for (const host of HOSTS) {
  describe(`an emulator that was removed [${host}]`, () => {
    let before: string;
    let missing: string | null = null;
    beforeAll(async () => {
      await tf.ready();
      before = tf.getBackend();
      missing = await loadHost(host);
    });

    it('is remembered by nobody', async () => {
      if (missing !== null) skipOrFail(missing);
      const references = await used();
      await stopEmulator(before);
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const stay = (): string[] => Object.keys(references).filter((name) => references[name]!.deref() !== undefined);
      for (let turn = 0; turn < 20 && stay().length > 0; turn++) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        collect();
      }
      expect(stay()).toEqual([]);
    });

    async function used(): Promise<Record<string, WeakRef<object>>> {
      await startEmulator({ chips: 2, coresPerChip: 1, host });
      const table = tf.tidy(() => tf.variable(tf.ones([4, 2]).add(1))) as unknown as tf.Variable;
      emulator().place(table);
      expect(table.dataSync()[0]).toBe(2);
      table.dispose();
      const { machine, backend } = running()!;
      return {
        machine: new WeakRef(machine),
        backend: new WeakRef(backend),
        exchange: new WeakRef(machine.set.exchange),
      };
    }
  });
}
