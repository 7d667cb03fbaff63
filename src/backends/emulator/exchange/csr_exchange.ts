/** Lookups and steps on SparseCores: the CSR of stacks goes to the devices, which work on it. */
import type { UpdateName } from '../../../rules/rules.js';
import type { Quantization } from '../../quantize.js';
import type { CsrCounts, HostCsr } from '../../sparse_core.js';
import type { Command, CsrAt } from '../devices/device.js';
import type { DeviceTable } from '../machine/device_table.js';
import type { Machine } from '../machine/machine.js';
import { ExchangeLayout } from './place_ids.js';

const BYTES = 4;
/** Words of an id in the CSR: sample, row, gain. */
const ID_WORDS = 3;

/** A stack whose shard s lies on device s, and the ids of a batch, counted. */
export interface CsrStack {
  readonly table: DeviceTable;
  readonly csr: HostCsr;
  readonly counts: CsrCounts;
}

/** How full the buffers for ids are. */
export interface CsrBuffers {
  readonly droppedIds: number;
  readonly slots: number;
  readonly minibatches: number;
}

export interface CsrLookup extends CsrStack {
  readonly buffers: CsrBuffers;
  readonly quantization: Quantization | null;
}

export interface CsrUpdate extends CsrStack {
  /** That of all samples, core after core: [cores x samples, dim]. */
  readonly gradient: Float32Array;
}

export interface CsrStep extends CsrUpdate {
  readonly optimizer: UpdateName;
  readonly slots: readonly DeviceTable[];
  readonly hyper: readonly number[];
  /** false: each occurrence of an id is a step of its own, in the order of the batch: feature after feature. */
  readonly accumulate: boolean;
  /** Where the samples of each feature begin among those of a core, ascending. */
  readonly featureStarts: readonly number[];
}

/** Rows of a stack by their numbers in it, ascending, and something of each. */
export interface StackRows {
  readonly rows: Int32Array;
  readonly values: Float32Array;
}

function placeCsr(exchange: ExchangeLayout, csr: HostCsr): CsrAt {
  const { cores, shards, samples } = csr;
  return {
    rowPointers: exchange.ints(csr.rowPointers),
    sampleIds: exchange.ints(csr.sampleIds),
    tokenIds: exchange.ints(csr.tokenIds),
    gains: exchange.floats(csr.gains),
    ids: csr.tokenIds.length,
    cores,
    shards,
    samples,
  };
}

function lists(machine: Machine): Command[][] {
  return Array.from({ length: machine.count }, () => []);
}

/** Calls `visit` for each bucket. */
function eachBucket(
  { csr, counts }: CsrStack,
  visit: (core: number, shard: number, ids: number, runs: number) => void,
): void {
  for (let core = 0; core < csr.cores; core++) {
    for (let shard = 0; shard < csr.shards; shard++) {
      const place = core * csr.shards + shard;
      visit(core, shard, counts.ids[place]!, counts.runs[place]!);
    }
  }
}

/** Books what a call exchanges with each device: ids of its own samples, rows that come and go, rows of its samples. */
function book(machine: Machine, stacks: readonly CsrStack[]): void {
  const words = new Array<number>(machine.count).fill(0);
  for (const stack of stacks) {
    const dim = stack.table.layout.columns;
    for (let core = 0; core < stack.csr.cores; core++) words[core]! += stack.csr.samples * dim;
    eachBucket(stack, (core, shard, ids, runs) => {
      words[core]! += ids * ID_WORDS + runs * dim;
      if (shard !== core) words[shard]! += runs * (1 + dim);
    });
  }
  machine.memory.exchange(words.map((each) => BYTES * each));
}

/**
 * Returns the activations of each stack [cores x samples, dim], core after core: each shard reads the rows that the cores
 * ask for, then each core adds up those of its samples, in the order of shards and rows.
 */
export function lookUpCsr(machine: Machine, lookups: readonly CsrLookup[]): Float32Array[] {
  book(machine, lookups);
  const exchange = new ExchangeLayout();
  const [first, second] = [lists(machine), lists(machine)];
  const results = lookups.map((lookup) => {
    const { table, csr, counts, quantization } = lookup;
    const dim = table.layout.columns;
    const at = placeCsr(exchange, csr);
    const size = csr.samples * dim;
    const out = exchange.take(csr.cores * size);
    const to = Array.from({ length: csr.shards }, (): number[] => []);
    for (let core = 0; core < csr.cores; core++) {
      const runs = counts.runs.subarray(core * csr.shards, (core + 1) * csr.shards);
      const count = runs.reduce((sum, each) => sum + each, 0);
      const rows = exchange.take(count * dim);
      let next = rows;
      runs.forEach((each, shard) => {
        to[shard]!.push(next);
        next += each * dim;
      });
      second[core]!.push({ op: 'csrCombine', csr: at, core, rows, count, dim, out: out + core * size });
    }
    to.forEach((places, shard) => {
      first[shard]!.push({ op: 'csrGather', table: table.at(shard), csr: at, shard, to: places, quantization });
    });
    return { at: out, size: csr.cores * size };
  });
  exchange.write(machine.exchange);
  machine.run(first);
  machine.run(second);
  for (const lookup of lookups) countLookup(machine, lookup);
  return results.map(({ at, size }) => machine.exchange.floats.slice(at, at + size));
}

