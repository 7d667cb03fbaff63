/** A table on the devices: its buffers, and how its rows are read and written in the global layout. */
import type { LayoutShard, TableLayout } from '../../../partition/table_layout.js';
import { rowBlocks } from '../../../base/row_blocks.js';
import type { Fill } from '../../fill.js';
import type { BufferName, Command, TableAt } from '../device.js';
import type { MemoryKind } from './traffic_stats.js';
import type { Machine } from './machine.js';

const BYTES = 4;
/** Words that one round of reading or writing moves. */
const ROUND_WORDS = 2 ** 20;

/** `passing`: for a call, unknown to others. */
type TableUse = 'kept' | 'passing';

export type TableForm = Pick<DeviceTable, 'name' | 'shape' | 'layout' | 'role' | 'owner'>;

export class DeviceTable {
  private buffers: number[] = [];
  /** Tensors that share the data. */
  refCount = 1;

  private constructor(
    private readonly machine: Machine,
    readonly name: string,
    readonly shape: readonly number[],
    readonly layout: TableLayout,
    readonly role: 'tables' | 'slots',
    /** The table that it is, or of which it is a slot: the same for all copies of it. */
    readonly owner: object,
  ) {}

  /** Takes memory on the devices. Throws ValueError, and takes nothing, where it does not fit. */
  static make(machine: Machine, form: TableForm, fill: Fill | DeviceTable, use: TableUse = 'kept'): DeviceTable {
    const { name, shape, layout, role, owner } = form;
    const table = new DeviceTable(machine, name, shape, layout, role, owner);
    machine.tables.add(table);
    try {
      table.allocate(fill, use);
    } catch (error) {
      table.free();
      throw error;
    }
    return table;
  }

  private allocate(fill: Fill | DeviceTable, use: TableUse): void {
    const { machine, name, layout } = this;
    const wishes = layout.shards.filter((shard) => this.kindOf(shard) !== 'host');
    machine.memory.check(
      name,
      wishes.map((shard) => ({ device: shard.device, bytes: bytesOf(shard) })),
    );
    layout.shards.forEach((shard, place) => {
      const buffer = machine.nextBuffer();
      const { device, rows, columns } = shard;
      const part = {
        firstRow: rows.first,
        rowStep: rows.step,
        rows: rows.count,
        firstColumn: columns[0],
        columns: widthOf(shard),
      };
      const command: Command =
        fill instanceof DeviceTable
          ? { op: 'copy', buffer, from: fill.buffers[place]! }
          : { op: 'allocate', buffer, part, fill, ...this.known(shard, use) };
      machine.post(device, [command]);
      this.buffers.push(buffer);
      machine.memory.take(device, this.kindOf(shard), bytesOf(shard));
    });
  }

  /** The table's name, and which rows and columns of it a shard has: another cut has other names. */
  private known(shard: LayoutShard, use: TableUse): { readonly known?: BufferName } {
    if (use === 'passing') return {};
    const { name: table, role, layout } = this;
    const name = partName(table, shard);
    const slotOf = role === 'slots' ? table.slice(0, table.lastIndexOf('/')) : null;
    return { known: { name, table, slotOf, columns: layout.columns, isCopy: layout.kind === 'replicated' } };
  }

  get form(): TableForm {
    const { name, shape, layout, role, owner } = this;
    return { name, shape, layout, role, owner };
  }

  /**
   * The same data under another name: they stay where they are, as others may know their place, and who held them before
   * has a copy.
   */
  takenOver(): DeviceTable {
    const taken = DeviceTable.make(this.machine, this, this);
    [taken.buffers, this.buffers] = [this.buffers, taken.buffers];
    return taken;
  }

  /** Frees the memory. */
  free(): void {
    if (!this.machine.tables.delete(this)) return;
    this.buffers.forEach((buffer, place) => {
      const shard = this.layout.shards[place]!;
      this.machine.release(shard.device, buffer);
      this.machine.memory.give(shard.device, this.kindOf(shard), bytesOf(shard));
    });
    this.buffers = [];
  }

  /** A shard as kernels see it. */
  at(place: number): TableAt {
    const shard = this.layout.shards[place]!;
    return { buffer: this.buffers[place]!, rows: shard.rows.count, dim: widthOf(shard) };
  }

