/** Steps of one optimizer call: gradients go to the devices that hold the rows, and each row is stepped where it lies. */
import type { UpdateName } from '../../../rules/rules.js';
import { SINGLE_ROW, type BagOptions } from '../../kernel_set.js';
import type { DeviceTable } from '../machine/device_table.js';
import type { BagsAt, Command, EntryAt } from '../devices/device.js';
import { type ExchangeLayout, type LazyBags, Traffic, layoutBehind, placeIds, placeShardIds } from './place_ids.js';
import type { Machine } from '../machine/machine.js';
import { copyOfBags, shardIds } from './row_sharding.js';
import type { TensorValues } from '../host/shared_tensors.js';

/** The gradient of one lookup on the host. */
export interface HostGradient {
  readonly gradient: TensorValues<Float32Array>; // [batch, columns]
  readonly bags: LazyBags;
  readonly options: BagOptions;
  /** Bags are single rows, each of which occurs once. */
  readonly ofRows: boolean;
}

/** A `TableUpdate` whose table lies on devices. */
export interface DeviceTableUpdate {
  readonly optimizer: UpdateName;
  readonly table: DeviceTable;
  readonly slots: readonly DeviceTable[];
  readonly entries: readonly HostGradient[];
  readonly hyper: readonly number[];
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
    private readonly updates: readonly DeviceTableUpdate[],
  ) {
    this.exchange = layoutBehind(updates.flatMap(({ entries }) => entries.map(({ bags }) => bags)));
    this.first = Array.from({ length: machine.count }, () => []);
    this.second = Array.from({ length: machine.count }, () => []);
    this.exchanged = new Array<number>(machine.count).fill(0);
  }

  private add(update: DeviceTableUpdate): void {
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
    const entries = places.map(({ at, room }): EntryAt => {
      const count = ints[at]!;
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
      entries.forEach(({ bags }, from) => {
        const words = bags.nnz * (1 + columns);
        const source = shards[from]!.device;
        this.counted.push(() => this.machine.counters.send(table.owner, source, device, BYTES * words, bags.nnz));
        this.exchanged[device]! += words;
      });
    });
  }

  private stepOf(
    { optimizer, table, slots, hyper }: DeviceTableUpdate,
    place: number,
    entries: readonly EntryAt[],
  ): Command {
    const slotBuffers = slots.map((slot) => slot.buffer(place));
    return { op: 'step', optimizer, table: table.at(place), slots: slotBuffers, entries, hyper };
  }

  private book(device: number, { weights, bags }: BagsAt, ids: number, width: number): void {
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
export function updateAll(machine: Machine, updates: readonly DeviceTableUpdate[], handOver: () => () => void): void {
  new UpdateCall(machine, updates).run(handOver);
}
