/** Buffers of a device: what is freed is gone, and its memory is used again. */
import { referenceKernels } from '../../../src/backends/reference/reference_kernel_set.js';
import type { Command } from '../../../src/backends/devices/device.js';
import { DeviceProgram } from '../../../src/backends/devices/device_program.js';
import { Operands } from '../../../src/backends/devices/operands.js';
import { InlineExchange } from '../../../src/backends/devices/exchange_memory.js';
import type { KernelSet } from '../../../src/backends/kernel_set.js';
import { RuntimeError } from '../../../src/base/errors.js';

const [ROWS, DIM] = [6, 4];
const PART = { firstRow: 0, rowStep: 1, rows: ROWS, firstColumn: 0, columns: DIM };

/** Kernels in a memory that counts what is taken and given back. */
function counted(): { kernels: KernelSet; held: Map<number, number> } {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const held = new Map<number, number>();
  let next = 16;
  const heap = {
    memory,
    malloc: (bytes: number): number => {
      held.set(next, bytes);
      next += bytes;
      return next - bytes;
    },
    free: (address: number): void => {
      if (!held.delete(address)) throw new Error(`nothing was taken at ${address}`);
    },
  };
  return { kernels: Object.assign(Object.create(referenceKernels) as KernelSet, { heap }), held };
}

describe('DeviceProgram', () => {
  const allocate = (buffer: number): Command => {
    return { op: 'allocate', buffer, part: PART, fill: { kind: 'constant', value: buffer } };
  };
  const read = (buffer: number): Command => {
    const table = { buffer, rows: ROWS, dim: DIM };
    return { op: 'read', table, firstRow: 0, rows: ROWS, where: { at: 0, stride: DIM } };
  };

  function make(): { program: DeviceProgram; held: Map<number, number>; exchange: InlineExchange } {
    const { kernels, held } = counted();
    const exchange = new InlineExchange();
    exchange.reserve(100);
    const program = new DeviceProgram(kernels, new Operands(() => exchange, null));
    return { program, held, exchange };
  }

  it('gives memory back with the buffer that it was taken for, and with no other', () => {
    const { program, held, exchange } = make();
    for (const command of [allocate(1), allocate(2), { op: 'copy', buffer: 3, from: 2 } as const]) program.run(command);
    expect([...held.values()]).toEqual([96, 96, 96]);
    program.run({ op: 'free', buffer: 2 });
    expect(held.size).toBe(2);
    expect(() => program.run(read(2))).toThrowError(RuntimeError, /a buffer of this device, received 2/);
    for (const [buffer, value] of [
      [1, 1],
      [3, 2],
    ] as const) {
      // prettier-ignore
      program.run(read(buffer));
      expect([...exchange.floats.subarray(0, ROWS * DIM)]).toEqual(new Array<number>(ROWS * DIM).fill(value));
    }
    program.run({ op: 'free', buffer: 1 });
    program.run({ op: 'free', buffer: 3 });
    expect(held.size).toBe(0);
    // Freed once more, or never there: nothing happens.
    program.run({ op: 'free', buffer: 3 });
    program.run({ op: 'free', buffer: 9 });
    expect(held.size).toBe(0);
  });

  it('gives everything back when it is closed', () => {
    const { program, held } = make();
    for (const buffer of [1, 2, 3]) program.run(allocate(buffer));
    program.close();
    expect(held.size).toBe(0);
    expect(() => program.run(read(1))).toThrowError(RuntimeError, /a buffer of this device/);
  });
});