function countLookup({ counters }: Machine, lookup: CsrLookup): void {
  const { table } = lookup;
  const dim = table.layout.columns;
  let all = 0;
  eachBucket(lookup, (core, shard, ids, runs) => {
    counters.read(shard, ids, dim);
    counters.unique(shard, runs);
    counters.send(table.owner, core, shard, BYTES * runs, runs);
    counters.send(table.owner, shard, core, BYTES * runs * dim);
    all += ids;
  });
  counters.lookedUp(table.owner, all);
  const { csr, counts, buffers } = lookup;
  counters.stacks.lookedUp({
    name: table.name,
    columns: dim,
    samples: csr.cores * csr.samples,
    ids: counts.ids,
    rows: counts.runs,
    slotsUsed: csr.tokenIds.length,
    ...buffers,
  });
}

/** Steps each stack by the gradients of its activations. */
export function stepCsr(machine: Machine, steps: readonly CsrStep[]): void {
  book(machine, steps);
  const exchange = new ExchangeLayout();
  const commands = lists(machine);
  for (const step of steps) {
    const { table, csr, optimizer, slots, hyper, accumulate } = step;
    const order = accumulate ? null : step.featureStarts;
    const at = placeCsr(exchange, csr);
    const gradient = exchange.floats(step.gradient);
    for (let shard = 0; shard < csr.shards; shard++) {
      const buffers = slots.map((slot) => slot.buffer(shard));
      const form = { optimizer, table: table.at(shard), slots: buffers, hyper, order };
      commands[shard]!.push({ op: 'csrStep', ...form, csr: at, shard, gradient });
    }
  }
  exchange.write(machine.exchange);
  machine.run(commands);
  for (const step of steps) countUpdate(machine, step);
}

/** Each core sends the gradients of the rows that it looked up. */
function countUpdate({ counters }: Machine, update: CsrUpdate): void {
  const { owner, layout } = update.table;
  eachBucket(update, (core, shard, _ids, runs) => {
    counters.send(owner, core, shard, BYTES * runs * (1 + layout.columns));
  });
}

/** The gradient of each row that was looked up. */
export function rowGradients(machine: Machine, update: CsrUpdate): StackRows {
  const { table, csr } = update;
  const dim = table.layout.columns;
  book(machine, [update]);
  const exchange = new ExchangeLayout();
  const commands = lists(machine);
  const at = placeCsr(exchange, csr);
  const gradient = exchange.floats(update.gradient);
  const rooms = new Int32Array(csr.shards);
  eachBucket(update, (_core, shard, _ids, runs) => (rooms[shard]! += runs));
  const places = Array.from(rooms, (room, shard) => {
    const out = exchange.take(1 + room * (1 + dim));
    commands[shard]!.push({ op: 'csrRowGradients', table: table.at(shard), csr: at, shard, gradient, room, out });
    return { out, room };
  });
  exchange.write(machine.exchange);
  machine.run(commands);
  countUpdate(machine, update);
  const { ints, floats } = machine.exchange;
  const counts = places.map(({ out }) => ints[out]!);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const rows = new Int32Array(total);
  const values = new Float32Array(total * dim);
  let next = 0;
  places.forEach(({ out, room }, shard) => {
    const first = table.layout.shards[shard]!.rows.first;
    const from = out + 1 + room;
    values.set(floats.subarray(from, from + counts[shard]! * dim), next * dim);
    for (let i = 0; i < counts[shard]!; i++) rows[next++] = first + ints[out + 1 + i]!;
  });
  return { rows, values };
}

/** Moves rows of a table that lies as stacks do, by their ascending numbers, between the host and the devices. */
function moveRows(machine: Machine, op: 'readRows' | 'writeRows', table: DeviceTable, rows: Int32Array): RowsMove {
  const { layout } = table;
  const exchange = new ExchangeLayout();
  const commands = lists(machine);
  const local = rows.slice();
  const ids = exchange.ints(local);
  const at = exchange.take(rows.length * layout.columns);
  let next = 0;
  layout.shards.forEach(({ device, rows: { first, count } }, place) => {
    const start = next;
    while (next < rows.length && rows[next]! < first + count) local[next++]! -= first;
    const where = { ids: ids + start, count: next - start, at: at + start * layout.columns };
    commands[device]!.push({ op, table: table.at(place), ...where });
  });
  exchange.write(machine.exchange);
  const size = rows.length * layout.columns;
  return { values: () => machine.exchange.floats.subarray(at, at + size), run: () => machine.run(commands) };
}

interface RowsMove {
  values(): Float32Array;
  run(): void;
}

/** The rows of a table, by their ascending numbers. */
export function readStackRows(machine: Machine, table: DeviceTable, rows: Int32Array): Float32Array {
  const move = moveRows(machine, 'readRows', table, rows);
  move.run();
  return move.values().slice();
}

/** Writes rows of a table, by their ascending numbers. */
export function writeStackRows(machine: Machine, table: DeviceTable, { rows, values }: StackRows): void {
  const move = moveRows(machine, 'writeRows', table, rows);
  move.values().set(values);
  move.run();
}
