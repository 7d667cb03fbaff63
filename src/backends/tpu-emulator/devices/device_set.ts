/** Makes the devices of an emulator. */
import { kernelSet } from '../../registry.js';
import type { DeviceSet } from './device.js';
import { InlineExchange } from './exchange_memory.js';
import { InlineDevice } from './inline_device.js';

export interface DeviceRequest {
  readonly count: number;
  /** `auto`: workers where that is possible. */
  readonly kind: 'auto' | 'worker' | 'inline';
  /** Threads of the kernels of each device. */
  readonly threads: number;
}

/** Resolves when all devices are ready. */
export function makeDevices({ count }: DeviceRequest): Promise<DeviceSet> {
  const exchange = new InlineExchange();
  const devices = Array.from({ length: count }, (_, index) => new InlineDevice(index, kernelSet(), exchange));
  return Promise.resolve({ devices, exchange, inlineBecause: 'workers are not there yet' });
}
