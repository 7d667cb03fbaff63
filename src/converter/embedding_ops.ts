/** Ops of embeddings: ours, NVIDIA's, and those of TPUs. */
import type * as tf from '@tensorflow/tfjs';
import { graphOp, type GraphOp } from './graph_op.js';

const copy = (tensor: tf.Tensor): tf.Tensor => tensor.clone();

export const EMBEDDING_OPS: readonly GraphOp[] = [
  graphOp(
    'TPUEmbeddingActivations(embedding_variable: float32, sliced_activations: float32) -> output: float32',
    ([, activations]) => copy(activations!),
  ),
];
