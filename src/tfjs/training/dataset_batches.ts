/** Batches of data sets of this package as loops of models read them. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';
import type { Iterator } from './resumed_fits.js';

/** The name of the method by which data sets of this package give models of ours their batches. */
export const BATCHES = Symbol.for('tfjs-embeddings.batches');

interface Elements {
  next(): Promise<IteratorResult<{ readonly features: object; readonly label?: unknown; readonly weight?: unknown }>>;
}

/** What stock models would leave out, or fail at. */
function refused(what: string): ValueError {
  const expected = 'data for a model of this package: one with a layer or an emb.input of it';
  const received = described(`${what}, read by another`);
  return new ValueError('dataset', expected, received, 'Make the inputs of the model by emb.input.');
}

/** The batches of an iterator; `isStock`: of models that take tensors alone. */
export function modelBatches(elements: Elements, isStock: boolean): Iterator {
  return {
    async next() {
      const { done, value } = await elements.next();
      if (done === true) return { done: true, value: null };
      const { features, label, weight } = value;
      const inputs = Object.values(features) as unknown[];
      const isRagged = inputs.some((each) => each instanceof RaggedTensor);
      if (isStock && (isRagged || weight !== undefined)) {
        tf.dispose([features, label, weight] as tf.TensorContainer);
        throw refused(isRagged ? 'ragged columns' : 'weights of rows');
      }
      const xs = inputs.length === 1 ? inputs[0] : features;
      const ys = label === undefined ? {} : { ys: label };
      return { done: false, value: { xs, ...ys, ...(weight === undefined ? {} : { weight }) } };
    },
  };
}
