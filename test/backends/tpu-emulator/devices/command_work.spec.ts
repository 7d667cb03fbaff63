import { NEUTRAL_HYPER, packHyper } from '../../../../src/backends/hyper.js';
import { CommandWork } from '../../../../src/backends/tpu-emulator/devices/command_work.js';
import type { Command } from '../../../../src/backends/tpu-emulator/devices/device.js';
import { commands } from './device_script.js';

describe('the work of commands', () => {
  const part = { firstRow: 0, rowStep: 1, rows: 1000, firstColumn: 0, columns: 16 };
  const constant = { kind: 'constant', value: 1 } as const;

  it('is a number for each of them', () => {
    const work = new CommandWork();
    for (const command of commands(0)) expect(work.of(command)).withContext(command.op).toBeGreaterThanOrEqual(0);
  });

  it('of what is copied is its size', () => {
    expect(new CommandWork().of({ op: 'copyShared', sharedKey: 1, words: 7000, at: 64 })).toBe(7000);
  });

  it('of copies comes from the buffers', () => {
    const work = new CommandWork();
    work.of({ op: 'allocate', buffer: 1, part, fill: constant });
    expect(work.of({ op: 'copy', buffer: 2, from: 1 })).toBe(32_000);
    expect(work.of({ op: 'copy', buffer: 3, from: 2 })).toBe(32_000);
    work.of({ op: 'free', buffer: 3 });
    expect(work.of({ op: 'copy', buffer: 4, from: 3 })).toBe(0);
  });

  it('of a step over all rows grows with the table', () => {
    const table = { buffer: 1, rows: 1e6, dim: 10 };
    const step = (lazy: number): Command => {
      const hyper = [...packHyper({ ...NEUTRAL_HYPER, lazy })];
      return { op: 'step', optimizer: 'adam', table, slots: [2, 3], entries: [], hyper };
    };
    expect(new CommandWork().of(step(1))).toBe(0);
    expect(new CommandWork().of(step(0))).toBeGreaterThanOrEqual(3e7);
  });
});
