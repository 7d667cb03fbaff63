/** Steps of one optimizer call: gradients go to the devices that hold the rows, and each row is stepped where it lies. */
import type { UpdateName } from '../../../rules/rules.js';
import { SINGLE_ROW, type BagOptions } from '../../kernel_set.js';
import type { DeviceTable } from '../machine/device_table.js';
import type { StackBatch } from '../../sparse_core.js';
import type { Command, EntryAt, PlainBagsAt } from '../device.js';
import { ExchangeLayout, type LazyBags, Traffic, layoutBehind, placeIds, placeShardIds } from './place_ids.js';
import type { Machine } from '../machine/machine.js';
import { copyOfBags, shardIds } from './row_sharding.js';
import { placeCsr, StackTraffic, SUM_OF_SAMPLE } from './stack_ids.js';
import type { TensorValues } from '../host/shared_tensors.js';

/** The gradient of one lookup on the host. */
export interface HostGradient {
  readonly gradient: TensorValues<Float32Array>; // [batch, columns]
  readonly bags: LazyBags;
  readonly options: BagOptions;
  /** Bags are single rows, each of which occurs once. */
  readonly ofRows: boolean;
}

/** The gradient of what was looked up in a stack, whose shard s lies on device s. */
export interface StackGradient {
  readonly table: DeviceTable;
  readonly batch: StackBatch;
  /** That of all samples, core after core: [cores x samples, columns]. */
  readonly gradient: Float32Array;
}

interface Step {
  readonly optimizer: UpdateName;
  readonly table: DeviceTable;
  readonly slots: readonly DeviceTable[];
  readonly hyper: readonly number[];
}

/** A `TableUpdate` whose table lies on devices. */
export interface DeviceTableUpdate extends Step {
  readonly entries: readonly HostGradient[];
}

export interface DeviceStackUpdate extends Step, StackGradient {
  /** All samples in the order in which each occurrence of an id is a step of its own; null: a row is stepped once. */
  readonly order: Int32Array | null;
}

const BYTES = 4;

/** A table of which each device has a copy: what each one found in its part of the batch. */
interface CopiedGradient {
  readonly update: DeviceTableUpdate;
  /** Of each device: where in the exchange memory, and for how many rows there is room. */
  readonly places: readonly { readonly at: number; readonly room: number }[];
}

class UpdateCall {
  private readonly exchange: ExchangeLayout;
  private readonly copied: CopiedGradient[] = [];
  private readonly first: Command[][];
  private readonly second: Command[][];
  private readonly exchanged: number[];
  /** What is counted once nothing can be refused any more. */
  private readonly counted: (() => void)[] = [];

  constructor(
    private readonly machine: Machine,
    private readonly updates: readonly (DeviceTableUpdate | DeviceStackUpdate)[],
  ) {
    this.exchange = layoutBehind(
      updates.flatMap((update) => ('batch' in update ? [] : update.entries.map(({ bags }) => bags))),
    );
    this.first = Array.from({ length: machine.count }, () => []);
    this.second = Array.from({ length: machine.count }, () => []);
    this.exchanged = new Array<number>(machine.count).fill(0);
  }

  private add(update: DeviceTableUpdate | DeviceStackUpdate): void {
    if ('batch' in update) return this.byCores(update);
    switch (update.table.layout.kind) {
      case 'columns':
        return this.byColumns(update);
      case 'replicated':
        return this.inCopies(update);
      case 'rows':
        return this.byRows(update);
    }
  }

  run(handOver: () => () => void): void {
    const { machine } = this;
    for (const update of this.updates) this.add(update);
    this.bookExchange();
    this.exchange.write(machine.exchange);
    if (this.copied.length > 0) {
      machine.run(this.first);
      for (const copied of this.copied) this.stepCopies(copied);
      this.bookExchange();
    }
    for (const count of this.counted) count();
    machine.step(this.second, handOver());
  }

