/** Inputs of models whose rows may have different lengths: what tfjs has, with a mark that is saved. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { checkBoolean, checkName } from '../base/layer_arguments.js';
import { readOptions } from '../base/options.js';
import { refusePositional } from '../base/positional.js';
import type { KeyKind } from '../tables/keys/read_keys.js';
import { keyInputKind } from '../tfjs/models/key_inputs.js';
import { markInput } from './embedding/key_lookup.js';
import { asOwnInput, override } from '../tfjs/models/own_models.js';

export interface InputArgs {
  /** Without the batch axis; [null] for rows of any length. */
  shape: readonly (number | null)[];
  /** Whether rows come as a RaggedTensor, {values, rowSplits} or sparse ids; padded tensors are taken as well. */
  ragged?: boolean | undefined;
  /**
   * By default 'int32' (ids) where the input is ragged, else 'float32'. 'int64' and 'string' are keys of open tables, whose
   * layers alone read them: BigInt64Arrays, numbers, texts, in arrays or tensors, ragged ones too.
   */
  dtype?: 'int32' | 'float32' | KeyKind | undefined;
  name?: string | undefined;
}

interface MarkedLayer {
  ragged?: boolean;
}

const KEYS = ['int64', 'string'] as const;

function isKeys(dtype: unknown): dtype is KeyKind {
  return (KEYS as readonly unknown[]).includes(dtype);
}

const FIELDS = ['shape', 'ragged', 'dtype', 'name'] as const;

function readShape(value: unknown, isRagged: boolean): (number | null)[] {
  const expected = 'a list of sizes, such as [null]';
  if (!Array.isArray(value)) throw new ArgumentTypeError('shape', expected, value);
  for (const size of value as unknown[]) {
    if (size === null) continue;
    if (typeof size !== 'number') throw new ArgumentTypeError('shape', expected, value);
    if (!Number.isSafeInteger(size) || size < 1) throw new ValueError('shape', expected, value);
  }
  if (isRagged && value.length !== 1) throw new ValueError('shape', '[null] or [maxLength] for ragged rows', value);
  return [...(value as (number | null)[])];
}

/**
 * Returns a symbolic input of a model, as `tf.input` makes it.
 *
 * With `ragged` it is [batch, null], int32 unless `dtype` says otherwise, and stands for rows of ids, or of weights, of
 * different lengths: `fit`, `predict` and the like take a RaggedTensor, {values, rowSplits} or sparse ids for it, or a
 * padded tensor. A size in place of null is the longest row that is taken, and how long rows without a combiner come. The
 * mark is saved with the model (`sourceLayer.ragged`). Embedding layers of this package read such inputs; others need them
 * padded.
 * Source: keras.Input (Keras 2, `ragged`), as tf.input.
 *
 * @param args - Shape, dtype and name; see `InputArgs`.
 * @returns A symbolic tensor.
 * @throws TypeError for a shape that is no list and a dtype of another kind; ValueError for sizes below 1 and ragged rows
 * of more than one axis.
 *
 * @example
 * const visits = emb.input({shape: [null], ragged: true, name: 'visits'});
 * const pooled = emb.layers.raggedEmbedding({inputDim: 10, outputDim: 4, combiner: 'mean'}).apply(visits);
 */
export function input(args: InputArgs): tf.SymbolicTensor;
export function input(...all: [InputArgs]): tf.SymbolicTensor {
  refusePositional('emb.input', FIELDS, all);
  const given = readOptions<InputArgs>(all[0], FIELDS, 'args');
  const isRagged = checkBoolean(given.ragged, 'ragged', false);
  const shape = readShape(given.shape, isRagged);
  const { dtype = isRagged ? 'int32' : 'float32' } = given;
  if (!['int32', 'float32', ...KEYS].includes(dtype)) {
    throw new ArgumentTypeError('dtype', "'int32', 'float32', 'int64' or 'string'", dtype);
  }
  const keys = isKeys(dtype) ? dtype : null;
  const name = checkName(given.name);
  const held = keys === null ? (dtype as 'int32') : 'int32';
  const symbol = tf.input({ shape: shape as tf.Shape, dtype: held, ...(name === undefined ? {} : { name }) });
  if (keys !== null) markInput(symbol.sourceLayer, keys);
  if (isRagged) (symbol.sourceLayer as MarkedLayer).ragged = true;
  asOwnInput(symbol.sourceLayer);
  return symbol;
}

type Load = (cls: unknown, config: tf.serialization.ConfigDict) => MarkedLayer;

type GetConfig = (this: tf.layers.Layer & MarkedLayer) => tf.serialization.ConfigDict;

/** Saves the mark with models and brings it back. */
export function saveRaggedInputs(): void {
  const { classNameMap } = tf.serialization.SerializationMap.getMap() as unknown as {
    classNameMap: Record<string, [{ prototype: object }, Load]>;
  };
  const entry = classNameMap['InputLayer']!;
  const [{ prototype }, load] = entry;
  override(prototype, 'getConfig', (getConfig: GetConfig): GetConfig => {
    return function () {
      const config = getConfig.call(this);
      const keys = keyInputKind(this);
      return { ...config, ...(this.ragged === true && { ragged: true }), ...(keys !== null && { keys }) };
    };
  });
  entry[1] = (cls, config) => {
    const { ragged, keys, ...own } = config;
    const layer = load(cls, own);
    if (ragged === true) {
      layer.ragged = true;
      asOwnInput(layer as never);
    }
    if (isKeys(keys)) markInput(layer as tf.layers.Layer, keys);
    return layer;
  };
}
