/** On `wasm` padded windows that are shorter than their steps may begin before the tensor: the library behind it pads by a negative number. */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { isOwnRun } from './own_runs.js';
import { replaceStockKernel } from './stock_kernel.js';

interface Attributes {
  readonly strides: number | [number, number];
  readonly dilations?: number | [number, number] | null;
  readonly pad: unknown;
  readonly dimRoundingMode?: 'floor' | 'round' | 'ceil';
}

const KERNELS = ['Conv2D', 'FusedConv2D', 'DepthwiseConv2dNative', 'FusedDepthwiseConv2D'];

const state = (): { isEverywhere: boolean } => perProcess('padding on wasm', () => ({ isEverywhere: false }));

/** The padding side by side, where the whole would be negative along an axis; null: nothing is to be mended. */
function paddingOf(
  x: tf.TensorInfo,
  filter: tf.TensorInfo,
  attrs: Attributes,
  isDepthwise: boolean,
): number[][] | null {
  const { strides, dilations, dimRoundingMode } = attrs;
  const shapes = [x.shape, filter.shape] as [[number, number, number, number], [number, number, number, number]];
  const { padInfo, ...info } = tf.backend_util.computeConv2DInfo(
    ...shapes,
    strides,
    dilations ?? 1,
    'same',
    dimRoundingMode,
    isDepthwise,
  );
  const isShort =
    (info.outHeight - 1) * info.strideHeight + info.effectiveFilterHeight < info.inHeight ||
    (info.outWidth - 1) * info.strideWidth + info.effectiveFilterWidth < info.inWidth;
  const { top, bottom, left, right } = padInfo;
  return isShort ? [[0, 0], [top, bottom], [left, right], [0, 0]] : null; // prettier-ignore
}

/**
 * Has such convolutions told how many zeros stand on each side, where something of this package runs, and from then on
 * everywhere if that is wanted. May be called again: the backend may come later.
 */
export function mendWasmPadding(isEverywhere = false): void {
  if (isEverywhere) state().isEverywhere = true;
  for (const name of KERNELS) {
    replaceStockKernel(name, 'wasm', 'padding', (stock) => (params) => {
      const attrs = params.attrs as unknown as Attributes;
      if (attrs.pad !== 'same' || !(state().isEverywhere || isOwnRun())) return stock(params);
      const { x, filter } = params.inputs as { x: tf.TensorInfo; filter: tf.TensorInfo };
      const pad = paddingOf(x, filter, attrs, name.includes('Depthwise'));
      return stock(pad === null ? params : { ...params, attrs: { ...params.attrs, pad } });
    });
  }
}
