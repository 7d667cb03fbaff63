/** What mends tfjs itself, for those who want it everywhere. */
import { mendWasmOneHot } from './graph_models/wasm_one_hot.js';
import { mendWasmStridedSlice } from './graph_models/wasm_strided_slice.js';
import { mendClasses } from './models/own_models.js';
import { mendWasmCasts } from './engine/wasm_casts.js';
import { mendWasmPadding } from './engine/wasm_padding.js';

/**
 * Mends in all models of TensorFlow.js, from now on, what this package otherwise mends in models with its layers alone: masks
 * go with their tensors, into models within models too; the results of recurrent layers and their states are tensors of
 * their own, and masked steps before the first that counts give zeros; configs of layers hold all that these are made of;
 * stock embeddings name padding ids in their errors. And on the backend `wasm`, where it is there already, one-hot
 * vectors and slices with steps keep their dtype, casts to truth values are false for 0 alone, and windows
 * shorter than their steps lie where they belong. Returns nothing. May be called again, as after `tf.setBackend('wasm')`.
 *
 * Without this call, methods of models without a layer or an `emb.input` of this package are those of TensorFlow.js.
 * Source: Keras 2, whose results these are.
 *
 * @example
 * emb.mendTfjs();
 */
export function mendTfjs(): void {
  mendClasses();
  mendWasmOneHot();
  mendWasmStridedSlice();
  mendWasmCasts(true);
  mendWasmPadding(true);
}
