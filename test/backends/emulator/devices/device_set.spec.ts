import 'tfjs-embeddings/node';
import { setKernels } from '../../../../src/backends/registry.js';
import { makeDevices } from '../../../../src/backends/emulator/devices/device_set.js';
import { WORKER_SOURCE } from '../../../../src/backends/emulator/devices/worker_source.js';

async function failure(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => new Error('it was made'),
    (error: Error) => error,
  );
}

describe('sets of devices', () => {
  afterEach(() => setKernels('auto'));

  it('are workers where that is possible, and in line where that is asked for', async () => {
    const workers = await makeDevices({ count: 3, kind: 'auto', threads: 3, timeoutMs: 10_000 });
    expect(workers.inlineBecause).toBeNull();
    expect(workers.devices.map(({ kind, index }) => [kind, index])).toEqual([
      ['worker', 0],
      ['worker', 1],
      ['worker', 2],
    ]);
    if (workers.devices[0]!.kernels.implementation === 'native') expect(workers.devices[2]!.kernels.threads).toBe(3);
    await Promise.all(workers.devices.map((device) => device.close()));
    const inline = await makeDevices({ count: 2, kind: 'inline', threads: 1, timeoutMs: 10_000 });
    expect(inline.inlineBecause).toBeNull();
    expect(inline.devices.map(({ kind }) => kind)).toEqual(['inline', 'inline']);
  });

  it('are in line, with the reason, where there can be no workers', async () => {
    const inline = await makeDevices({ count: 2, kind: 'auto', threads: 1, timeoutMs: 10_000 }, '');
    expect(inline.devices[1]!.kind).toBe('inline');
    expect(inline.inlineBecause).toContain('was not built');
    const error = await failure(makeDevices({ count: 2, kind: 'worker', threads: 1, timeoutMs: 10_000 }, ''));
    expect(error.name).toBe('RuntimeError');
    expect(error.message).toContain('was not built');
  });

  it('are not made where a worker does not start; the error names the device and the cause', async () => {
    const fragile = `${WORKER_SOURCE}; if (require('node:worker_threads').threadId % 2 === 0) throw new Error('no power');`;
    const before = process.getActiveResourcesInfo().length;
    const error = await failure(makeDevices({ count: 2, kind: 'auto', threads: 1, timeoutMs: 10_000 }, fragile));
    expect(error.name).toBe('RuntimeError');
    expect(error.message).toMatch(/Device [01]: no power/);
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before + 1);
  });
});
