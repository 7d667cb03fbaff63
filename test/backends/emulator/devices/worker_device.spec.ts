// runner: alone
import 'tfjs-embeddings/node';
import { addKernelSet, namedKernelSet, removeKernelSet, setKernels } from '../../../../src/backends/registry.js';
import { DeviceFault, type Command, type DeviceSet } from '../../../../src/backends/devices/device.js';
import { makeDevices } from '../../../../src/backends/emulator/devices/device_set.js';
import { SharedExchange } from '../../../../src/backends/devices/exchange_memory.js';
import { WorkerControl } from '../../../../src/backends/emulator/devices/worker_control.js';
import { WorkerDevice } from '../../../../src/backends/emulator/devices/worker_device.js';
import { WORKER_SOURCE } from '../../../../src/backends/emulator/devices/worker_source.js';
import { skipOrFail } from '../../../helpers/backends.js';
import { runAll, thrown } from '../../devices/device_script.js';

const open: DeviceSet[] = [];

/** Until a device that does nothing is given up; others may take any time, however busy the machine is. */
const PATIENCE_MS = 4000;

async function devices(
  count: number,
  kind: 'worker' | 'inline' = 'worker',
  source = WORKER_SOURCE,
  timeoutMs = 60_000,
): Promise<DeviceSet> {
  const set = await makeDevices({ count, kind, threads: 1, timeoutMs }, source);
  open.push(set);
  return set;
}

/** A worker whose commands may name a deed, which ends it in one way or another. */
const FRAGILE = `${WORKER_SOURCE};
require('node:worker_threads').parentPort.on('message', ({ commands = [] }) => {
  for (const { deed } of commands) {
    if (deed === 'exit') process.exit(3);
    if (deed === 'throw') throw new TypeError('thrown by a listener');
    if (deed === 'recurse') (function again() { again(); })();
    if (deed === 'exhaust') for (const hoard = []; ; ) hoard.push(new Array(2 ** 22).fill(hoard.length));
    if (deed === 'spin') for (;;);
    if (deed === 'noise') { process.stdout.write('noise'); console.error('noise'); }
    const waiting = { slow: 300, slower: 3000 }[deed];
    if (waiting !== undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waiting);
  }
});`;
const only = (deed: string): Command[] => [{ op: 'free', buffer: 0, deed } as Command];

/** Device 0 fails, says so again, and leaves the others alone. */
function expectFault({ devices: [first, second] }: DeviceSet, run: () => void, text: RegExp): void {
  const fault = thrown(run);
  expect(fault).toBeInstanceOf(DeviceFault);
  expect((fault as DeviceFault | null)?.device).toBe(0);
  expect(fault?.message).toMatch(text);
  expect(thrown(() => first!.post([]))).toBe(fault);
  expect(thrown(() => first!.finish())).toBe(fault);
  second!.post([]);
  second!.finish();
}

