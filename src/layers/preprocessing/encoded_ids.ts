/** Ids as they are, or as vectors with one place for each id: the output modes of Keras's preprocessing layers. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { shapesOf, type SymbolicShape } from '../../base/layer_arguments.js';
import { perProcess } from '../../base/per_process.js';
import type { AnyTensors } from '../layer_calls.js';
import { encode, type PlainMode } from '../../preprocessing/cells/output_mode.js';
import { raggedRowsOf, standInLike } from '../../tfjs/stand_ins.js';

/** The shape of the one input of a layer. Throws ValueError for several. */
export function onlyShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
  const shapes = shapesOf(inputShape);
  if (shapes.length !== 1) throw new ValueError('inputs', 'one input', described(`${shapes.length} inputs`));
  return shapes[0]!;
}

export function onlyTensor(inputs: tf.Tensor | tf.Tensor[]): tf.Tensor {
  return Array.isArray(inputs) ? inputs[0]! : inputs;
}

/** The shape of encoded ids. Throws ValueError where Keras itself does not agree on one. */
export function encodedShape(ids: SymbolicShape, mode: PlainMode, depth: number): SymbolicShape {
  if (mode === 'int') return ids;
  if (mode === 'oneHot') return [...(ids.length > 1 && ids.at(-1) === 1 ? ids.slice(0, -1) : ids), depth];
  if (ids.length === 2) return [ids[0]!, depth];
  throw new ValueError('inputs', `ids [batch, length] for outputMode ${mode}`, described(`rank ${ids.length}`));
}

/**
 * Returns int32 ids in the mode: themselves, or float32 vectors of `depth`. Ids outside [0, depth) stand for nothing.
 *
 * Ids are compared with all places, which no backend computes in another way; `tf.oneHot` of wasm trusts its ids.
 */
export function encodeIds(ids: tf.Tensor, mode: PlainMode, depth: number): tf.Tensor {
  if (mode === 'int') return ids;
  return tf.tidy(() => {
    const shape = encodedShape(ids.shape, mode, depth) as number[];
    if (ids.size === 0) return tf.zeros(shape);
    const places = tf.range(0, depth, 1, 'int32');
    const hits = ids.expandDims(-1).equal(places).cast('float32');
    if (mode === 'oneHot') return hits.reshape(shape);
    return mode === 'count' ? hits.sum(1) : hits.max(1);
  });
}

/**
 * What a layer returns for its input, in the mode: `idsOf` makes int32 ids of numbers. Ragged rows of numbers stay ragged
 * rows of ids, or become a vector for each row.
 */
export function encodeInput(
  inputs: tf.Tensor | tf.Tensor[],
  mode: PlainMode,
  depth: number,
  idsOf: (numbers: tf.Tensor) => tf.Tensor,
): tf.Tensor {
  return tf.tidy(() => {
    const input = onlyTensor(inputs);
    const rows = raggedRowsOf(input);
    if (rows === null) return encodeIds(idsOf(input), mode, depth);
    if (mode === 'oneHot') {
      const note = 'A vector for each id of ragged rows is no tensor: pad the rows, or take multiHot or count.';
      throw new ValueError('outputMode', 'int, multiHot or count for ragged rows', mode, note);
    }
    const ids = idsOf(rows.values) as tf.Tensor1D;
    if (mode === 'int')
      return standInLike(input as tf.Tensor2D, { values: ids, rowSplits: rows.rowSplits.clone() }, true);
    const splits = rows.rowSplits.dataSync<'int32'>();
    const container = { kind: 'ragged', nestedRowSplits: [splits], innerShape: [] } as const;
    const flat = ids.dataSync<'int32'>();
    return encode({ flat, count: flat.length, isFloat32: false, container }, flat, { mode, depth }) as tf.Tensor;
  });
}

/** Symbolic tensors that ragged rows stand behind, beside the inputs of models that are so. */
const raggedSymbols = (): WeakSet<object> => perProcess('symbols of ragged rows', () => new WeakSet());

function isRaggedSymbol(symbol: unknown): boolean {
  if (typeof symbol !== 'object' || symbol === null) return false;
  const { sourceLayer } = symbol as { sourceLayer?: { ragged?: boolean } };
  return sourceLayer?.ragged === true || raggedSymbols().has(symbol);
}

/**
 * The result of a call of a layer. Ragged rows of ids are int32 for tfjs as well: it casts what it passes on to the dtype
 * that it guesses, float32, and ragged rows cannot be cast.
 */
export function keepRagged(inputs: AnyTensors, result: AnyTensors, dtype: 'int32' | 'float32'): AnyTensors {
  if (!isRaggedSymbol(Array.isArray(inputs) ? inputs[0] : inputs) || result instanceof tf.Tensor) return result;
  raggedSymbols().add(result);
  Object.assign(result, { dtype });
  return result;
}
