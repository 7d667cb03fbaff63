/** An op that a graph may hold, and what runs it. */
import type * as tf from '@tensorflow/tfjs';
import { parseSignature, type Signature } from './signature.js';

export interface GraphOp {
  readonly signature: Signature;
  /** Gets the tensors of the signature's inputs, without those that only order nodes. */
  readonly run: (inputs: tf.Tensor[], node: tf.GraphNode) => tf.Tensor[];
}

/** An op that works on tensors, handles or the state of a model. */
export function graphOp(
  signature: string,
  run: (inputs: tf.Tensor[], node: tf.GraphNode) => tf.Tensor | tf.Tensor[],
): GraphOp {
  return {
    signature: parseSignature(signature),
    run: (inputs, node) => {
      const results = run(inputs, node);
      return Array.isArray(results) ? results : [results];
    },
  };
}
