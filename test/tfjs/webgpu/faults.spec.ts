import { Faults } from '../../../src/tfjs/webgpu/faults.js';
import type { GpuDevice } from '../../../src/tfjs/webgpu/webgpu_backend.js';

/** A device that says what a test has it say. */
interface Made {
  device: GpuDevice;
  fail(message: string): void;
  lose(message: string): void;
  /** Labels of what was made, in their order. */
  labels: string[];
  /** What the device says when it is asked whether all is done. */
  pending: string[];
}

function device(): Made {
  let listener: (event: { error: { message: string } }) => void = () => undefined;
  let lose: (info: { reason: string; message: string }) => void = () => undefined;
  const lost = new Promise<{ reason: string; message: string }>((resolve) => (lose = resolve));
  const addEventListener = (_: string, given: typeof listener): void => void (listener = given);
  const [labels, pending] = [[] as string[], [] as string[]];
  const make = ({ label }: { label?: string }): object => ({ label: labels.push(label!) });
  const popErrorScope = (): Promise<null> =>
    Promise.resolve().then(() => {
      for (const message of pending.splice(0)) listener({ error: { message } });
      return null;
    });
  const scopes = { pushErrorScope: () => undefined, popErrorScope };
  const makers = { createShaderModule: make, createComputePipeline: make };
  return {
    labels,
    pending,
    device: { lost, addEventListener, ...scopes, ...makers } as unknown as GpuDevice,
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

  it('are told with the cause of the pipeline that failed, not with that of another one', () => {
    const { device: made, fail: failing, labels } = device();
    const faults = new Faults(made);
    for (let i = 0; i < 2; i++) {
      made.createShaderModule({ label: 'Program' });
      made.createComputePipeline({ label: 'Program' });
    }
    const [first, firstPipeline, second, secondPipeline] = labels;
    expect(new Set(labels).size).toBe(4);
    const invalid = (shader: string, pipeline: string): string =>
      `[Invalid ShaderModule "${shader}"] is invalid.\n - While calling [ComputePipelineDescriptor ""${pipeline}""]`;
    failing(`no such function\n - While validating [ShaderModuleDescriptor ""${first}""]`);
    failing(invalid(first!, firstPipeline!));
    failing(`no such type\n - While validating [ShaderModuleDescriptor ""${second}""]`);
    failing(invalid(second!, secondPipeline!));
    expect(() => faults.check()).toThrowError(/no such function/);
    failing(`[Invalid ComputePipeline "${secondPipeline}"] is invalid.`);
    expect(() => faults.check()).toThrowError(/no such type/);
    failing(`[Invalid ComputePipeline "${firstPipeline}"] is invalid.`);
    expect(() => faults.check()).toThrowError(/no such function/);
    failing('[Invalid Buffer "other"] is invalid: too large');
    expect(() => faults.check()).toThrowError(/too large/);
  });

  it('that the device tells late are there once it has settled', async () => {
    const { device: made, pending } = device();
    const faults = new Faults(made);
    pending.push('no such function');
    expect(() => faults.check()).not.toThrow();
    await faults.settled();
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
