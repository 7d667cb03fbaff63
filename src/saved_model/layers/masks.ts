/** Masks that layers pass on: where a step of a sequence counts. */
import type { Value } from '../graph/value.js';
import { ConcatOneHotEmbedding } from '../../layers/embedding/concat_one_hot_embedding.js';
import { TableLayer } from '../../layers/embedding/table_layer.js';
import { GRU } from '../../layers/recurrent/gru.js';
import { embeddingMask } from './embeddings.js';
import { UNKNOWN_MASK, type LayerCall } from './layer_call.js';

/** Layers whose result has other axes of time than their input, or none. */
const MERGED = new Set(['Add', 'Multiply', 'Maximum', 'Minimum', 'Average', 'Concatenate']);
const RECURRENT = new Set(['RNN', 'SimpleRNN', 'GRU', GRU.className, 'LSTM', 'ConvLSTM2D', 'Bidirectional']);

/** The mask of a layer's first result; `masks`: of its inputs. */
export function maskOf(call: LayerCall, masks: readonly (Value | null)[]): Value | null {
  const { layer, o, input, config } = call;
  const name = layer.getClassName();
  if (layer instanceof ConcatOneHotEmbedding) return null;
  if (layer instanceof TableLayer) return embeddingMask(call);
  if (!layer.supportsMasking) return null;
  if (name === 'Embedding') {
    return config['maskZero'] === true ? o.compare('NotEqual', o.cast(input, 'int32'), 0) : null;
  }
  if (name === 'Masking') {
    return o.reduce('Any', o.compare('NotEqual', input, config['maskValue'] as number), [-1]);
  }
  const [first = null] = masks;
  if (RECURRENT.has(name)) return returnsSequences(call) ? first : null;
  if (name === 'Dot') return null;
  return MERGED.has(name) && masks.some((mask) => mask !== null) ? UNKNOWN_MASK : first;
}

function returnsSequences({ layer }: LayerCall): boolean {
  return (layer as unknown as { returnSequences: boolean }).returnSequences;
}
