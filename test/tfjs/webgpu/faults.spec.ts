import { Faults } from '../../../src/tfjs/webgpu/faults.js';
import type { GpuDevice } from '../../../src/tfjs/webgpu/webgpu_backend.js';

/** A device that says what a test has it say. */
function device(): { device: GpuDevice; fail(message: string): void; lose(message: string): void } {
  let listener: (event: { error: { message: string } }) => void = () => undefined;
  let lose: (info: { reason: string; message: string }) => void = () => undefined;
  const lost = new Promise<{ reason: string; message: string }>((resolve) => (lose = resolve));
  const addEventListener = (_: string, given: typeof listener): void => void (listener = given);
  return {
    device: { lost, addEventListener } as unknown as GpuDevice,
    fail: (message) => listener({ error: { message } }),
    lose: (message) => lose({ reason: 'unknown', message }),
  };
}

describe('faults of a GPU', () => {
  it('are none at first', () => {
    expect(() => new Faults(device().device).check()).not.toThrow();
  });

  it('are told once, the first of several', () => {
    const { device: made, fail: failing } = device();
    const faults = new Faults(made);
    failing('no such function');
    failing('another one');
    expect(() => faults.check()).toThrowError(/no such function/);
    expect(() => faults.check()).not.toThrow();
  });

  it('are told with their cause', () => {
    const { device: made, fail: failing } = device();
    const faults = new Faults(made);
    failing('no such function');
    expect(() => faults.check()).toThrowError(/no such function/);
    failing('[Invalid ComputePipeline] is invalid due to a previous error.');
    expect(() => faults.check()).toThrowError(/no such function/);
  });

  it('last where the device was lost, and are what reads end with', async () => {
    const { device: made, lose } = device();
    const faults = new Faults(made);
    expect(await faults.during(Promise.resolve(3))).toBe(3);
    const read = faults.during(Promise.reject(new Error('aborted')));
    lose('pulled out');
    await expectAsync(read).toBeRejectedWithError(/pulled out/);
    for (let i = 0; i < 2; i++) expect(() => faults.check()).toThrowError(/pulled out/);
  });
});
