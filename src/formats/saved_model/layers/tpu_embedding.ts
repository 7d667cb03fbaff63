/** The layer as stock ops of TensorFlow: what it predicts, for ids that are padded with negative ones. */
import { sizeOf, type Value } from '../graph/value.js';
import type { Emitter, LayerCall } from './layer_call.js';
import { lookUpTable } from './lookup.js';
import type { FeatureConfig } from '../../../tpu/config/feature_config.js';
import { isSequence } from '../../../tpu/embedding/output_shapes.js';
import { TPUEmbeddingLayer } from '../../../tpu/layer/tpu_embedding_layer.js';

/** The first `length` ids of each row, with -1 behind the end of shorter rows. */
function cutTo(call: LayerCall, ids: Value, length: number): Value {
  const { o } = call;
  const width = ids.shape[1]!;
  if (width === length) return ids;
  const shape = [ids.shape[0]!, length];
  const absent = o.cast(o.fill([o.sizeAt(ids, 0), length], -1, shape), 'int32');
  const long = width !== null && width > length ? ids : o.concat([ids, absent], 1);
  return { ...o.slice(long, [0, 0], [null, length]), shape };
}

/** How many ids of a row stand for themselves; null: they are combined. */
function placesOf(feature: FeatureConfig, { shape }: Value, call: LayerCall): number | null {
  if (isSequence(feature) && shape.length === 2) return feature.maxSequenceLength;
  const { outputShape } = feature;
  if (outputShape === null || shape.length !== 2) return null;
  // As in the layer, sizes that the config leaves open are those of the ids.
  const [batch, ...others] = outputShape.map((size, axis) => size ?? (axis < 2 ? shape[axis]! : 1));
  const perRow = sizeOf(others);
  const rows = shape[0]!;
  const isOfBatch = outputShape[0] === null && perRow !== null;
  if (!isOfBatch && (rows === null || perRow === null)) {
    throw call.refuse(`whose outputShape [${outputShape.join(', ')}] does not fit batches of any size`);
  }
  const places = isOfBatch ? perRow : (batch! * perRow!) / rows!;
  return places > 1 ? places : null;
}

function lookUpFeature(call: LayerCall, layer: TPUEmbeddingLayer, place: number): Value {
  const { o, context } = call;
  const { feature, table } = layer.features[place]!;
  const given = o.cast(call.inputs[place]!, 'int32');
  const ids = given.shape.length === 1 ? o.expandDims(given, -1) : given;
  const places = placesOf(feature, ids, call);
  const { combiner, quantizationConfig: quantization, dim } = feature.table;
  const how = { kind: 'ragged', maskZero: false, maxNorm: null, outOfRange: 'error' } as const;
  const lookup = {
    feature: { ...how, combiner: places === null ? combiner : null },
    table: context.variableOf(table),
    ids: places === null ? ids : cutTo(call, ids, places),
    weights: null,
    quantization,
  };
  const rows = lookUpTable(o, lookup, context.customOps);
  const { outputShape } = feature;
  if (outputShape === null || outputShape.length === rows.shape.length - 1) return rows;
  if (outputShape.filter((size) => size === null).length > 1) throw call.refuse('whose outputShape has open sizes');
  return o.reshape(rows, [...outputShape, dim], [...outputShape, dim]);
}

export const TPU_LAYERS: Record<string, Emitter> = {
  [TPUEmbeddingLayer.className]: (call) => {
    const layer = call.layer as TPUEmbeddingLayer;
    return layer.features.map((_, place) => lookUpFeature(call, layer, place));
  },
};