describe('devices that are workers', () => {
  afterEach(async () => {
    setKernels('auto');
    for (const set of open.splice(0)) await Promise.all(set.devices.map((device) => device.close()));
  });

  for (const kernels of ['native', 'wasm', 'reference'] as const) {
    it(`do, eight at a time, what devices in line do, bit by bit (${kernels})`, async () => {
      if (namedKernelSet(kernels) === undefined) return skipOrFail(`no ${kernels} kernels here`);
      setKernels(kernels);
      const workers = await devices(8);
      const inline = await devices(8, 'inline');
      const expected = runAll(inline.devices, inline.exchange);
      expect(workers.devices.map(({ kind }) => kind)).toEqual(Array<'worker'>(8).fill('worker'));
      expect(workers.devices[7]!.kernels).toEqual({ ...inline.devices[7]!.kernels, threads: 1 });
      for (let round = 0; round < 2; round++) expect(runAll(workers.devices, workers.exchange)).toEqual(expected);
      expect(new Set(expected[0]!.slice(1200)).size).toBeGreaterThan(100);
    });
  }

  it('see the exchange memory after it has grown', async () => {
    const { devices: some, exchange } = await devices(2);
    const table = { buffer: 1, rows: 100, dim: 1 };
    const part = { firstRow: 0, rowStep: 1, rows: 100, firstColumn: 0, columns: 1 };
    for (const words of [100, 1e5, 1e6, 5e6]) {
      exchange.reserve(words);
      exchange.floats[words - 1] = words;
      some.forEach((device, i) => {
        const fill = { kind: 'constant', value: words + i } as const;
        device.post([
          { op: 'allocate', buffer: 1, part, fill },
          { op: 'read', table, firstRow: 0, rows: 1, where: { at: words - 2 - i, stride: 1 } },
        ]);
      });
      for (const device of some) device.finish();
      expect([...exchange.floats.subarray(words - 3, words)]).toEqual([words + 1, words, words]);
    }
  });

  it('are sent a buffer that took the place of another one, once', () => {
    const sent: unknown[] = [];
    const thread = { post: (message: { exchange?: unknown }) => sent.push(message.exchange) };
    const exchange = new SharedExchange(null);
    const device = new WorkerDevice(0, {} as never, thread as never, new WorkerControl(), exchange, 1000);
    device.post([]);
    for (const words of [1e5, 1e6]) {
      exchange.reserve(words);
      device.post([]);
      expect(sent.at(-1)).toBe(exchange.source);
      device.post([]);
    }
    expect(sent.map((each) => each !== undefined)).toEqual([false, true, false, true, false]);
  });

  it('fail with the text of the error, and take no more commands', async () => {
    const set = await devices(2);
    const [first] = set.devices;
    first!.post([{ op: 'copy', buffer: 1, from: 17 }]);
    // The fault may be known before the second is posted.
    expectFault(
      set,
      () => {
        first!.post([]);
        first!.finish();
      },
      /RuntimeError: `buffer`: .* received 17/,
    );
  });

  for (const [fault, text] of [
    ['kernelError', /a kernel failed/],
    ['terminate', /terminated/],
    ['outOfMemory', /out of memory/],
    ['hang', /no sign of life/],
  ] as const) {
    it(`fail where ${fault} is injected`, async () => {
      const set = await devices(2, 'worker', WORKER_SOURCE, fault === 'hang' ? PATIENCE_MS : undefined);
      const [first] = set.devices;
      first!.injectFault(fault);
      expectFault(
        set,
        () => {
          first!.post([{ op: 'free', buffer: 1 }]);
          first!.finish();
        },
        text,
      );
    });
  }

  for (const [deed, text] of [
    ['exit', /has ended/],
    ['throw', /its worker failed: TypeError: thrown by a listener/],
    ['recurse', /its worker failed: RangeError/],
    ['exhaust', /out of memory/],
    ['spin', /no sign of life/],
  ] as const) {
    it(`fail where their worker does ${deed}`, async () => {
      const set = await devices(2, 'worker', FRAGILE, deed === 'spin' ? PATIENCE_MS : undefined);
      const [first] = set.devices;
      const run = (): void => {
        first!.post(only(deed));
        first!.post([]); // an uncaught error comes after the message that led to it
        first!.finish();
      };
      expectFault(set, run, text);
    });
  }

  it('fail at the next call where they died while nobody waited', async () => {
    const set = await devices(2, 'worker', FRAGILE);
    const [first] = set.devices;
    first!.post(only('exit'));
    for (let tries = 0; tries < 1000 && thrown(() => first!.post([])) === null; tries++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expectFault(set, () => first!.post([]), /ended/);
  });

  it('are noticed without the addon too', async () => {
    const native = removeKernelSet('native');
    try {
      const exits = await devices(2, 'worker', FRAGILE);
      exits.devices[0]!.post(only('exit'));
      expectFault(exits, () => exits.devices[0]!.finish(), /has ended/);
      const exhausts = await devices(2, 'worker', WORKER_SOURCE, PATIENCE_MS);
      exhausts.devices[0]!.injectFault('terminate');
      exhausts.devices[0]!.post([]);
      expectFault(exhausts, () => exhausts.devices[0]!.finish(), /no sign of life/);
    } finally {
      if (native !== undefined) addKernelSet(native);
    }
  });

  it('are waited for while they are slow, and keep their noise to themselves', async () => {
    const { devices: some } = await devices(1, 'worker', FRAGILE);
    for (let round = 0; round < 3; round++) some[0]!.post(only('slow'));
    some[0]!.post(only('noise'));
    expect(thrown(() => some[0]!.finish())).toBeNull();
  });

  it('hang where they make no progress for as long as they are given', async () => {
    const set = await devices(2, 'worker', FRAGILE, 1000);
    set.devices[0]!.post(only('slower'));
    expectFault(set, () => set.devices[0]!.finish(), /^it gave no sign of life for 1 s$/);
  });

  it('are gone when they are closed, whatever they did', async () => {
    const before = process.getActiveResourcesInfo().length;
    for (let round = 0; round < 5; round++) {
      const { devices: some } = await devices(2, 'worker', FRAGILE);
      some[0]!.post(only('spin'));
      some[1]!.post([]);
      await Promise.all(some.map((device) => device.close()));
      await some[0]!.close();
      expect(thrown(() => some[1]!.post([]))?.message).toBe('it was closed');
    }
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before + 1);
  });
});