  buffer(place: number): number {
    return this.buffers[place]!;
  }

  /** Rows from `firstRow` on in the global layout, row-major. */
  read(firstRow: number, rows: number): Float32Array {
    const { columns } = this.layout;
    const target = new Float32Array(rows * columns);
    this.rounds(firstRow, rows, (from, count) => {
      const { exchange } = this.machine;
      exchange.reserve(count * columns);
      // One of several copies is enough.
      const places = this.layout.kind === 'replicated' ? [0] : this.layout.shards.keys();
      for (const place of places) this.move('read', place, from, count);
      this.machine.finish();
      target.set(exchange.floats.subarray(0, count * columns), (from - firstRow) * columns);
    });
    return target;
  }

  /** Writes rows from `firstRow` on, row-major in the global layout. */
  write(firstRow: number, values: Float32Array): void {
    const { columns } = this.layout;
    this.rounds(firstRow, values.length / columns, (from, count) => {
      const { exchange } = this.machine;
      exchange.reserve(count * columns);
      const start = (from - firstRow) * columns;
      exchange.floats.set(values.subarray(start, start + count * columns), 0);
      for (const place of this.layout.shards.keys()) this.move('write', place, from, count);
      this.machine.finish();
    });
  }

  /** Rows by their ascending numbers, of a table that lies in ranges of rows. */
  readRows(rows: Int32Array): Float32Array {
    const values = new Float32Array(rows.length * this.layout.columns);
    this.moveRows('read', rows, values);
    return values;
  }

  writeRows(rows: Int32Array, values: Float32Array): void {
    this.moveRows('write', rows, values);
  }

  /** Takes the values of a table with another layout, without ever holding all of it on the host. */
  copyRows(from: DeviceTable): void {
    for (const { firstRow, rows } of rowBlocks(from.layout)) this.write(firstRow, from.read(firstRow, rows));
  }

  private rounds(firstRow: number, rows: number, round: (from: number, count: number) => void): void {
    const most = Math.max(1, Math.floor(ROUND_WORDS / this.layout.columns));
    for (let done = 0; done < rows; done += most) round(firstRow + done, Math.min(most, rows - done));
  }

  /** Moves the part of global rows [from, from + count) that a shard holds; the exchange memory holds whole rows. */
  private move(op: 'read' | 'write', place: number, from: number, count: number): void {
    const { device, rows, columns } = this.layout.shards[place]!;
    const { first, step } = rows;
    const start = Math.max(0, Math.ceil((from - first) / step));
    const end = Math.min(rows.count, Math.ceil((from + count - first) / step));
    if (end <= start) return;
    const width = this.layout.columns;
    const where = { at: (first + step * start - from) * width + columns[0], stride: step * width };
    this.machine.post(device, [{ op, table: this.at(place), firstRow: start, rows: end - start, where }]);
  }

  /** Moves rows by their ascending numbers, which lie in the exchange memory behind the values. */
  private moveRows(op: 'read' | 'write', rows: Int32Array, values: Float32Array): void {
    const { columns, shards } = this.layout;
    const { exchange } = this.machine;
    exchange.reserve(values.length + rows.length);
    const { ints, floats } = exchange;
    if (op === 'write') floats.set(values, 0);
    let end = 0;
    shards.forEach(({ device, rows: { first, count } }, place) => {
      const start = end;
      for (; end < rows.length && rows[end]! < first + count; end++) ints[values.length + end] = rows[end]! - first;
      const where = { at: start * columns, stride: columns };
      const form = { table: this.at(place), ids: values.length + start, rows: end - start, where };
      this.machine.post(device, [{ op, ...form }]);
    });
    this.machine.finish();
    if (op === 'read') values.set(floats.subarray(0, values.length));
  }

  private kindOf({ inHost }: LayoutShard): MemoryKind {
    return inHost && this.machine.form.hasHostMemory ? 'host' : this.role;
  }
}

/** What others know the part of a table by. */
export function partName(table: string, { rows, columns }: LayoutShard): string {
  return `${table}/rows${rows.first}+${rows.step}x${rows.count}/columns${columns.join('-')}`;
}

export function widthOf({ columns }: LayoutShard): number {
  return columns[1] - columns[0];
}

function bytesOf(shard: LayoutShard): number {
  return BYTES * shard.rows.count * widthOf(shard);
}
