/**
 * Keys of open tables in a graph, frozen: a sorted vector of those that have a row, in which they are searched, and the
 * rows beside it. What a SavedModel holds is all that it needs: it learns nothing and needs no file beside it.
 */
import type { Feature } from '../../layers/embedding/layer_inputs.js';
import { NO_ROW, PADDING } from '../../tables/keys/open_rows.js';
import type { OpenTable } from '../../tables/keys/open_table.js';
import { type } from './graph/function_builder.js';
import type { Operations } from './graph/operations.js';
import type { Value } from './graph/value.js';
import type { LayerCall } from './layers/layer_call.js';
import { lookUpTable } from './layers/lookup.js';
import { paddedRows } from './layers/ragged.js';

/** A layer that looks keys up. */
interface KeyedLayer {
  readonly table: OpenTable;
  readonly maskZero: boolean;
  readonly feature: Feature;
}

/** fmix64 of MurmurHash3. */
const FACTORS = [0xff51afd7ed558ccdn, 0xc4ceb9fe1a85ec53n] as const;
const GOLDEN = 0x9e3779b9;

function bitcast({ graph }: Operations, x: Value, dtype: 'int64' | 'uint64', shape = x.shape): Value {
  return graph.node('Bitcast', [x], { attr: { T: type(x.dtype), type: type(dtype) }, dtype, shape });
}

function unsigned(o: Operations, value: bigint): Value {
  return bitcast(o, o.graph.constant([BigInt.asIntN(64, value)], 'int64', []), 'uint64');
}

/** The row that a key without one shares, by the number of the hash: as `sharedRow` of tables/keys has it. */
function sharedRows(o: Operations, words: Value, hash: number, { capacity, inputDim }: OpenTable): Value {
  const shift = (x: Value, by: bigint): Value => o.binary('RightShift', x, unsigned(o, by));
  const xor = (x: Value, y: Value): Value => o.binary('BitwiseXor', x, y);
  let x = xor(bitcast(o, words, 'uint64'), unsigned(o, BigInt(Math.imul(hash + 1, GOLDEN) >>> 0)));
  for (const factor of FACTORS) x = o.mul(xor(x, shift(x, 33n)), unsigned(o, factor));
  const place = shift(o.mul(shift(x, 32n), unsigned(o, BigInt(inputDim - capacity))), 32n);
  return o.add(o.cast(bitcast(o, place, 'int64'), 'int32'), capacity);
}

/** Row numbers of keys as lookups take them, one vector for each lookup, and which keys are no padding; null: all. */
function flatRows({ o, context, input }: LayerCall, layer: KeyedLayer): { rows: Value[]; present: Value | null } {
  const { table, maskZero } = layer;
  const padding = [...(maskZero ? [0n] : []), ...(table.paddingWord === null ? [] : [table.paddingWord])];
  const found = context.form.findKeys(o, table, o.reshape(input, [null]), padding);
  const { row, isFound, present } = found;
  const number = (value: number): Value => o.graph.scalar(value, 'int32');
  const rows = Array.from({ length: isFound === null ? 1 : table.lookups }, (_, hash) => {
    if (isFound === null) return row;
    const unknown =
      table.unknown === 'zero'
        ? number(NO_ROW)
        : table.unknown === 'drop'
          ? number(PADDING)
          : sharedRows(o, found.words(), hash, table);
    const all = o.where(isFound, hash === 0 ? row : number(NO_ROW), unknown);
    return present === null ? all : o.where(present, all, number(PADDING));
  });
  return { rows, present };
}

/** Splits of ragged keys, and the length of all rows where it is known; null: they are dense. */
function splitsOf({
  o,
  input,
  inputs,
}: LayerCall): { rowSplits: Value; length: number | null; isPair: boolean } | null {
  const { rowSplits, shape } = input;
  if (rowSplits !== undefined) return { rowSplits, length: shape.length === 2 ? shape[1]! : null, isPair: false };
  if (shape.length > 1) return null;
  return inputs[1] === undefined ? null : { rowSplits: o.cast(inputs[1], 'int32'), length: null, isPair: true };
}

/** The lookup of keys by a layer, of the kinds `embedding` and `ragged`. */
export function lookUpKeys(call: LayerCall): Value {
  const { o, context, input, inputs } = call;
  const layer = call.layer as unknown as KeyedLayer & { embeddings: Parameters<typeof context.variableOf>[0] };
  const { rows } = flatRows(call, layer);
  const splits = splitsOf(call);
  const feature = { ...layer.feature, outOfRange: 'zero' as const, maskZero: false };
  const given = inputs[splits?.isPair === true ? 2 : 1];
  const weights = given === undefined ? null : o.cast(given, 'float32');
  const results = rows.map((flat) => {
    const lookup = {
      feature,
      table: context.variableOf(layer.embeddings),
      ids:
        splits === null
          ? o.reshape(flat, o.sizesOf(input), input.shape)
          : paddedRows(o, flat, splits.rowSplits, PADDING, splits.length),
      weights: weights !== null && splits?.isPair === true ? paddedRows(o, weights, splits.rowSplits, 0) : weights,
    };
    return lookUpTable(o, lookup, context.customOps);
  });
  return results.reduce((sum, each) => o.add(sum, each));
}

/** Where keys are no padding, as layers behind take it: of rows that stay apart; null: no mask. */
export function maskOfKeys(call: LayerCall, masksDense: boolean): Value | null {
  const { o, input } = call;
  const layer = call.layer as unknown as KeyedLayer;
  const splits = splitsOf(call);
  if (layer.feature.combiner !== null || (!masksDense && splits === null)) return null;
  const { present } = flatRows(call, layer);
  const all = present ?? o.compare('Equal', o.reshape(input, [null]), o.reshape(input, [null]));
  if (splits === null) return o.reshape(all, o.sizesOf(input), input.shape);
  return o.compare('Greater', paddedRows(o, o.cast(all, 'int32'), splits.rowSplits, 0, splits.length), 0);
}
