/** Lookups of embedding layers: gathered rows, pooled. */
import type { Quantization } from '../../../backends/quantize.js';
import { isWeighing } from '../../../base/types.js';
import type { Feature } from '../../../layers/embedding/layer_inputs.js';
import { text, type GraphVariable } from '../graph/function_builder.js';
import type { Operations } from '../graph/operations.js';
import type { Value } from '../graph/value.js';
import type { GraphContext } from './layer_call.js';
import { paddedRows } from './ragged.js';

/** One feature: how it is looked up, and the table. */
export interface TableLookup {
  readonly feature: Pick<Feature, 'kind' | 'combiner' | 'maskZero' | 'maxNorm' | 'outOfRange'>;
  readonly table: GraphVariable;
  readonly ids: Value;
  readonly weights: Value | null;
  /** Rows are moved to the nearest of so many numbers before they are combined. */
  readonly quantization?: Quantization | null;
}

/** Where an id stands for something. */
function presentIds(o: Operations, { feature, ids }: TableLookup): Value {
  const { kind, combiner, maskZero } = feature;
  const skipsZero = maskZero && combiner !== null && kind !== 'reduce';
  return o.compare(skipsZero ? 'Greater' : 'GreaterEqual', ids, 0);
}

function both(o: Operations, a: Value | null, b: Value | null): Value | null {
  return a === null || b === null ? (a ?? b) : o.and(a, b);
}

/** Rows longer than `maxNorm` are scaled to it. */
function clipNorms(o: Operations, rows: Value, maxNorm: number): Value {
  const norms = o.unary('Sqrt', o.reduce('Sum', o.unary('Square', rows), [-1], true));
  return o.mul(rows, o.div(maxNorm, o.maximum(norms, maxNorm)));
}

/** Rounded as TensorFlow does it: half up. */
function quantized(o: Operations, rows: Value, { numBuckets, lower, upper }: Quantization): Value {
  const step = (upper - lower) / (numBuckets - 1);
  const buckets = o.unary('Floor', o.add(o.div(o.sub(o.clip(rows, lower, upper), lower), step), 0.5));
  return o.add(o.mul(buckets, step), lower);
}

/** The rows of the ids that count, zeros for the others; not yet weighted. */
function rowsOf(o: Operations, { feature, table, ids, quantization }: TableLookup, present: Value): Value {
  const rows = table.shape[0]!;
  const isInside =
    feature.outOfRange === 'zero' ? o.and(o.compare('GreaterEqual', ids, 0), o.compare('Less', ids, rows)) : null;
  const counts = both(o, present, isInside);
  const safe = counts === null ? ids : o.where(counts, ids, o.graph.scalar(0, 'int32'));
  const gathered = o.gatherRows(table, safe);
  const clipped = feature.maxNorm === null ? gathered : clipNorms(o, gathered, feature.maxNorm);
  const found = quantization ? quantized(o, clipped, quantization) : clipped;
  return counts === null ? found : o.where(o.expandDims(counts, -1), found, o.graph.scalar(0));
}

/** What each id weighs: 0 where it stands for nothing. */
function weightsOf(o: Operations, { ids, weights }: TableLookup, present: Value): Value {
  if (present === null) return weights ?? ones(o, ids);
  const counts = o.cast(present, 'float32');
  return weights === null ? counts : o.mul(weights, counts);
}

function ones(o: Operations, ids: Value): Value {
  return o.fill(o.sizesOf(ids), 1, ids.shape);
}

/** The largest of the rows that count; zeros where there are none. */
function largest(o: Operations, rows: Value, present: Value): Value {
  const least = o.graph.scalar(-3.4028234663852886e38);
  const most = o.reduce('Max', o.where(o.expandDims(present, -1), rows, least), [-2]);
  const count = o.reduce('Sum', o.cast(present, 'float32'), [-1], true);
  return o.where(o.compare('Greater', count, 0), most, o.graph.scalar(0));
}

/** The rows of the innermost axis of the ids become one. */
function pooled(o: Operations, lookup: TableLookup, present: Value): Value {
  const { feature, weights } = lookup;
  const rows = rowsOf(o, lookup, present);
  if (feature.combiner === 'max') return largest(o, rows, present);
  const weighted = weights === null ? rows : o.mul(rows, o.expandDims(weights, -1));
  const sum = o.reduce('Sum', weighted, [-2]);
  if (feature.combiner === 'sum') return sum;
  const all = weightsOf(o, lookup, present);
  const total =
    feature.combiner === 'mean'
      ? o.reduce('Sum', all, [-1], true)
      : o.unary('Sqrt', o.reduce('Sum', o.unary('Square', all), [-1], true));
  return o.divNoNan(sum, total);
}

