/** What the backend `cpu` does for tables: its tensors are arrays, which kernels read where they lie. */
import * as tf from '@tensorflow/tfjs';
import { hostKernels } from './host_kernels.js';
import type { HostMemory } from './host_memory.js';
import { HostTables } from './host_tables.js';
import { type CpuBackend, floatsOf, intsOf, OwnedTables } from './owned_tables.js';

const cpu = (): CpuBackend => tf.backend() as CpuBackend;

const MEMORY: HostMemory = {
  owned: () => OwnedTables.of(cpu()),
  floats: ({ dataId }, argument) => floatsOf(cpu(), dataId, argument),
  ints: ({ dataId }, argument) => intsOf(cpu(), dataId, argument),
  make: (shape, dtype, values) => cpu().makeTensorInfo(shape, dtype, values),
};

/** By kernel name. */
export const KERNEL_FUNCTIONS = hostKernels(MEMORY);

export const cpuTables = new HostTables(MEMORY);
