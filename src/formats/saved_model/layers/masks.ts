/** Masks that layers pass on: where a step of a sequence counts. */
import type { Value } from '../graph/value.js';
import { ConcatOneHotEmbedding } from '../../../layers/embedding/concat_one_hot_embedding.js';
import { TableLayer } from '../../../layers/embedding/table_layer.js';
import { Concatenate } from '../../../layers/merge/concatenate.js';
import { WithMask } from '../../../layers/merge/with_mask.js';
import { GlobalAveragePooling1D } from '../../../layers/pooling/global_average_pooling1d.js';
import { GRU } from '../../../layers/recurrent/gru.js';
import { embeddingMask } from './embeddings.js';
import type { LayerCall } from './layer_call.js';

const MERGED = new Set(['Add', 'Multiply', 'Maximum', 'Minimum', 'Average']);
const RECURRENT = new Set(['RNN', 'SimpleRNN', 'GRU', GRU.className, 'LSTM', 'ConvLSTM2D', 'Bidirectional']);

/** The mask of a layer's first result; `masks`: of its inputs. */
export function maskOf(call: LayerCall, masks: readonly (Value | null)[]): Value | null {
  const { layer, o, input, config } = call;
  const name = layer.getClassName();
  if (layer instanceof ConcatOneHotEmbedding) return null;
  if (layer instanceof TableLayer) return embeddingMask(call);
  if (!layer.supportsMasking || layer instanceof GlobalAveragePooling1D) return null;
  if (layer instanceof WithMask) {
    if (layer.mask === 'own') return masks[0] ?? null;
    return layer.mask === 'given' ? o.cast(call.inputs[1]!, 'bool') : null;
  }
  if (name === 'Embedding') {
    return config['maskZero'] === true ? o.compare('NotEqual', o.cast(input, 'int32'), 0) : null;
  }
  if (name === 'Masking') {
    return o.reduce('Any', o.compare('NotEqual', input, config['maskValue'] as number), [-1]);
  }
  const [first = null] = masks;
  if (RECURRENT.has(name)) return returnsSequences(call) ? first : null;
  if (name === 'Dot') return null;
  if (name === 'Concatenate') return concatenated(call, masks, 'All');
  if (name === Concatenate.className) return concatenated(call, masks, 'Any');
  if (!MERGED.has(name)) return first;
  return present(masks).reduce<Value | null>((both, mask) => (both === null ? mask : o.and(both, mask)), null);
}

function present(masks: readonly (Value | null)[]): Value[] {
  return masks.filter((mask): mask is Value => mask !== null);
}

/** A step counts where all its numbers do, or any of them; inputs without a mask count whole. */
function concatenated(
  { o, inputs, config }: LayerCall,
  masks: readonly (Value | null)[],
  which: 'All' | 'Any',
): Value | null {
  if (present(masks).length === 0) return null;
  const whole = inputs.map((input, i) => {
    const ones = o.compare('Equal', o.fill(o.sizesOf(input), 0, input.shape), 0);
    let own = masks[i] ?? null;
    if (own === null) return ones;
    while (own.shape.length < input.shape.length) own = o.expandDims(own, -1);
    return o.and(own, ones);
  });
  return o.reduce(which, o.concat(whole, config['axis'] as number), [-1]);
}

function returnsSequences({ layer }: LayerCall): boolean {
  return (layer as unknown as { returnSequences: boolean }).returnSequences;
}
