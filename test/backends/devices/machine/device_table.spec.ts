/** Buffers behind tables: the devices are told of each that is freed. */
import * as tf from '@tensorflow/tfjs';
import type { Command } from '../../../../src/backends/devices/device.js';
import { wholeOn } from '../../../../src/partition/table_layout.js';
import { Random } from '../../../helpers/random.js';
import { stepSgd } from '../../cpu/steps.js';
import { describeEmulator, emulator } from '../../emulator/describe_emulator.js';
import { LAYOUT_NAMES, layoutOf, place } from '../../emulator/tables.js';

const SIZE = { rows: 12, columns: 6 };

/** Numbers of the buffers of each device, as told by what is posted from now on. */
function watchBuffers(): Set<number>[] {
  return emulator().machine.set.devices.map((device) => {
    const live = new Set<number>();
    const post = device.post.bind(device);
    spyOn(device, 'post').and.callFake((commands: readonly Command[]) => {
      for (const command of commands) {
        if (command.op === 'allocate' || command.op === 'copy') live.add(command.buffer);
        if (command.op === 'free') expect(live.delete(command.buffer)).withContext('freed twice').toBeTrue();
      }
      post(commands);
    });
    return live;
  });
}

describeEmulator('buffers of tables', { chips: 3, coresPerChip: 1 }, () => {
  const countsOf = (live: readonly Set<number>[]): number[] => live.map(({ size }) => size);

  for (const name of LAYOUT_NAMES) {
    it(`are freed with tables, slots and copies for snapshots: ${name}`, () => {
      const live = watchBuffers();
      const layout = layoutOf(name, SIZE, 3, new Random(5));
      const pieces = [0, 1, 2].map((device) => layout.shards.filter((shard) => shard.device === device).length);
      const table = place(layout, new Float32Array(72));
      expect(countsOf(live)).toEqual(pieces);
      const slot = emulator().createSlot(table, 'accumulators', [12, 6], 1);
      expect(countsOf(live)).toEqual(pieces.map((count) => 2 * count));
      slot.dispose();
      expect(countsOf(live)).toEqual(pieces);
      const snapshot = table.clone();
      expect(countsOf(live)).toEqual(pieces);
      stepSgd(table, [0, 1]);
      expect(countsOf(live)).toEqual(pieces.map((count) => 2 * count));
      snapshot.dispose();
      expect(countsOf(live)).toEqual(pieces);
      table.dispose();
      expect(countsOf(live)).toEqual([0, 0, 0]);
    });
  }

  it('are freed where a table moved away', () => {
    const live = watchBuffers();
    const table = place(wholeOn(0, SIZE), new Float32Array(72));
    emulator().place(table, { layout: wholeOn(2, SIZE) });
    expect(countsOf(live)).toEqual([0, 0, 1]);
    tf.tidy(() => table.assign(tf.ones([12, 6])));
    expect(countsOf(live)).toEqual([0, 0, 0]);
    table.dispose();
  });
});

describeEmulator('rows of tables by their numbers', { chips: 3, coresPerChip: 1 }, () => {
  it('are read and written wherever they lie, and others are left alone', () => {
    const random = new Random(6);
    const values = random.floats(72);
    const table = place(layoutOf('range', SIZE, 3, random), values);
    const expected = values.slice();
    for (const numbers of [[0, 3, 4, 9, 11], [5], [], Array.from({ length: 12 }, (_, row) => row)]) {
      const rows = Int32Array.from(numbers);
      const own = (row: number): number[] => [...expected.subarray(row * 6, (row + 1) * 6)];
      expect([...emulator().placed(table).readRows(rows)]).toEqual(numbers.flatMap(own));
      const written = random.floats(numbers.length * 6);
      emulator().own(table).writeRows(rows, written);
      numbers.forEach((row, i) => expected.set(written.subarray(i * 6, (i + 1) * 6), row * 6));
      expect(table.dataSync<'float32'>()).toEqual(expected);
    }
    table.dispose();
  });
});
