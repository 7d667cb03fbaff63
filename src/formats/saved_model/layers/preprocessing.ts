/** Layers before the model: numbers to ids, ids to vectors, and numbers of one scale. */
import { CategoryEncoding } from '../../../layers/preprocessing/category_encoding.js';
import { DiscretizationLayer } from '../../../layers/preprocessing/discretization_layer.js';
import type { OutputMode, PlainMode } from '../../../preprocessing/cells/output_mode.js';
import { HashingLayer } from '../../../layers/preprocessing/hashing_layer.js';
import { LEAST_DEVIATION, type Moments } from '../../../preprocessing/moments.js';
import { Normalization } from '../../../layers/preprocessing/normalization.js';
import { VocabularyLayer } from '../../../layers/preprocessing/vocabulary_layer.js';
import { IntegerLookupLayer } from '../../../layers/integer_lookup_layer.js';
import { ints, type } from '../graph/function_builder.js';
import { placesIn } from '../graph/tensorflow_form.js';
import type { Value } from '../graph/value.js';
import type { Emitter, LayerCall } from './layer_call.js';

/** Ids of int32 numbers by a table of keys; `unknown`: those of other numbers. Keys that no int32 can be are left out. */
function idsByKey(
  { o, context }: LayerCall,
  numbers: Value,
  entries: readonly (readonly [key: number, id: number])[],
  unknown: Value,
): Value {
  const known = entries.filter(([key]) => key === (key | 0)).sort(([a], [b]) => a - b);
  const table = { keys: known.map(([key]) => key), ids: known.map(([, id]) => id) };
  return context.form.findNumbers(o, numbers, table, unknown);
}

/** By the vocabulary as it is now: the export learns nothing. */
const integerLookup: Emitter = (call) => {
  const { o, input, layer } = call;
  const entries = (layer as IntegerLookupLayer).getVocabulary().map((key, id) => [key, id] as const);
  const numbers = o.cast(input, 'int32');
  return idsByKey(call, numbers, entries.slice(1), o.mul(numbers, 0));
};

/** int32 ids as they are, or as vectors with one place for each; ids outside have none. */
function encoded({ o }: LayerCall, ids: Value, mode: PlainMode, depth: number): Value {
  if (mode === 'int') return ids;
  const isSingle = mode === 'oneHot' && ids.shape.length > 1 && ids.shape.at(-1) === 1;
  const places = isSingle ? o.squeeze(ids, [-1]) : ids;
  const vectors = o.oneHot(places, depth);
  return mode === 'oneHot' ? vectors : o.reduce(mode === 'count' ? 'Sum' : 'Max', vectors, [1]);
}

/** Unknown numbers share `numOovIndices` rows, behind that of the mask where there is one. */
const vocabularyLookup: Emitter = (call) => {
  const { o, config } = call;
  const [rows, mask] = [config['numOovIndices'] as number, config['maskToken'] as number | null];
  if (rows === 0) throw call.refuse('with numOovIndices 0, for which unknown numbers are errors');
  const numbers = o.cast(call.input, 'int32');
  const masked = mask === null ? [] : [[mask, 0] as const];
  const mode = config['outputMode'] as OutputMode;
  // With factors, unknown numbers stand in front of the vocabulary.
  const tokens = (config['vocabulary'] as readonly number[]).slice(mode === 'tfIdf' ? rows : 0);
  const entries = [...tokens.map((token, i) => [token, masked.length + rows + i] as const), ...masked];
  const ids = idsByKey(call, numbers, entries, o.add(o.binary('FloorMod', numbers, rows), masked.length));
  const depth = call.outputShape().at(-1)!;
  if (mode !== 'tfIdf') return encoded(call, ids, mode, depth);
  const factors = Array.from({ length: depth }, (_, i) => (config['idfWeights'] as readonly number[])[i] ?? 0);
  return o.mul(encoded(call, ids, 'count', depth), o.graph.constant(factors, 'float32', [depth]));
};

/** What TensorFlow's ops make of the digits, which is what Keras does. */
const hashing: Emitter = ({ o, config, ...call }) => {
  const { graph } = o;
  const numbers = o.cast(call.inputs[0]!, 'int32');
  const [bins, mask] = [config['numBins'] as number, config['maskValue'] as number | string | null];
  const salt = config['salt'] as readonly number[] | null;
  // Words mask no number.
  const isMasking = mask !== null && bins > 1;
  const digits = graph.node('AsString', [numbers], {
    attr: { T: type('int32') },
    dtype: 'string',
    shape: numbers.shape,
  });
  const buckets = graph.node(salt === null ? 'StringToHashBucketFast' : 'StringToHashBucketStrong', [digits], {
    attr: { num_buckets: { i: isMasking ? bins - 1 : bins }, ...(salt === null ? {} : { key: ints(salt) }) },
    dtype: 'int64',
    shape: numbers.shape,
  });
  const ids = o.cast(buckets, 'int32');
  if (!isMasking) return ids;
  const others = o.add(ids, 1);
  if (typeof mask !== 'number') return others;
  return o.where(o.compare('Equal', numbers, mask), graph.scalar(0, 'int32'), others);
};

const discretization: Emitter = (call) => {
  const { o } = call;
  const { binBoundaries, outputMode } = call.layer as DiscretizationLayer;
  const numbers = o.cast(call.input, 'float32');
  const boundaries = o.graph.constant(binBoundaries, 'float32', [binBoundaries.length]);
  const places = placesIn(o, 'UpperBound', boundaries, o.reshape(numbers, [null]));
  const bins = o.reshape(places, o.sizesOf(numbers), numbers.shape);
  return encoded(call, bins, outputMode, binBoundaries.length + 1);
};

/** Negative ids, which the layer refuses in some modes, count nowhere. */
const categoryEncoding: Emitter = (call) => {
  const { outputMode, numTokens } = call.layer as CategoryEncoding;
  return encoded(call, call.o.cast(call.input, 'int32'), outputMode, numTokens);
};

function numbersIn(moments: Moments): number[] {
  return typeof moments === 'number' ? [moments] : moments.flatMap(numbersIn);
}

const normalization: Emitter = (call) => {
  const { o, config } = call;
  const layer = call.layer as Normalization;
  const x = o.cast(call.input, 'float32');
  const meeting = layer.meetingShape([...x.shape]);
  const moment = (name: 'mean' | 'variance'): Value => {
    const given = config[name] as Moments | null;
    if (given === null) return o.reshape(call.weight(name), meeting);
    return o.graph.constant(numbersIn(given), 'float32', meeting);
  };
  const deviation = o.maximum(o.unary('Sqrt', moment('variance')), LEAST_DEVIATION);
  return layer.invert ? o.add(o.mul(x, deviation), moment('mean')) : o.div(o.sub(x, moment('mean')), deviation);
};

export const PREPROCESSING_LAYERS: Readonly<Record<string, Emitter>> = {
  [IntegerLookupLayer.className]: integerLookup,
  [VocabularyLayer.className]: vocabularyLookup,
  [HashingLayer.className]: hashing,
  [DiscretizationLayer.className]: discretization,
  [CategoryEncoding.className]: categoryEncoding,
  [Normalization.className]: normalization,
};
