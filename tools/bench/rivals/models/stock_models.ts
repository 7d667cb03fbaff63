/** The models of the bench with stock layers of tfjs alone. */
import * as tf from '@tensorflow/tfjs';
import type { ModelSpec } from './model_specs.js';
import { headOf, inputsOf, lookupsOf, type BuiltModel } from './our_models.js';
import { Lacks } from '../serve.js';

type Symbolic = tf.SymbolicTensor;

function optimizerOf({ optimizer, learningRate, epsilon }: ModelSpec): tf.Optimizer {
  if (optimizer === 'sgd') return tf.train.sgd(learningRate);
  return optimizer === 'adagrad' ? tf.train.adagrad(learningRate) : tf.train.adam(learningRate, 0.9, 0.999, epsilon);
}

export function buildStock(spec: ModelSpec): BuiltModel {
  if (spec.kind === 'dlrm') throw new Lacks('no layer for the products of pairs');
  if (spec.kind === 'ragged') throw new Lacks('no ragged ids');
  if (spec.kind === 'tables') throw new Lacks('no sum over ids');
  if (spec.kind === 'wide_and_deep') throw new Lacks('no penalty on touched rows');
  const inputs = inputsOf(spec);
  const tables = spec.tables.map(({ rows, dim }) => tf.layers.embedding({ inputDim: rows, outputDim: dim }));
  const rows = lookupsOf(spec).map(({ input, table }) => {
    const isMean = spec.kind === 'text' || spec.kind === 'next_item';
    const pooling = isMean ? tf.layers.globalAveragePooling1d({}) : tf.layers.flatten();
    return pooling.apply(tables[table]!.apply(inputs[input]!) as Symbolic) as Symbolic;
  });
  const interaction = (): never => {
    throw new Lacks('no layer for the products of pairs');
  };
  const { model, dense } = headOf(spec, { rows, inputs, interaction });
  return {
    model,
    layers: [...tables, ...dense],
    optimizer: optimizerOf(spec),
  };
}
