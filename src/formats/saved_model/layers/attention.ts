/** Layers of attention, and those that come with them: means of what counts, vectors of length 1. */
import { AdditiveAttention, Attention } from '../../../layers/attention/attention.js';
import { FAR_BELOW } from '../../../layers/attention/masked_softmax.js';
import { MultiHeadAttention } from '../../../layers/attention/multi_head_attention.js';
import { WithMask } from '../../../layers/merge/with_mask.js';
import { axesOf } from '../../../layers/operations/operand.js';
import { GlobalAveragePooling1D } from '../../../layers/pooling/global_average_pooling1d.js';
import { UnitNormalization } from '../../../layers/unit_normalization.js';
import type { Value } from '../graph/value.js';
import type { Emitter, LayerCall } from './layer_call.js';

type Operations = LayerCall['o'];

/** bool [T, S] of scores [..., T, S]: how far the place of a key is behind that of the query, compared with a number. */
function byPlace(o: Operations, scores: Value, compare: (behind: Value) => Value): Value {
  const [queries, keys] = [o.places(scores, -2), o.places(scores, -1)];
  return compare(o.sub(o.expandDims(queries, 1), o.expandDims(keys, 0)));
}

function isCausal(o: Operations, scores: Value): Value {
  return byPlace(o, scores, (behind) => o.compare('GreaterEqual', behind, 0));
}

function joined(o: Operations, masks: readonly (Value | null)[]): Value | null {
  const given = masks.filter((mask): mask is Value => mask !== null);
  return given.reduce<Value | null>((all, mask) => (all === null ? mask : o.and(all, mask)), null);
}

function softmax(o: Operations, x: Value): Value {
  return o.unary('Softmax', x, 'softmax');
}

/** x [..., n axes] times a kernel [n axes, ...more], plus the bias. */
function project(call: LayerCall, x: Value, name: string, n: number): Value {
  const { o } = call;
  const kernel = call.weight(`${name}_kernel`);
  const size = (shape: Value['shape']): number => shape.reduce<number>((all, each) => all * each!, 1);
  const [given, made] = [kernel.shape.slice(0, n), kernel.shape.slice(n)];
  const rows = o.reshape(x, [null, size(given)]);
  const product = o.matMul(rows, o.reshape(kernel, [size(given), size(made)]));
  const bias = call.optional(`${name}_bias`);
  const biased = bias === null ? product : o.add(product, o.reshape(bias, [size(made)]));
  const lead = x.shape.length - n;
  return o.reshape(biased, [...o.sizesOf(x, 0, lead), ...(made as number[])], [...x.shape.slice(0, lead), ...made]);
}

const multiHeadAttention: Emitter = (call) => {
  const { o, inputs, masks } = call;
  const layer = call.layer as MultiHeadAttention;
  const [query, value, key = value, given] = inputs as [Value, Value, Value?, Value?];
  const isPlain = query.shape.length === 3 && (given === undefined || given.shape.length <= 4);
  if (!isPlain) throw call.refuse('whose attention goes over several axes');
  const heads = (x: Value, name: string): Value => o.transpose(project(call, x, name, 1), [0, 2, 1, 3]);
  const scaled = o.mul(heads(query, 'query'), 1 / Math.sqrt(layer.keyDim));
  const scores = o.batchMatMul(scaled, heads(key, 'key'), false, true);
  const [ofQuery = null, ofValue = null, ofKey = null] = masks;
  const spread = (mask: Value | null, axis: number): Value | null => {
    return mask === null ? null : o.expandDims(o.expandDims(mask, axis), 1);
  };
  const wide = given === undefined ? null : o.cast(given, 'bool');
  const { slidingWindow } = layer;
  const mask = joined(o, [
    spread(ofQuery, 2),
    spread(ofValue, 1),
    inputs.length > 2 ? spread(ofKey, 1) : null,
    wide?.shape.length === 3 ? o.expandDims(wide, 1) : wide,
    layer.useCausalMask ? isCausal(o, scores) : null,
    slidingWindow === null
      ? null
      : byPlace(o, scores, (behind) => o.compare('Less', o.unary('Abs', behind), slidingWindow)),
  ]);
  const isFused = layer.dropout === 0 && !layer.returnAttentionScores;
  let weights = softmax(o, mask === null ? scores : o.where(mask, scores, o.graph.scalar(FAR_BELOW)));
  if (mask !== null && (layer.zeroesMasked ?? !isFused)) weights = o.where(mask, weights, o.graph.scalar(0));
  const back = o.transpose(o.batchMatMul(weights, heads(value, 'value')), [0, 2, 1, 3]);
  const gated = layer.useGate ? o.mul(back, o.unary('Sigmoid', project(call, query, 'gate', 1))) : back;
  const output = project(call, gated, 'output', 2);
  return layer.returnAttentionScores ? [output, weights] : output;
};

