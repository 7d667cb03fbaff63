/** The ids of a model's inputs: dense tensors in which negative ids stand for nothing. */
import * as tf from '@tensorflow/tfjs';
import { outOfRangeError } from '../../ids/id_out_of_range.js';
import { densePlace } from '../../ids/id_place.js';
import { isTypedArray } from '../../ids/values.js';
import { parseIds, type IdsInput } from '../../ids/parse_ids.js';
import { hostIds, kindOf, readFeatureIds } from './feature_ids.js';
import { copyIds, type HostIds } from './host_ids.js';
import { raggedRowsOf } from '../../tfjs/stand_ins.js';

/** A table, as far as ids are looked up in it. */
export interface IdRange {
  readonly rows: number;
  /** In words, for errors. */
  readonly owner: string;
}

/** The ids of a dense tensor without what is negative: the last axis is that of the ids of a sample. */
function withoutPadding(tensor: tf.Tensor, { rows, owner }: IdRange, path: string): HostIds {
  const all = hostIds(parseIds(tensor as IdsInput, null, { ids: path, weights: 'weights' }));
  const shape = tensor.rank > 1 ? tensor.shape : [...tensor.shape, 1];
  const width = shape.at(-1)!;
  const samples = shape.slice(0, -1).reduce((product, size) => product * size, 1);
  const [values, columns] = [new Int32Array(all.length), new Int32Array(all.length)];
  const rowSplits = new Int32Array(samples + 1);
  let [position, count] = [0, 0];
  for (let sample = 0; sample < samples; sample++) {
    for (let column = 0; column < width; column++, position++) {
      const id = all[position]!;
      if (id < 0) continue;
      if (id >= rows) {
        const found = { id, rows, position, place: densePlace(tensor.shape, position), owner };
        const expected = `ids in [0, ${rows}), or negative ones, which stand for nothing`;
        throw outOfRangeError({ ...found, argument: path, expected, note: undefined, batchRow: null });
      }
      values[count] = id;
      columns[count++] = column;
    }
    rowSplits[sample + 1] = count;
  }
  const kept = { values: values.subarray(0, count), columns: columns.subarray(0, count) };
  return { kind: 'sparse', shape, rowSplits, weights: null, ...kept };
}

/** The same for arrays too, of which the ids of a model's input may be made. */
export function paddedIds(ids: unknown, range: IdRange, path: string): HostIds {
  const isDense = !(ids instanceof tf.Tensor) && kindOf(ids) === 'dense' && typeof ids !== 'number';
  if (!isDense) return inputIds(ids, range, path);
  const tensor = tf.tensor(ids as tf.TensorLike, undefined, isTypedArray(ids) ? undefined : 'int32');
  try {
    return inputIds(tensor, range, path);
  } finally {
    tensor.dispose();
  }
}

/** The ids of one input. Throws ValueError, which names it, for ids beyond the table. */
export function inputIds(ids: unknown, range: IdRange, path: string): HostIds {
  const rows = raggedRowsOf(ids);
  if (rows === null && ids instanceof tf.Tensor) return withoutPadding(ids, range, path);
  return copyIds(readFeatureIds(rows ?? ids, null, path, 'weights'), range.rows, path, range.owner);
}
