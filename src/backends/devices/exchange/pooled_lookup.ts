/** Pooled lookups of one call: ids go to the devices that hold the rows, pooled rows come back. */
import { firstOutOfRange, IdOutOfRange, type BagOptions } from '../../kernel_set.js';
import type { Quantization } from '../../quantize.js';
import type { StackBatch } from '../../sparse_core.js';
import type { DeviceTable } from '../machine/device_table.js';
import type { Command, CsrBagsAt, ExchangedTableAt, PlainBagsAt, SharedRowsAt, TableAt } from '../device.js';
import { ExchangeLayout, type LazyBags, type KeptIds, Traffic, placeIds, placeShardIds } from './place_ids.js';
import type { Machine } from '../machine/machine.js';
import { addToBags, shardIds } from './row_sharding.js';
import { placeCsr, StackTraffic, SUM_OF_SAMPLE } from './stack_ids.js';

/** One lookup with its ids on the host. */
export interface HostLookup {
  readonly table: DeviceTable;
  readonly bags: LazyBags;
  readonly options: BagOptions;
  /** Ids came to the devices with the input. */
  readonly idsArePlaced: boolean;
  /** Where devices write the pooled rows; null: where they lie in the exchange memory is told then. */
  readonly target: SharedRowsAt | null;
}

/** One lookup of a stack, whose shard s lies on device s. */
export interface DeviceStackLookup {
  readonly table: DeviceTable;
  readonly batch: StackBatch;
  readonly quantization: Quantization | null;
}

/** Pooled rows [batch, columns] of one lookup. */
export interface PooledRows {
  readonly values: Float32Array;
  /** They lie in the exchange memory, and are lost when that is used again. */
  readonly inExchange: boolean;
}

/** null: they lie in the target. */
type Collect = (floats: Float32Array) => PooledRows | null;

const BYTES = 4;

class LookupCall {
  readonly exchange = new ExchangeLayout();
  /** Where the bags of tables lie that are not dealt out by rows; they come first, so that they can be kept. */
  readonly placed: readonly (PlainBagsAt | null)[];
  /** Where they end. */
  readonly endOfBags: number;
  private readonly first: Command[][];
  /** What works on the rows that the first commands gave. */
  private readonly second: Command[][];
  private readonly exchanged: number[];
  private readonly distinct: { device: number; at: number }[] = [];
  /** Ids outside a table where they are an error, in the order of lookups: known when all devices are done. */
  private readonly rangeChecks: ((ints: Int32Array) => IdOutOfRange | null)[] = [];
  /** What is counted once nothing was refused. */
  private readonly counted: (() => void)[] = [];

  constructor(
    private readonly machine: Machine,
    lookups: readonly (HostLookup | DeviceStackLookup)[],
  ) {
    this.first = Array.from({ length: machine.count }, () => []);
    this.second = Array.from({ length: machine.count }, () => []);
    this.placed = lookups.map((lookup) => ('batch' in lookup ? null : this.placeIds(lookup)));
    this.endOfBags = this.exchange.end;
    this.exchanged = new Array<number>(machine.count).fill(0);
  }

  add(lookup: HostLookup | DeviceStackLookup, placed: PlainBagsAt | null): Collect {
    if ('batch' in lookup) return this.byCores(lookup);
    const { table, bags } = lookup;
    this.counted.push(() => this.machine.counters.lookedUp(table.owner, bags.nnz));
    switch (table.layout.kind) {
      case 'columns':
        return this.byColumns(lookup, placed!);
      case 'replicated':
        return this.inCopies(lookup, placed!);
      case 'rows':
        return this.byRows(lookup);
    }
  }

  /** Has devices begin with everything that was added. */
  start(): void {
    const { machine } = this;
    machine.memory.exchange(this.exchanged.map((words) => BYTES * words));
    this.exchange.write(machine.exchange);
    machine.start(this.first);
  }

