/** Right calls of the ops that servers need for their tables, most of them; double inputs, which tfjs lacks, aside. */
import * as tf from '@tensorflow/tfjs';
import type { OpAttribute } from '../../../src/backends/tensorflow/node_backend.js';
import type { Random } from '../../../test/helpers/random.js';
import type { HostileTensors } from './tensors.js';

const ROWS: readonly (readonly [outputs: number, name: string])[] = [
  [1, 'EmbeddingReadRows'],
  [2, 'EmbeddingChangedRows'],
  [1, 'EmbeddingChecksum'],
  [1, 'EmbeddingSharesMemory'],
];

export const SERVER_TABLE_NAMES: readonly string[] = ROWS.map(([, name]) => name);

export interface ServerTableCall {
  readonly name: string;
  readonly inputs: tf.Tensor[];
  readonly attributes: OpAttribute[];
  readonly outputs: number;
  readonly written: number;
}

/** `other`: a matrix of any shape. */
export function serverTableCall(
  name: string,
  random: Random,
  tensors: HostileTensors,
  [table, other]: readonly [tf.Tensor, tf.Tensor],
): ServerTableCall {
  const [rows, width] = table.shape as [number, number];
  const row = (): tf.Tensor =>
    tf.scalar(random.chance(0.9) ? random.whole(0, rows + 1) : random.pick([-1, -(2 ** 31), 2 ** 31 - 1]), 'int32');
  const second = random.pick([table, other, rows * width === 0 ? other : tensors.floats(rows, width)]);
  const outputs = ROWS.find(([, each]) => each === name)![0];
  const part = (): tf.Tensor => tf.stack([row(), row(), row()].slice(0, random.chance(0.9) ? 3 : 2));
  const inputs =
    name === 'EmbeddingReadRows' ? [table, row(), row()] : [table, name === 'EmbeddingChecksum' ? part() : second];
  return { name, inputs, attributes: [], outputs, written: 0 };
}
