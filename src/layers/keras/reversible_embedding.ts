/** The layer `ReversibleEmbedding`: rows of ids, and of vectors how well each row goes with them. */
import * as tf from '@tensorflow/tfjs';
import { embeddingLookup } from '../../lookup/embedding_lookup.js';
import { weightFields, type Fields, type LayerKind } from './keras_layer.js';

const sizeOf = (fields: Fields, field: string): number => fields[field] as number;

/** Whole numbers are ids; what Keras is told by an argument of the call, the dtype tells here. */
export const REVERSIBLE_EMBEDDING: LayerKind = {
  className: 'ReversibleEmbedding',
  fields: {
    inputDim: 1,
    outputDim: 1,
    tieWeights: true,
    logitSoftCap: null,
    ...weightFields('embeddings', 'randomUniform'),
  },
  weights: (_shape, fields) => {
    const [rows, width] = [sizeOf(fields, 'inputDim'), sizeOf(fields, 'outputDim')];
    const own = { embeddings: [rows, width] };
    return fields['tieWeights'] === false ? { ...own, reverse: [width, rows] } : own;
  },
  shape: (shape, fields, dtype) =>
    dtype === 'int32' ? [...shape, sizeOf(fields, 'outputDim')] : [...shape.slice(0, -1), sizeOf(fields, 'inputDim')],
  compute: (x, { fields, weight }) => {
    const rows = weight('embeddings')!;
    // Gathers have no gradient on `wasm` (tfjs 4.22).
    if (x.dtype === 'int32') return embeddingLookup(rows as tf.Tensor2D, x) as tf.Tensor;
    const kernel = weight('reverse') ?? rows.transpose();
    const logits = tf.matMul(x.reshape<tf.Tensor2D>([-1, x.shape.at(-1)!]), kernel as tf.Tensor2D);
    const cap = fields['logitSoftCap'] as number | null;
    const capped = cap === null ? logits : tf.tanh(logits.div(cap)).mul(cap);
    return capped.reshape([...x.shape.slice(0, -1), sizeOf(fields, 'inputDim')]);
  },
  passesMask: false,
  fixed: {
    mask_zero: [false],
    reverse_dtype: [null],
    lora_rank: [null],
    quantization_config: [null],
    input_length: [null],
  },
};
