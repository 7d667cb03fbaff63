/** Interactions of features, and lookups of raw numbers. */
import { DotInteraction } from '../../layers/feature_interaction/dot_interaction.js';
import { FeatureCross } from '../../layers/feature_interaction/feature_cross.js';
import { IntegerLookupLayer } from '../../layers/integer_lookup_layer.js';
import { type } from '../graph/function_builder.js';
import { activated } from './dense.js';
import type { Emitter } from './layer_call.js';

const dotInteraction: Emitter = ({ o, inputs, layer }) => {
  const { selfInteraction, skipGather } = layer as DotInteraction;
  const n = inputs.length;
  const stacked = o.pack(inputs, 1);
  const products = o.reshape(
    o.batchMatMul(stacked, stacked, false, true),
    [null, n * n],
    [inputs[0]!.shape[0]!, n * n],
  );
  const isPair = (row: number, column: number): boolean => column < row || (selfInteraction && column === row);
  const places = Array.from({ length: n * n }, (_, i) => isPair(Math.floor(i / n), i % n));
  if (skipGather) return o.mul(products, o.graph.constant(places.map(Number), 'float32', [n * n]));
  const columns = places.flatMap((isChosen, i) => (isChosen ? [i] : []));
  return o.gather(products, o.ints(columns), 1);
};

const featureCross: Emitter = (call) => {
  const { o, inputs } = call;
  const { diagScale } = call.layer as FeatureCross;
  const x0 = call.input;
  const x = inputs[1] ?? x0;
  const projection = call.optional('projection_kernel');
  const projected = projection === null ? x : o.dot(x, projection);
  const product = o.dot(projected, call.weight('kernel'));
  const bias = call.optional('bias');
  const weighed = activated(call, bias === null ? product : o.add(product, bias), 'preActivation');
  const scaled = diagScale === 0 ? weighed : o.add(weighed, o.mul(x, diagScale));
  return o.add(o.mul(x0, scaled), x);
};

/** By the vocabulary as it is now: the export learns nothing. Keys that no int32 input can hold are left out. */
const integerLookup: Emitter = ({ o, input, layer }) => {
  const { graph } = o;
  const keys = (layer as IntegerLookupLayer)
    .getVocabulary()
    .map((key, id) => [key, id] as const)
    .filter(([key, id]) => id > 0 && key === (key | 0))
    .sort(([a], [b]) => a - b);
  const numbers = o.cast(input, 'int32');
  if (keys.length === 0) return o.mul(numbers, 0);
  const sorted = graph.constant(
    keys.map(([key]) => key),
    'int32',
    [1, keys.length],
  );
  const ids = graph.constant(
    keys.map(([, id]) => id),
    'int32',
    [keys.length],
  );
  const flat = o.reshape(numbers, [1, null]);
  const places = graph.node('LowerBound', [sorted, flat], {
    attr: { T: type('int32'), out_type: type('int32') },
    dtype: 'int32',
    shape: flat.shape,
  });
  const inside = o.reshape(o.minimum(places, keys.length - 1), [null]);
  const isKnown = o.compare(
    'Equal',
    o.gather(o.reshape(sorted, [null], [keys.length]), inside),
    o.reshape(numbers, [null]),
  );
  const found = o.where(isKnown, o.gather(ids, inside), graph.scalar(0, 'int32'));
  return o.reshape(found, o.sizesOf(numbers), numbers.shape);
};

export const INTERACTION_LAYERS: Readonly<Record<string, Emitter>> = {
  [DotInteraction.className]: dotInteraction,
  [FeatureCross.className]: featureCross,
  [IntegerLookupLayer.className]: integerLookup,
};