/** Of one head, with these scores [batch, T, S]. */
const oneHead =
  (score: (call: LayerCall, query: Value, key: Value) => Value): Emitter =>
  (call) => {
    const { o, inputs, masks } = call;
    const { useCausalMask, returnAttentionScores } = call.layer as Attention;
    const [query, value, key = value] = inputs as [Value, Value, Value?];
    const scores = score(call, query, key);
    const [ofQuery = null, ofValue = null] = masks;
    const seen = joined(o, [
      ofValue === null ? null : o.expandDims(ofValue, 1),
      useCausalMask ? isCausal(o, scores) : null,
    ]);
    const weights = softmax(o, seen === null ? scores : o.where(seen, scores, o.add(scores, FAR_BELOW)));
    const pooled = o.batchMatMul(weights, value);
    const output = ofQuery === null ? pooled : o.where(o.expandDims(ofQuery, 2), pooled, o.graph.scalar(0));
    return returnAttentionScores ? [output, weights] : output;
  };

/** [batch, T, S, dim]: each query plus each key, through tanh. */
function sums(o: Operations, query: Value, key: Value): Value {
  return o.unary('Tanh', o.add(o.expandDims(query, 2), o.expandDims(key, 1)));
}

function attentionScores(call: LayerCall, query: Value, key: Value): Value {
  const { o } = call;
  const scale = call.optional('scale');
  const weight = call.optional('concat_score_weight');
  if (weight === null) {
    const products = o.batchMatMul(query, key, false, true);
    return scale === null ? products : o.mul(products, scale);
  }
  const all = scale === null ? sums(o, query, key) : sums(o, o.mul(query, scale), o.mul(key, scale));
  return o.mul(o.reduce('Sum', all, [-1]), weight);
}

function additiveScores(call: LayerCall, query: Value, key: Value): Value {
  const { o } = call;
  const scale = call.optional('scale');
  const all = sums(o, query, key);
  return o.reduce('Sum', scale === null ? all : o.mul(all, scale), [-1]);
}

const globalAverage: Emitter = ({ o, input, mask, layer }) => {
  const { dataFormat, keepdims } = layer as GlobalAveragePooling1D;
  const [steps, features] = dataFormat === 'channelsLast' ? [1, 2] : [2, 1];
  if (mask === null) return o.reduce('Mean', input, [steps], keepdims);
  const counts = o.expandDims(mask, features);
  const sum = o.reduce('Sum', o.where(counts, input, o.graph.scalar(0)), [steps], keepdims);
  return o.div(sum, o.reduce('Sum', o.cast(counts, 'float32'), [steps], keepdims));
};

const unitNormalization: Emitter = ({ o, input, layer }) => {
  const axes = axesOf((layer as UnitNormalization).axis, input.shape.length);
  const squares = o.reduce('Sum', o.unary('Square', input), axes, true);
  return o.mul(input, o.unary('Rsqrt', o.maximum(squares, 1e-24)));
};

export const ATTENTION_LAYERS: Readonly<Record<string, Emitter>> = {
  [MultiHeadAttention.className]: multiHeadAttention,
  [Attention.className]: oneHead(attentionScores),
  [AdditiveAttention.className]: oneHead(additiveScores),
  [GlobalAveragePooling1D.className]: globalAverage,
  [UnitNormalization.className]: unitNormalization,
  [WithMask.className]: ({ input }) => input,
};