/** One id per row: mean and sqrtn of one row are the row, whatever it weighs. */
function single(o: Operations, lookup: TableLookup, present: Value): Value {
  const rows = rowsOf(o, lookup, present);
  const { weights, feature } = lookup;
  return weights !== null && feature.combiner === 'sum' ? o.mul(rows, o.expandDims(weights, -1)) : rows;
}

/** Flat ids that count, the splits of their bags, and their weights. */
interface Bags {
  readonly values: Value;
  readonly rowSplits: Value;
  readonly weights: Value;
}

function bagsOf(o: Operations, { ids, weights }: TableLookup, present: Value): Bags {
  const { graph } = o;
  const flat = (x: Value): Value => o.reshape(x, [null]);
  const length = o.sizeAt(ids, -1);
  const none = graph.constant([], 'float32', [0]);
  const zero = o.ints([0]);
  const cumulated = (lengths: Value): Value => {
    return o.concat([zero, o.cumsum(lengths, 0)], 0);
  };
  if (present === null) {
    const bags = o.sizesOf(ids, 0, ids.shape.length - 1);
    const lengths = graph.node('Fill', [o.sizes(bags), length], {
      attr: { T: { type: 3 }, index_type: { type: 3 } },
      dtype: 'int32',
      shape: ids.shape.slice(0, -1),
    });
    const rowSplits = cumulated(flat(lengths));
    return { values: flat(ids), rowSplits, weights: weights === null ? none : flat(weights) };
  }
  const places = graph.node('Where', [flat(present)], {
    attr: { T: { type: 10 } },
    dtype: 'int64',
    shape: [null, 1],
    output: 'index',
  });
  const kept = o.reshape(places, [null]);
  const lengths = flat(o.reduce('Sum', o.cast(present, 'int32'), [-1]));
  return {
    values: o.gather(flat(ids), kept),
    rowSplits: cumulated(lengths),
    weights: weights === null ? none : o.gather(flat(weights), kept),
  };
}

/** The same by the custom op. */
function pooledByOp(o: Operations, lookup: TableLookup, present: Value): Value {
  const { feature, table, ids } = lookup;
  const { values, rowSplits, weights } = bagsOf(o, lookup, present);
  const dim = table.shape[1]!;
  const rows = o.graph.node('EmbeddingBag', [o.read(table), values, rowSplits, weights], {
    attr: {
      combiner: text(feature.combiner!),
      out_of_range: text(feature.outOfRange),
      max_norm: { f: feature.maxNorm ?? 0 },
    },
    dtype: 'float32',
    shape: [null, dim],
    output: 'pooled',
  });
  const shape = [...ids.shape.slice(0, -1), dim];
  return ids.shape.length === 2
    ? { ...rows, shape }
    : o.reshape(rows, [...o.sizesOf(ids, 0, ids.shape.length - 1), dim], shape);
}

/** The result of a lookup, as the layers give it for dense ids. */
export function lookUpTable(o: Operations, lookup: TableLookup, customOps: boolean): Value {
  const { combiner } = lookup.feature;
  const present = presentIds(o, lookup);
  if (combiner === null || lookup.ids.shape.length < 2) return single(o, lookup, present);
  // The op combines rows as they are, and weighs them.
  const isPlain = (lookup.quantization ?? null) === null && isWeighing(combiner);
  return customOps && isPlain ? pooledByOp(o, lookup, present) : pooled(o, lookup, present);
}

/** The same of flat ids between row splits, which are padded where their rows cannot be summed up as they come. */
export function lookUpRagged(
  o: Operations,
  { form, customOps }: GraphContext,
  lookup: TableLookup,
  rowSplits: Value,
): Value {
  const { feature, table, ids, weights } = lookup;
  const { combiner } = feature;
  // Sums of weights that differ a lot would lose the small ones.
  if (combiner !== null && combiner !== 'max' && weights === null && form.canSumBags(table)) {
    const present = presentIds(o, lookup);
    const sum = form.sumBags(o, rowsOf(o, lookup, present), rowSplits);
    if (combiner === 'sum') return sum;
    const count = form.sumBags(o, o.expandDims(o.cast(present, 'float32'), -1), rowSplits);
    return o.divNoNan(sum, combiner === 'mean' ? count : o.unary('Sqrt', count));
  }
  const padded = {
    ids: paddedRows(o, ids, rowSplits, -1),
    weights: weights === null ? null : paddedRows(o, weights, rowSplits, 0),
  };
  return lookUpTable(o, { ...lookup, ...padded }, customOps);
}
