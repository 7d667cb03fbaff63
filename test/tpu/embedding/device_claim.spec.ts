/** Who holds the devices, and which core a device string names. */
import type { Devices } from '../../../src/backends/contract.js';
import { claimDevices, coreOf, releaseDevices } from '../../../src/tpu/embedding/device_claim.js';
import { expectError } from '../../helpers/errors.js';

describe('Claims of devices', () => {
  it('are given up by their owner alone', () => {
    const devices = {} as Devices;
    const [owner, other] = [{}, {}];
    claimDevices(devices, owner);
    claimDevices(devices, owner);
    expectError(() => claimDevices(devices, other), 'RuntimeError', 'build');
    releaseDevices(devices, other);
    expectError(() => claimDevices(devices, other), 'RuntimeError', 'build');
    releaseDevices(devices, owner);
    expect(() => claimDevices(devices, other)).not.toThrow();
    expectError(() => claimDevices(devices, owner), 'RuntimeError', 'build');
    expect(() => claimDevices({} as Devices, owner)).not.toThrow();
  });
});

describe('Device strings', () => {
  it('name a core that is there', () => {
    for (const [name, core] of [
      ['/device:TPU:0', 0],
      ['/job:worker/task:0/device:tpu:3', 3],
    ] as const) {
      expect(coreOf(name, { count: 4 })).toBe(core);
    }
    for (const wrong of ['/device:TPU:4', '/device:TPU:', '/device:TPU:1x', '/device:CPU:0', 1, null]) {
      expectError(() => coreOf(wrong, { count: 4 }), 'ValueError', 'device');
    }
  });
});
