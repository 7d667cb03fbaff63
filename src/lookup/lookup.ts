/** Pooled lookups with their gradients: every lookup of this package goes through here, many tables in one call. */
import * as tf from '@tensorflow/tfjs';
import type { LookedUp, Lookup, LookupGradient, RowGradientTensors } from '../backends/contract.js';
import { ArgumentTypeError, RuntimeError, described, ValueError } from '../base/errors.js';
import { gradientOfMax, maxPooled, withoutMax } from './max_pooling.js';
import { isTapeOn, withLazyGradient, refuseSecond, withoutTape } from '../tfjs/lazy_gradient.js';
import { IdOutOfRange, SINGLE_ROW, type BagOptions } from '../backends/kernel_set.js';
import type { BagTensors } from '../backends/bag_tensors.js';
import { currentBackend, storeInUse } from '../backends/registry.js';
import { outOfRangeError } from '../ids/id_out_of_range.js';
import { sharedUniformSplits } from '../ids/row_splits.js';
import { perProcess } from '../base/per_process.js';
import { type Table, type TableKeys, tableOf } from '../backends/table.js';

/** One backward pass through one lookup: what an update kernel needs. All tensors are kept and owned by the queue. */
export interface QueuedGradient extends LookupGradient {
  readonly table: Table;
}

export interface LookupScope {
  /** Scalar variable that stands for all managed tables on the tape. */
  readonly anchor: tf.Variable;
  /** Whether the optimizer that opened the scope will step this table by rows. */
  manages(table: Table): boolean;
  /** Called in the forward pass with the ids that a lookup of a regularized table touches, once per lookup. */
  touch(table: Table, values: tf.Tensor1D): void;
  /**
   * The ids of the lookups so far in this pass, which stay the scope's; null when they were asked for before. A penalty
   * on touched rows is counted once per step, however many layers use the table.
   */
  takeTouched(table: Table): readonly tf.Tensor1D[] | null;
  /** Whether gradients are taken for the optimizer itself now, and not by other code within its pass. */
  readonly isDifferentiating: boolean;
  /** Called where a lookup finds rows by keys: their step begins, if it has not, and ends as that of the optimizer does. */
  open(keys: TableKeys): void;
  /** Called in the backward pass. */
  push(entry: QueuedGradient): void;
}

const open = (): { scope: LookupScope | null } => perProcess('lookup scope', () => ({ scope: null }));

/** The scope of the optimizer that is computing gradients; null while none is. */
export function lookupScope(): LookupScope | null {
  return open().scope;
}

/** Runs `f` within a scope, which ends with it. */
export function withLookupScope<T>(scope: LookupScope, f: () => T): T {
  const shared = open();
  const outer = shared.scope;
  shared.scope = scope;
  try {
    return f();
  } finally {
    shared.scope = outer;
  }
}

/** Runs lookups of all tables in one call: devices then work at the same time. */
export function runLookups(lookups: readonly Lookup[]): LookedUp[] {
  const run = (list: readonly Lookup[]): LookedUp[] => currentBackend().lookUp(list);
  return withoutTape(() => {
    if (lookups.length === 1) return withPublicErrors(() => run(lookups), lookups[0]!.table);
    try {
      return run(lookups);
    } catch (error) {
      // One by one it is said which table the id is not in.
      if (error instanceof IdOutOfRange)
        lookups.forEach((lookup) => withPublicErrors(() => run([lookup]), lookup.table));
      throw error;
    }
  });
}

/** Rows of a table by their numbers, row-major, in any order; zeros for a number that none has. Nothing is on the tape. */
export function readRowsAt(table: tf.Variable, rows: Int32Array): Float32Array {
  let numbers: Float32Array = new Float32Array(0);
  tf.tidy(() => {
    const values = tf.tensor1d(rows, 'int32');
    const rowSplits = tf.tensor1d(sharedUniformSplits(rows.length, 1), 'int32');
    const options: BagOptions = { ...SINGLE_ROW, outOfRange: 'zero' };
    const [found] = runLookups([{ table: tableOf(table), bags: { values, rowSplits, weights: null }, options }]);
    // Returned from here it would be looked through for tensors, number by number.
    numbers = found!.pooled.dataSync<'float32'>();
  });
  return numbers;
}

/** Starts lookups of a batch to come where the backend does that; arguments were checked. Call inside a tidy. */
export function lookAhead(lookups: readonly Lookup[]): void {
  const run = lookups.filter(({ table }) => table.elsewhere === undefined).map(withoutMax);
  for (const { table, bags } of lookups) table.elsewhere?.prefetch(bags.values.dataSync<'int32'>());
  if (run.length === 0) return;
  withoutTape(() => {
    storeInUse().prefetch?.(run);
    return [];
  });
}

