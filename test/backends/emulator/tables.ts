/** Tables in all the ways in which they can lie on devices. */
import * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../../../src/backends/bag_tensors.js';
import type { HostBags, HostTable } from '../../../src/backends/kernel_set.js';
import type { Lookup } from '../../../src/backends/contract.js';
import { wholeOn, type LayoutShard, type TableLayout, type TableSize } from '../../../src/partition/table_layout.js';
import type { Random } from '../../helpers/random.js';
import { emulator } from './describe_emulator.js';

export const LAYOUT_NAMES = ['whole', 'columns', 'range', 'modulo', 'replicated'] as const;
export type LayoutName = (typeof LAYOUT_NAMES)[number];

const shard = (device: number, part: Partial<LayoutShard>, size: TableSize): LayoutShard => ({
  device,
  rows: { first: 0, step: 1, count: size.rows },
  columns: [0, size.columns],
  inHost: false,
  ...part,
});

/** Cuts 0 .. length into at most `parts` pieces that are not empty. */
function cuts(random: Random, length: number, parts: number): [number, number][] {
  const wanted = Math.min(length, parts);
  const inner = new Set<number>();
  while (inner.size < wanted - 1) inner.add(random.whole(1, length));
  const ends = [0, ...[...inner].sort((a, b) => a - b), length];
  return ends.slice(1).map((end, i) => [ends[i]!, end]);
}

/** A layout of a kind; where its pieces begin is drawn. */
export function layoutOf(name: LayoutName, size: TableSize, devices: number, random: Random): TableLayout {
  const all = Array.from({ length: devices }, (_, device) => device);
  switch (name) {
    case 'whole':
      return wholeOn(random.whole(0, devices), size);
    case 'columns': {
      // Devices in an order of their own: a plan may put the last columns on the first device.
      const order = all.sort(() => random.next() - 0.5);
      const shards = cuts(random, size.columns, devices).map((columns, i) => shard(order[i]!, { columns }, size));
      return { kind: 'columns', ...size, shards };
    }
    case 'range': {
      const shards = cuts(random, size.rows, devices).map(([first, end], i) =>
        shard(i, { rows: { first, step: 1, count: end - first } }, size),
      );
      return { kind: 'rows', ...size, shards };
    }
    case 'modulo': {
      const shards = all.slice(0, size.rows).map((first) => {
        const count = Math.ceil((size.rows - first) / devices);
        return shard(first, { rows: { first, step: devices, count } }, size);
      });
      return { kind: 'rows', ...size, shards };
    }
    case 'replicated':
      return { kind: 'replicated', ...size, shards: all.map((device) => shard(device, {}, size)) };
  }
}

/** Whether results must be those of one device to the bit. */
export function isExact({ kind }: TableLayout): boolean {
  return kind !== 'rows';
}

/** A variable on the devices. */
export function place(layout: TableLayout, values: Float32Array, name = 'table'): tf.Variable {
  const tensor = emulator().create({ name, layout, fill: { kind: 'constant', value: 0 } });
  const variable = tf.variable(tensor) as unknown as tf.Variable;
  tensor.dispose();
  emulator().writeRows(variable, 0, values);
  return variable;
}

export function placeTable(
  name: LayoutName,
  { data, rows, dim }: HostTable<Float32Array>,
  random: Random,
): tf.Variable {
  return place(layoutOf(name, { rows, columns: dim }, emulator().count, random), data, name);
}

/** Call inside a tidy. */
export function bagTensors({ values, rowSplits, weights }: HostBags): BagTensors {
  return {
    values: tf.tensor1d(values, 'int32'),
    rowSplits: tf.tensor1d(rowSplits, 'int32'),
    weights: weights === null ? null : tf.tensor1d(weights, 'float32'),
  };
}

/** The pooled rows of lookups, made together. Call inside a tidy. */
export function lookUpPooled(lookups: readonly Lookup[]): tf.Tensor2D[] {
  return emulator()
    .lookUp(lookups)
    .map(({ pooled }) => pooled);
}

/** Ids that the host computed: TensorFlow has them, and shares them. Call inside a tidy. */
export function idsOfOp(ids: readonly number[] | Int32Array): tf.Tensor1D {
  return tf.tensor1d(ids as number[], 'int32').mul(tf.scalar(1, 'int32'));
}

/** The numbers of a variable or tensor. */
export function numbersOf(tensor: tf.Tensor | tf.Variable): number[] {
  return Array.from(tensor.dataSync());
}
