/** Interactions of features, and of queries with candidates. */
import { DotInteraction } from '../../../layers/feature_interaction/dot_interaction.js';
import { FeatureCross } from '../../../layers/feature_interaction/feature_cross.js';
import { BruteForceRetrieval } from '../../../ranking/brute_force_retrieval.js';
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

const bruteForceRetrieval: Emitter = (call) => {
  const { o } = call;
  if ((call.layer as BruteForceRetrieval).indexForm !== null)
    throw call.refuse('with an index, of which graphs know none');
  const products = o.batchMatMul(call.input, call.weight('candidates'), false, true);
  const [scores, rows] = o.topK(products, (call.layer as BruteForceRetrieval).k);
  const identifiers = call.optional('identifiers');
  return [scores, identifiers === null ? rows : o.gather(identifiers, rows)];
};

export const INTERACTION_LAYERS: Readonly<Record<string, Emitter>> = {
  [DotInteraction.className]: dotInteraction,
  [FeatureCross.className]: featureCross,
  [BruteForceRetrieval.className]: bruteForceRetrieval,
};