  /** Waits for devices, and has them do the rest. */
  finish(): void {
    const { machine } = this;
    machine.finish();
    if (this.second.some((list) => list.length > 0)) machine.run(this.second);
    const { ints } = machine.exchange;
    for (const check of this.rangeChecks) {
      const outOfRange = check(ints);
      if (outOfRange !== null) throw outOfRange;
    }
    for (const { device, at } of this.distinct) machine.counters.unique(device, ints[at]!);
    for (const count of this.counted) count();
  }

  private placeIds({ table, bags }: HostLookup): PlainBagsAt | null {
    const { kind, shards } = table.layout;
    if (kind === 'rows') return null;
    // A device copies what it alone needs: none waits for another.
    const only = shards.length === 1 ? this.first[shards[0]!.device] : undefined;
    return placeIds(this.exchange, bags, only);
  }

  /** Where the pooled rows of a lookup go, and how the host gets them. */
  private pooledRows({ target, bags, table }: HostLookup): { rows: SharedRowsAt; collect: Collect } {
    if (target !== null) return { rows: target, collect: () => null };
    const { columns } = table.layout;
    const size = bags.batch * columns;
    // The host may read them where they lie: next to a cache line, see PooledTensors.
    const at = this.exchange.take(size + 1) + 1;
    const collect: Collect = (floats) => ({ values: floats.subarray(at, at + size), inExchange: true });
    return { rows: { at, stride: columns, sharedKey: null }, collect };
  }

  private byColumns(lookup: HostLookup, placed: PlainBagsAt): Collect {
    const { table, bags, options, idsArePlaced } = lookup;
    const { layout } = table;
    const { rows, collect } = this.pooledRows(lookup);
    const traffic = new Traffic(this.machine, table.owner, bags);
    layout.shards.forEach(({ device, columns }, place) => {
      const shard = table.at(place);
      const pooled = { ...rows, at: rows.at + columns[0] };
      this.lookUp(device, { table: shard, bags: placed, ids: bags.nnz, options, pooled });
      this.counted.push(() => {
        if (!idsArePlaced) traffic.idsTo(device);
        traffic.rowsOf(device, shard.dim, 'out');
      });
    });
    return collect;
  }

  /** Each device looks up its part of the batch; nothing is exchanged. */
  private inCopies(lookup: HostLookup, placed: PlainBagsAt): Collect {
    const { table, bags, options } = lookup;
    const { rows, collect } = this.pooledRows(lookup);
    const traffic = new Traffic(this.machine, table.owner, bags);
    table.layout.shards.forEach(({ device }, place) => {
      const { first, bags: count, ids } = traffic.part(device);
      if (count === 0) return;
      const part = { ...placed, firstBag: first, bags: count };
      const pooled = { ...rows, at: rows.at + first * rows.stride };
      this.lookUp(device, { table: table.at(place), bags: part, ids, options, pooled });
    });
    return collect;
  }

