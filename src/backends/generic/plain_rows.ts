/** Lookups of rows of any codec from stock ops: the rows of a batch are gathered as words and unpacked on the host. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError } from '../../base/errors.js';
import { codecOf } from '../../codecs/codecs.js';
import type { RowAttributes } from '../bag_tensors.js';
import { checkIds, type BagAttributes } from './host_ids.js';

type Attributes = BagAttributes & RowAttributes;

interface RowInputs {
  readonly table: tf.Tensor2D;
  readonly values: tf.Tensor1D;
}

/** Refuses to step a table whose numbers are not those of its tensor: stock ops cannot write other words. */
export function checkSteps({ storage }: RowAttributes): void {
  if (codecOf(storage).isPlain) return;
  const expected = `cpu, wasm or tensorflow for training a table of storage '${storage}'`;
  throw new RuntimeError('backend', expected, tf.getBackend());
}

/**
 * Runs `kernel` on a table of float32: the table itself where its numbers are those of its tensor, else one of the rows
 * of the batch, with their places in it as ids; those outside the table stay outside.
 */
export function onPlainRows<Inputs extends RowInputs, Result extends tf.Tensor>(
  inputs: Inputs,
  attributes: Attributes,
  kernel: (inputs: Inputs, attributes: BagAttributes) => Result,
): Result {
  const { storage, dim } = attributes;
  const codec = codecOf(storage);
  if (codec.isPlain) return kernel(inputs, attributes);
  const { table, values } = inputs;
  const rows = table.shape[0];
  checkIds(values, rows, attributes);
  return tf.tidy(() => {
    const ids = values.dataSync<'int32'>();
    const places = ids.map((id, i) => (id >= 0 && id < rows ? i : -1));
    const safe = tf.tensor1d(
      ids.map((id, i) => (places[i]! < 0 ? 0 : id)),
      'int32',
    );
    const words = rows === 0 ? new Int32Array(0) : tf.gather(table, safe).dataSync<'int32'>();
    const columns = rows === 0 ? new Float32Array(ids.length * dim!) : codec.unpack(words, dim!);
    const plain = { table: tf.tensor2d(columns, [ids.length, dim!]), values: tf.tensor1d(places, 'int32') };
    return kernel({ ...inputs, ...plain }, { ...attributes, outOfRange: 'zero' });
  });
}
