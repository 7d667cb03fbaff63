/**
 * Batch normalization that a model of Keras 2 calls with `training=False`: it normalizes with its moving averages while the
 * model trains, and leaves them as they are; scale and offset train.
 */
import * as tf from '@tensorflow/tfjs';

type Config = Readonly<Record<string, unknown>>;
type ClassOf<T> = { new (args: Config): T; readonly prototype: T };

// A class of tfjs that it does not export; a user may have registered another one under its name.
const StockBatchNormalization = tf.layers.batchNormalization().constructor as ClassOf<tf.layers.Layer>;

export class InferenceBatchNormalization extends StockBatchNormalization {
  static readonly className: string = 'TfjsEmbeddings>InferenceBatchNormalization';

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>): tf.Tensor | tf.Tensor[] {
    return super.call(inputs, { ...kwargs, training: false });
  }
}