  /** Each device sums the rows that it holds; the sums are added in the order of devices. */
  private byRows({ table, bags, options, idsArePlaced }: HostLookup): Collect {
    const { layout } = table;
    const { columns } = layout;
    const outOfRange = firstOutOfRange(bags.values, layout.rows, options);
    this.rangeChecks.push(() => outOfRange);
    const routes = shardIds(layout, bags, options.combiner);
    const sums: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: options.maxNorm };
    const traffic = new Traffic(this.machine, table.owner, bags);
    const places = routes.map((route, place) => {
      if (route.bags.length === 0) return 0;
      const at = this.exchange.take(route.bags.length * columns);
      const { device } = route.shard;
      const placed = placeShardIds(this.exchange, route);
      const pooled = { at, stride: columns, sharedKey: null };
      this.lookUp(device, { table: table.at(place), bags: placed, ids: placed.nnz, options: sums, pooled });
      this.counted.push(() => {
        if (!idsArePlaced) traffic.routeTo(route);
        traffic.rowsOfRoute(route, columns, 'out');
      });
      return at;
    });
    return (floats) => {
      const pooled = new Float32Array(bags.batch * columns);
      routes.forEach((route, place) => addToBags(pooled, columns, route.bags, floats, places[place]!));
      return { values: pooled, inExchange: false };
    };
  }

  /**
   * Each shard gives the rows that the cores ask for, then each core adds up those of its samples, in the order of shards
   * and rows.
   */
  private byCores({ table, batch, quantization }: DeviceStackLookup): Collect {
    const { csr, counts } = batch;
    const dim = table.layout.columns;
    const placed = placeCsr(this.exchange, csr);
    const rows = counts.runs.reduce((sum, each) => sum + each, 0);
    const [gathered, out] = [this.exchange.take(rows * dim), this.exchange.take(csr.cores * csr.samples * dim)];
    const lookUp = (of: TableAt | ExchangedTableAt, bags: CsrBagsAt, at: number): Command => {
      const pooled = { at, stride: dim, sharedKey: null };
      const ofTable = 'buffer' in of ? quantization : null;
      return { op: 'lookUp', table: of, bags, options: SUM_OF_SAMPLE, pooled, distinct: null, quantization: ofTable };
    };
    const firstRows = Array.from({ length: csr.cores }, (): number[] => []);
    let next = 0;
    for (let shard = 0; shard < csr.shards; shard++) {
      this.first[shard]!.push(lookUp(table.at(shard), { csr: placed, rowsOf: shard }, gathered + next * dim));
      firstRows.forEach((ofCore, core) => {
        ofCore.push(next);
        next += counts.runs[core * csr.shards + shard]!;
      });
    }
    firstRows.forEach((ofCore, core) => {
      const bags = { csr: placed, core, firstRows: ofCore };
      this.second[core]!.push(lookUp({ at: gathered, rows, dim }, bags, out + core * csr.samples * dim));
    });
    const traffic = new StackTraffic(this.machine, table, batch);
    traffic.book(this.exchanged);
    this.counted.push(() => traffic.lookedUp());
    return (floats) => ({ values: floats.slice(out, out + csr.cores * csr.samples * dim), inExchange: false });
  }

  private lookUp(device: number, { table, bags, ids, options, pooled }: ShardLookup): void {
    const at = this.exchange.take(1);
    this.distinct.push({ device, at });
    this.rangeChecks.push((ints) => {
      const position = -1 - ints[at]!;
      return position < 0 ? null : new IdOutOfRange(ints[bags.values + position]!, position, table.rows);
    });
    this.first[device]!.push({ op: 'lookUp', table, bags, options, pooled, distinct: at, quantization: null });
    this.counted.push(() => this.machine.counters.read(device, ids, table.dim));
    this.exchanged[device]! += ids * (bags.weights === null ? 1 : 2) + bags.bags * table.dim;
  }
}

/** What one device does for a lookup. */
interface ShardLookup {
  readonly table: TableAt;
  readonly bags: PlainBagsAt;
  /** How many of them this device looks up. */
  readonly ids: number;
  readonly options: BagOptions;
  readonly pooled: SharedRowsAt;
}

/** What a lookup gave. */
export interface Found {
  /** null: they lie in the target of the lookup. */
  readonly pooled: PooledRows | null;
  /** Its bags, which stay in the exchange memory; null for a table that is dealt out by rows. */
  readonly kept: KeptIds | null;
}

/** Starts lookups, on all devices at the same time. Returns what waits for them and gives what they found. */
export function startLookups(machine: Machine, lookups: readonly (HostLookup | DeviceStackLookup)[]): () => Found[] {
  const call = new LookupCall(machine, lookups);
  const collects = lookups.map((lookup, place) => call.add(lookup, call.placed[place]!));
  call.start();
  return () => {
    call.finish();
    const { floats } = machine.exchange;
    return collects.map((collect, place) => {
      const at = call.placed[place]!;
      return { pooled: collect(floats), kept: at === null ? null : { at, end: call.endOfBags } };
    });
  };
}

/** Returns the pooled rows [batch, columns] of each lookup; all devices work at the same time. */
export function lookUpAll(machine: Machine, lookups: readonly (HostLookup | DeviceStackLookup)[]): Found[] {
  return startLookups(machine, lookups)();
}
