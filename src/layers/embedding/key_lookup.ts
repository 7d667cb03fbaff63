/** Lookups of layers by keys: keys become row numbers, which are looked up as ids are. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import type { IdsInput } from '../../ids/parse_ids.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';
import { keyInputOf, keyStandIn, rowNumbersFor, type KeyUse } from '../../tables/keys/key_input.js';
import type { OpenTable } from '../../tables/keys/open_table.js';
import type { KeyKind } from '../../tables/keys/read_keys.js';
import { isModelInput } from '../../tfjs/symbolic_ids.js';
import { asKeyInput, keyInputKind } from '../../tfjs/models/key_inputs.js';
import { asOwnInput } from '../../tfjs/models/own_models.js';

type Rows = tf.Tensor | RaggedTensor;

/** The sum of results of one form. Call inside a tidy. */
function sumOf(results: readonly Rows[]): Rows {
  const [first] = results as [Rows];
  if (results.length === 1) return first;
  if (first instanceof tf.Tensor) return tf.addN(results as tf.Tensor[]);
  const values = Float32Array.from(first.values);
  for (const each of results.slice(1)) (each as RaggedTensor).values.forEach((value, i) => (values[i]! += value));
  return RaggedTensor.fromNestedRowSplits(values, first.nestedRowSplits as Int32Array[], first.innerShape as number[]);
}

/** The result of a lookup of keys; `lookUp`: of row numbers. */
export function keyedLookUp(use: KeyUse, keys: unknown, lookUp: (rows: IdsInput) => Rows): Rows {
  let result: Rows;
  tf.tidy(() => {
    result = sumOf(rowNumbersFor(use, keys, 'ids').map(lookUp));
    return result instanceof tf.Tensor ? result : undefined;
  });
  return result!;
}

/** Where keys stand for something; `masks`: rows of one length have a mask too. null: there is none. */
export function maskOfKeys(use: KeyUse, keys: unknown, masks: boolean): tf.Tensor | null {
  const given = keyInputOf(keys);
  const isRagged = given !== null && given.batch.layout.kind === 'ragged';
  if (!masks && !isRagged) return null;
  return given === null ? null : given.present(use);
}

/** Has a model take keys for this input. Throws ValueError for one that takes keys of another kind. */
export function markKeyInput(ids: tf.SymbolicTensor, { keyKind, name }: OpenTable): void {
  if (!isModelInput(ids)) {
    const expected = `an input of the model, emb.input({shape, dtype: '${keyKind}'}), because table ${name} is open`;
    throw new ValueError('inputs', expected, described('what a layer makes, which holds no keys'));
  }
  const known = keyInputKind(ids.sourceLayer);
  if (known !== null && known !== keyKind) {
    throw new ValueError('inputs', `keys '${keyKind}', as table ${name} has`, described(`an input of '${known}'`));
  }
  markInput(ids.sourceLayer, keyKind);
}

/** Has a model take keys of a kind for an input. */
export function markInput(layer: tf.layers.Layer, kind: KeyKind): void {
  asKeyInput(layer, kind, (value, sizes, path) => keyStandIn(value, kind, sizes, path));
  asOwnInput(layer);
}