/** The gradient of a lookup as that of single rows where the combiner is `max`, for which the table is read. */
export function gradientWithoutMax(of: LookupGradient, table: Table | null): LookupGradient {
  if (of.options.combiner !== 'max') return of;
  if (table === null) throw new ArgumentTypeError('table', `the table, because the combiner is 'max'`, undefined);
  const single = withoutMax({ ...of, table });
  const [found] = runLookups([single]);
  return { ...single, gradient: gradientOfMax(found!.pooled, of.bags.rowSplits, of.gradient) };
}

/** What one lookup adds to the gradient of a table with so many rows; `table` is read for `maxNorm` and `max`. */
export function rowGradients(given: LookupGradient, rows: number, table: Table | null): RowGradientTensors {
  const of = gradientWithoutMax(given, table);
  return withPublicErrors(
    () => currentBackend().gradient.byRow(of, rows, table),
    of.options.maxNorm > 0 ? table : null,
  );
}

/** The gradient of a lookup with respect to its weights, [nnz], which has none of its own. */
function weightsGradient(table: Table, of: LookupGradient): tf.Tensor1D {
  const refuse = (): never => refuseSecond('the gradient of a lookup with respect to its weights');
  return withLazyGradient(
    { table: table.tensor, gradient: of.gradient, weights: of.bags.weights! },
    () => withPublicErrors(() => currentBackend().gradient.byWeight(table, of), table),
    () => ({ table: refuse, gradient: refuse, weights: refuse }),
  ) as tf.Tensor1D;
}

/** The tensors of a batch, for the tape to save, in the order in which `asBags` reads them. */
export function present({ values, rowSplits, weights }: BagTensors): tf.Tensor[] {
  return weights === null ? [values, rowSplits] : [values, rowSplits, weights];
}

function asBags([values, rowSplits, weights]: tf.Tensor[]): BagTensors {
  return { values, rowSplits, weights: weights ?? null } as BagTensors;
}

/** The name of a table, unless tfjs made it up. */
function nameOf(table: Table | null | undefined): string | null {
  if (!(table?.tensor instanceof tf.Variable)) return null;
  const { name } = table;
  return /^\d+$/.test(name) ? null : `table ${name}`;
}

/** Runs `run`; an id outside the table becomes a ValueError that names id, position, the table and its rows. */
export function withPublicErrors<T>(run: () => T, table?: Table | null): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof IdOutOfRange)) throw error;
    const { id, position, rows } = error;
    const note =
      id < 0
        ? 'Where negative ids stand for nothing (padding): raggedEmbedding, or safeEmbeddingLookup.'
        : `Use outOfRange: 'zero' to take such rows as zeros.`;
    throw outOfRangeError({
      id,
      rows,
      position,
      place: `position ${position} of the values`,
      owner: nameOf(table),
      argument: 'ids',
      expected: `ids in [0, ${rows})`,
      note,
      batchRow: null,
    });
  }
}

/** Puts a lookup that has run on the tape, with a gradient of the table's shape, as stock optimizers need it. */
function withDenseGradient({ table, bags, options }: Lookup, { pooled }: LookedUp): tf.Tensor2D {
  const matrix = table.tensor;
  if (!table.isPlain) return withGradientOfWeights({ table, bags, options }, pooled);
  return withLazyGradient(
    bags.weights === null ? { table: matrix } : { table: matrix, weights: bags.weights },
    (save) => {
      save([matrix, ...present(bags)]);
      return pooled;
    },
    (dy, [saved, ...rest]) => {
      const ofLookup = { gradient: dy as tf.Tensor2D, bags: asBags(rest), options };
      return {
        table: () => denseTableGradient(saved as tf.Tensor2D, ofLookup),
        weights: () => weightsGradient(tableOf(saved!), ofLookup),
      };
    },
  ) as tf.Tensor2D;
}

/**
 * Puts a lookup of packed rows on the tape, where the table stands for a constant. Taking the gradient of one that
 * is to be trained throws and says what trains it.
 */
function withGradientOfWeights({ table, bags, options }: Lookup, pooled: tf.Tensor2D): tf.Tensor2D {
  const isTrained = table.tensor instanceof tf.Variable && table.variable.trainable;
  if (bags.weights === null && !isTrained) return pooled;
  return withLazyGradient(
    { ...(isTrained ? { table: table.tensor } : {}), ...(bags.weights && { weights: bags.weights }) },
    (save) => {
      save(present(bags));
      return pooled;
    },
    (dy, saved) => ({
      table: () => refusePackedGradient(table),
      weights: () => weightsGradient(table, { gradient: dy as tf.Tensor2D, bags: asBags(saved), options }),
    }),
  ) as tf.Tensor2D;
}

function refusePackedGradient(table: Table): never {
  const expected = `an emb.train optimizer, because table ${table.name} has storage 'float16'`;
  throw new ValueError('optimizer', expected, described('a stock optimizer, or tf.variableGrads'));
}

