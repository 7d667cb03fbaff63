/** What stock embedding layers say of padding: they know no absent ids, and tell of a wrong index in words of an op. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { densePlace } from '../../ids/id_place.js';
import { override } from '../models/own_models.js';

type Call = (this: { inputDim: number; name: string }, inputs: tf.Tensor | tf.Tensor[], kwargs: object) => tf.Tensor;

/** The error of a lookup that failed where an id is negative; any other as it is. */
function paddingError(error: unknown, ids: tf.Tensor | undefined, name: string, rows: number): unknown {
  if (!(ids instanceof tf.Tensor) || ids.isDisposed) return error;
  const values = ids.dataSync();
  const at = values.findIndex((id) => id < 0);
  if (at < 0) return error;
  const received = described(`${values[at]} at ${densePlace(ids.shape, at)} (layer ${name})`);
  const note =
    'A stock embedding has no absent ids: pad with an id of its own, ragged.toPadded({defaultValue: 0}) with maskZero, ' +
    'or take emb.layers.raggedEmbedding.';
  return new ValueError('defaultValue', `ids in [0, ${rows}), padding included`, received, note);
}

function checkingPadding(call: Call): Call {
  return function (inputs, kwargs) {
    try {
      return call.call(this, inputs, kwargs);
    } catch (error) {
      throw paddingError(error, [inputs].flat()[0], this.name, this.inputDim);
    }
  };
}

/** Has stock embedding layers check for padding ids and name them in the error. */
export function validatePadding(): void {
  // A name, as default names are counted.
  const sample = tf.layers.embedding({ inputDim: 1, outputDim: 1, name: 'embedding' });
  override(Object.getPrototypeOf(sample) as object, 'call', checkingPadding, 'mend');
}