  /** Each device gets its columns of the gradients. */
  private byColumns(update: DeviceTableUpdate): void {
    const { table, entries } = update;
    const { columns: width, shards } = table.layout;
    const placed = entries.map(({ bags, gradient }) => ({
      bags: placeIds(this.exchange, bags),
      rows: this.exchange.rowsOf(gradient, width),
      traffic: new Traffic(this.machine, table.owner, bags),
    }));
    shards.forEach(({ device, columns }, place) => {
      const ofShard = entries.map(({ options, ofRows }, i): EntryAt => {
        const { bags, rows } = placed[i]!;
        return { gradient: { ...rows, at: rows.at + columns[0] }, bags, options, ofRows };
      });
      this.second[device]!.push(this.stepOf(update, place, ofShard));
      for (const { bags, traffic } of placed) {
        this.counted.push(() => traffic.rowsOf(device, columns[1] - columns[0], 'in'));
        this.book(device, bags, bags.nnz, columns[1] - columns[0]);
      }
    });
  }

  /** Each device gets the gradients of the bags that have an id there. */
  private byRows(update: DeviceTableUpdate): void {
    const { table, entries } = update;
    const { layout } = table;
    const ofShards = layout.shards.map((): EntryAt[] => []);
    for (const { bags, gradient, options, ofRows } of entries) {
      const traffic = new Traffic(this.machine, table.owner, bags);
      const sums: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: options.maxNorm };
      const values = gradient.get();
      shardIds(layout, bags, options.combiner).forEach((route, place) => {
        const { columns } = layout;
        const placed = placeShardIds(this.exchange, route);
        const at = this.exchange.filled(route.bags.length * columns, (floats, start) => {
          copyOfBags(values, columns, route.bags, floats, start);
        });
        ofShards[place]!.push({
          gradient: { at, stride: columns, sharedKey: null },
          bags: placed,
          options: sums,
          ofRows,
        });
        this.counted.push(() => traffic.rowsOfRoute(route, columns, 'in'));
        this.book(route.shard.device, placed, placed.nnz, columns);
      });
    }
    layout.shards.forEach(({ device }, place) => {
      this.second[device]!.push(this.stepOf(update, place, ofShards[place]!));
    });
  }

  /** Each device gets the gradients of all samples of a stack. */
  private byCores(update: DeviceStackUpdate): void {
    const order = update.order === null ? null : this.exchange.ints(update.order);
    stackEntries(this.exchange, update).forEach((entry, shard) => {
      this.second[shard]!.push(this.stepOf(update, shard, [entry], order));
    });
    const traffic = new StackTraffic(this.machine, update.table, update.batch);
    traffic.book(this.exchanged);
    this.counted.push(() => traffic.gradients());
  }

  /** Each device finds the gradients of its part of the batch; all of them then go to all devices. */
  private inCopies(update: DeviceTableUpdate): void {
    const { table, entries } = update;
    const { columns, rows, shards } = table.layout;
    const placed = entries.map(({ bags, gradient }) => ({
      bags: placeIds(this.exchange, bags),
      rows: this.exchange.rowsOf(gradient, columns),
      traffic: new Traffic(this.machine, table.owner, bags),
    }));
    const places = shards.map(({ device }, place) => {
      let room = 0;
      const ofDevice = entries.map(({ options, ofRows }, i): EntryAt => {
        const { bags, rows: all, traffic } = placed[i]!;
        const { first, bags: count, ids } = traffic.part(device);
        const part = { ...bags, firstBag: first, bags: count };
        room += Math.min(rows, ids);
        this.book(device, part, ids, columns);
        const gradient = { ...all, at: all.at + first * all.stride };
        return { gradient, bags: part, options, ofRows };
      });
      const out = this.exchange.take(1 + room * (1 + columns));
      this.first[device]!.push({ op: 'rowGradients', table: table.at(place), entries: ofDevice, room, out });
      return { at: out, room };
    });
    this.copied.push({ update, places });
  }

  /** The same step in the same order on each device, so that copies stay equal to the bit. */
  private stepCopies({ update, places }: CopiedGradient): void {
    const { ints } = this.machine.exchange;
    const { table } = update;
    const { columns, shards } = table.layout;
    const counts = places.map(({ at }) => ints[at]!);
    const entries = places.map(({ at, room }, place): EntryAt => {
      const count = counts[place]!;
      const single = { rowSplits: null, length: 1, weights: null, firstBag: 0 };
      const bags = { ...single, values: at + 1, nnz: count, batch: count, bags: count };
      return {
        gradient: { at: at + 1 + room, stride: columns, sharedKey: null },
        bags,
        options: SINGLE_ROW,
        ofRows: true,
      };
    });
    shards.forEach(({ device }, place) => {
      this.second[device]!.push(this.stepOf(update, place, entries));
      counts.forEach((count, from) => {
        const words = count * (1 + columns);
        const source = shards[from]!.device;
        this.counted.push(() => this.machine.counters.send(table.owner, source, device, BYTES * words, count));
        this.exchanged[device]! += words;
      });
    });
  }

  private stepOf(
    { optimizer, table, slots, hyper }: Step,
    place: number,
    entries: readonly EntryAt[],
    order: number | null = null,
  ): Command {
    const slotBuffers = slots.map((slot) => slot.buffer(place));
    return { op: 'step', optimizer, table: table.at(place), slots: slotBuffers, entries, hyper, order };
  }

  private book(device: number, { weights, bags }: PlainBagsAt, ids: number, width: number): void {
    this.exchanged[device]! += ids * (weights === null ? 1 : 2) + bags * width;
  }

  private bookExchange(): void {
    this.machine.memory.exchange(this.exchanged.map((words) => BYTES * words));
  }
}

