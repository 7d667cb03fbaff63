/**
 * The gradient of a lookup with respect to its weights, from tables on the devices. Counted on the links is what goes
 * back; the gradients of pooled rows come with the step that follows, which counts them.
 */
import type { BagOptions } from '../../kernel_set.js';
import type { DeviceTable } from '../machine/device_table.js';
import { ExchangeLayout, type LazyBags, Traffic, layoutBehind, placeIds, placeShardIds } from './place_ids.js';
import type { Machine } from '../machine/machine.js';
import { copyOfBags, shardIds } from './row_sharding.js';

const BYTES = 4;

interface Request {
  readonly table: DeviceTable;
  readonly gradient: Float32Array; // [batch, columns]
  readonly bags: LazyBags; // with weights
  readonly options: BagOptions;
}

/** Books what a device gets, ids with their weights and gradients of bags, and the number per id that it gives. */
function book(machine: Machine, parts: readonly { device: number; ids: number; elements: number }[]): void {
  const bytes = new Array<number>(machine.count).fill(0);
  for (const { device, ids, elements } of parts) bytes[device]! += BYTES * (3 * ids + elements);
  machine.memory.exchange(bytes);
}

/** It is linear in what each column gives, so devices with different columns add up. */
function byColumns(machine: Machine, { table, gradient, bags, options }: Request): Float32Array {
  const exchange = layoutBehind([bags]);
  const { columns: width, shards } = table.layout;
  const placed = placeIds(exchange, bags);
  const at = exchange.floats(gradient);
  const ids = bags.nnz;
  const outs = shards.map(() => exchange.take(ids));
  book(
    machine,
    shards.map(({ device, columns }) => ({ device, ids, elements: bags.batch * (columns[1] - columns[0]) })),
  );
  exchange.write(machine.exchange);
  shards.forEach(({ device, columns }, place) => {
    const rows = { at: at + columns[0], stride: width, sharedKey: null };
    const out = outs[place]!;
    machine.post(device, [
      { op: 'weightsGradient', table: table.at(place), bags: placed, options, gradient: rows, out },
    ]);
  });
  machine.finish();
  const traffic = new Traffic(machine, table.owner, bags);
  for (const { device } of shards) traffic.numbersFrom(device);
  const result = new Float32Array(bags.nnz);
  for (const out of outs) {
    const part = machine.exchange.floats.subarray(out, out + result.length);
    for (let i = 0; i < result.length; i++) result[i]! += part[i]!;
  }
  return result;
}

function inCopies(machine: Machine, { table, gradient, bags, options }: Request): Float32Array {
  const exchange = layoutBehind([bags]);
  const { columns, shards } = table.layout;
  const placed = placeIds(exchange, bags);
  const at = exchange.floats(gradient);
  const out = exchange.take(bags.nnz);
  const traffic = new Traffic(machine, table.owner, bags);
  const parts = shards.map(({ device }) => ({ device, ...traffic.part(device) }));
  book(
    machine,
    parts.map(({ device, bags: count, ids }) => ({ device, ids, elements: count * columns })),
  );
  exchange.write(machine.exchange);
  parts.forEach(({ device, first, bags: count }, place) => {
    if (count === 0) return;
    const part = { ...placed, firstBag: first, bags: count };
    const rows = { at: at + first * columns, stride: columns, sharedKey: null };
    const start = out + bags.rowSplits[first]!;
    machine.post(device, [
      { op: 'weightsGradient', table: table.at(place), bags: part, options, gradient: rows, out: start },
    ]);
  });
  machine.finish();
  return machine.exchange.floats.slice(out, out + bags.nnz);
}

/** Devices give the product of each row with its gradient; what couples the ids of a bag is done here. */
function byRows(machine: Machine, { table, gradient, bags, options }: Request): Float32Array {
  const exchange = new ExchangeLayout();
  const { layout } = table;
  const { columns } = layout;
  const plain = bags.withWeights(new Float32Array(bags.nnz).fill(1));
  const routes = shardIds(layout, plain, 'sum');
  const sums: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: options.maxNorm };
  const outs = routes.map((route, place) => {
    const placed = placeShardIds(exchange, route);
    const at = exchange.filled(route.bags.length * columns, (floats, start) => {
      copyOfBags(gradient, columns, route.bags, floats, start);
    });
    const out = exchange.take(route.values.length);
    const rows = { at, stride: columns, sharedKey: null };
    return { out, command: { table: table.at(place), bags: placed, options: sums, gradient: rows, out } };
  });
  book(
    machine,
    routes.map(({ shard, values, bags: reached }) => {
      return { device: shard.device, ids: values.length, elements: reached.length * columns };
    }),
  );
  exchange.write(machine.exchange);
  routes.forEach(({ shard }, place) => {
    machine.post(shard.device, [{ op: 'weightsGradient', ...outs[place]!.command }]);
  });
  machine.finish();
  const traffic = new Traffic(machine, table.owner, bags);
  for (const route of routes) traffic.numbersOfRoute(route);
  const products = new Float64Array(bags.nnz);
  const { floats } = machine.exchange;
  routes.forEach(({ positions }, place) => {
    const { out } = outs[place]!;
    positions.forEach((position, i) => (products[position] = floats[out + i]!));
  });
  return combined(products, bags, options);
}

/** From the product of each row with the gradient of its bag to the derivative by each weight. */
function combined(products: Float64Array, bags: LazyBags, { combiner }: BagOptions): Float32Array {
  const { rowSplits, batch } = bags;
  const weights = bags.weights!;
  const result = new Float32Array(products.length);
  for (let bag = 0; bag < batch; bag++) {
    const [start, end] = [rowSplits[bag]!, rowSplits[bag + 1]!];
    let [sum, squares, weighted] = [0, 0, 0];
    for (let i = start; i < end; i++) {
      sum += weights[i]!;
      squares += weights[i]! ** 2;
      weighted += weights[i]! * products[i]!;
    }
    for (let i = start; i < end; i++) {
      const product = products[i]!;
      if (combiner === 'sum') result[i] = product;
      else if (combiner === 'mean') result[i] = sum === 0 ? 0 : (product - weighted / sum) / sum;
      else if (squares !== 0) result[i] = (product - (weights[i]! * weighted) / squares) / Math.sqrt(squares);
    }
  }
  return result;
}

/** One float per id. */
export function weightsGradient(machine: Machine, request: Request): Float32Array {
  switch (request.table.layout.kind) {
    case 'columns':
      return byColumns(machine, request);
    case 'replicated':
      return inCopies(machine, request);
    case 'rows':
      return byRows(machine, request);
  }
}