/**
 * The dense gradient: as large as the table. It is linear in the pooled gradient, and the lookup itself is its
 * transpose, so it can be differentiated again; not with respect to weights, nor under maxNorm.
 */
function denseTableGradient(table: tf.Tensor2D, { gradient, bags, options }: LookupGradient): tf.Tensor2D {
  const refuse = (): never => refuseSecond('the gradient of a lookup with weights or maxNorm');
  const isLinear = options.maxNorm === 0;
  const others = { ...(bags.weights && { weights: bags.weights }), ...(isLinear ? {} : { table }) };
  return withLazyGradient(
    { gradient, ...others },
    (save) => {
      const rows = rowGradients({ gradient, bags, options }, table.shape[0], tableOf(table));
      save(present(bags));
      if (rows.uniqueIds.size === 0) return tf.zerosLike(table);
      return tf.scatterND(rows.uniqueIds.expandDims(1) as tf.Tensor2D, rows.rowGradients, table.shape);
    },
    (dy, saved) => ({
      gradient: () => {
        if (!isLinear) return refuse();
        const lookup = { table: tableOf(dy as tf.Tensor2D), bags: asBags(saved), options };
        return withDenseGradient(lookup, runLookups([lookup])[0]!);
      },
      weights: refuse,
      table: refuse,
    }),
  ) as tf.Tensor2D;
}

/** Returns the pooled rows [batch, dim] of each lookup; arguments were checked. Call inside a tidy. */
export function lookUp(lookups: readonly Lookup[]): tf.Tensor2D[] {
  const managed = lookups.filter(({ table }) => scopeOf(table) !== null);
  for (const { table } of managed) table.checkConstraint();
  const found = lookUpUnrecorded(lookups);
  // Noted when nothing is wrong with the ids: the caller may ask again, without some of them.
  for (const { table, bags } of managed) {
    if (table.settings?.regularized === true) scopeOf(table)!.touch(table, bags.values);
  }
  return found;
}

/** The same lookups, never recorded for a penalty: penalties themselves look rows up. */
export function lookUpUnrecorded(given: readonly Lookup[]): tf.Tensor2D[] {
  if (given.length === 0) return [];
  const lookups = given.find(({ table }) => table.elsewhere)?.table.elsewhere!.atRows(given) ?? given;
  const run = lookups.map(withoutMax);
  const found = runLookups(run);
  return run.map((lookup, i) => {
    const { bags, options } = lookups[i]!;
    const rows = onTape(lookup, found[i]!);
    return options.combiner === 'max' ? maxPooled(rows, bags.rowSplits) : rows;
  });
}

function onTape(lookup: Lookup, found: LookedUp): tf.Tensor2D {
  // No gradient will be taken.
  if (!isTapeOn()) return found.pooled;
  const scope = scopeOf(lookup.table);
  return scope === null ? withDenseGradient(lookup, found) : withRowGradient(scope, lookup, found);
}

/** The scope of the optimizer that steps this table by rows; null where there is none. */
function scopeOf(table: Table): LookupScope | null {
  const scope = lookupScope();
  return scope !== null && table.tensor instanceof tf.Variable && scope.manages(table) ? scope : null;
}

/**
 * Puts a lookup of a managed table on the tape: there it depends on the anchor of the pass (and on the weights), and its
 * backward pass queues what an update kernel needs instead of a gradient as large as the table.
 */
function withRowGradient(
  scope: LookupScope,
  { table, bags, options }: Lookup,
  { pooled, handle }: LookedUp,
): tf.Tensor2D {
  const inputs = bags.weights === null ? { anchor: scope.anchor } : { anchor: scope.anchor, weights: bags.weights };
  return withLazyGradient(
    inputs,
    (save) => {
      save(present(bags));
      return pooled;
    },
    // What the backward pass needs comes through `saved`: tensors local to a layer's call are disposed by then.
    (dy, saved) => ({
      anchor: () => {
        const receiver = receivingScope(table);
        const [gradient, ...kept] = [dy, ...saved].map((tensor) => tf.keep(tensor.clone()));
        const ofLookup = { gradient: gradient as tf.Tensor2D, bags: asBags(kept), options, handle };
        receiver.push({ table, ...ofLookup });
        return tf.scalar(0);
      },
      weights: () => {
        const ofLookup = { gradient: dy as tf.Tensor2D, bags: asBags(saved), options };
        return weightsGradient(table, ofLookup);
      },
    }),
  ) as tf.Tensor2D;
}

/** What takes gradients now: not the optimizer of the lookup where one pass runs within another. */
export function receivingScope(table: Table): LookupScope {
  const scope = lookupScope();
  if (scope?.isDifferentiating === true) return scope;
  throw new RuntimeError(
    'gradient',
    `computeGradients of an emb.train optimizer within the step that looks up ${nameOf(table) ?? 'the table'}`,
    described('tf.variableGrads or a stock optimizer'),
  );
}