/**
 * Steps all tables; all devices work at the same time, and this does not wait. `handOver` returns what releases
 * the gradients that devices read.
 */
export function updateAll(
  machine: Machine,
  updates: readonly (DeviceTableUpdate | DeviceStackUpdate)[],
  handOver: () => () => void,
): void {
  new UpdateCall(machine, updates).run(handOver);
}

/** What the gradient of a stack adds to that of each shard. */
function stackEntries(exchange: ExchangeLayout, { table, batch, gradient }: StackGradient): EntryAt[] {
  const { columns, shards } = table.layout;
  const csr = placeCsr(exchange, batch.csr);
  const rows = { at: exchange.floats(gradient), stride: columns, sharedKey: null };
  return shards.map((_, samplesOn): EntryAt => {
    return { gradient: rows, bags: { csr, samplesOn }, options: SUM_OF_SAMPLE, ofRows: false };
  });
}

/** Rows of a stack by their numbers in it, ascending, and something of each. */
export interface StackRows {
  readonly rows: Int32Array;
  readonly values: Float32Array;
}

/** The gradient of each row that was looked up in a stack. */
export function stackRowGradients(machine: Machine, given: StackGradient): StackRows {
  const { table, batch } = given;
  const { columns, shards } = table.layout;
  const traffic = new StackTraffic(machine, table, batch);
  const words = new Array<number>(machine.count).fill(0);
  traffic.book(words);
  machine.memory.exchange(words.map((each) => BYTES * each));
  const exchange = new ExchangeLayout();
  const { runs } = batch.counts;
  const found = stackEntries(exchange, given).map((entry, shard) => {
    const room = runs.reduce((sum, each, bucket) => sum + (bucket % shards.length === shard ? each : 0), 0);
    const out = exchange.take(1 + room * (1 + columns));
    const command: Command = { op: 'rowGradients', table: table.at(shard), entries: [entry], room, out };
    return { out, room, command };
  });
  exchange.write(machine.exchange);
  machine.run(found.map(({ command }) => [command]));
  traffic.gradients();
  const { ints, floats } = machine.exchange;
  const total = found.reduce((sum, { out }) => sum + ints[out]!, 0);
  const [rows, values] = [new Int32Array(total), new Float32Array(total * columns)];
  let next = 0;
  found.forEach(({ out, room }, shard) => {
    const [count, from] = [ints[out]!, out + 1 + room];
    values.set(floats.subarray(from, from + count * columns), next * columns);
    const { first } = shards[shard]!.rows;
    for (let i = 0; i < count; i++) rows[next++] = first + ints[out + 1 + i]!;
  });
  return { rows, values };
}
