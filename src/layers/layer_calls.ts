/** The types of a call of a layer, as tfjs has them. */
import type * as tf from '@tensorflow/tfjs';

/** What every layer of tfjs takes and gives: tensors of a graph, or concrete ones. */
export type AnyTensors = tf.Tensor | tf.Tensor[] | tf.SymbolicTensor | tf.SymbolicTensor[];

/** Further arguments of a call, such as `training`. */
export type Kwargs = Record<string, unknown>;
