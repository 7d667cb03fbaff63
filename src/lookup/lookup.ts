/** Pooled lookups with their gradients: every lookup of this package goes through here, many tables in one call. */
import * as tf from '@tensorflow/tfjs';
import type { LookedUp, Lookup, LookupGradient, RowGradientTensors } from '../backends/contract.js';
import { ArgumentTypeError, RuntimeError, described, ValueError } from '../base/errors.js';
import { gradientOfMax, maxPooled, withoutMax } from './max_pooling.js';
import { isTapeOn, withLazyGradient, refuseSecond, withoutTape } from '../tfjs/lazy_gradient.js';
import { isPlain, IdOutOfRange } from '../backends/kernel_set.js';
import type { BagTensors } from '../backends/bag_tensors.js';
import { currentBackend } from '../backends/registry.js';
import { outOfRangeError } from '../ids/id_out_of_range.js';
import { perProcess } from '../base/per_process.js';
import type { OptimizerName } from '../rules/rules.js';
import type { Settings, RowConstraint } from '../rules/optimizer_settings.js';

/** Names of variables that tfjs does not know by name: slots of optimizers, tables of the TPU embedding API. */
const given = (): WeakMap<tf.Variable, string> => perProcess('names of variables', () => new WeakMap());

/** Notes what a variable without a name of its own is. */
export function nameVariable(variable: tf.Variable, name: string): void {
  given().set(variable, name);
}

/** Names that tfjs makes up, anew in each process, in the order in which variables are made. */
export function isAnonymous(name: string): boolean {
  return /^(\d+|variable(_\d+)?)$/.test(name);
}

/** The name that its layer, its optimizer or its maker gave to a variable; its shape where there is none. */
export function variableText(variable: tf.Variable): string {
  const name = tableSettings(variable)?.name ?? given().get(variable) ?? variable.name;
  return isAnonymous(name) ? `without a name, of shape [${variable.shape.join(', ')}]` : name;
}

/** What steps a table: an `emb.train` optimizer. */
export interface TableOptimizer {
  /** Which update kernel it runs. */
  readonly optimizerName: OptimizerName;
  readonly settings: Readonly<Settings>;
}

interface TableSettings {
  /** Stable name `<layer or table>/embeddings`: saved slots are found again by it. */
  readonly name: string;
  /** The table's own optimizer, which overrides the one of `compile`. */
  readonly optimizer: TableOptimizer | null;
  readonly constraint: RowConstraint | null;
  /** Whether lookups must be recorded for a penalty on the touched rows. */
  readonly regularized: boolean;
  /** Seed of stochastic rounding, where rows are float16. */
  readonly roundingSeed?: number;
}

/** What layers say of their tables. */
const known = (): WeakMap<tf.Variable, TableSettings> => perProcess('table settings', () => new WeakMap());

export function setTableSettings(table: tf.Variable, settings: TableSettings): void {
  known().set(table, settings);
}

export function tableSettings(table: tf.Variable): TableSettings | undefined {
  return known().get(table);
}

/** The tables of a stable name: models of one process may have one each. */
export function tablesNamed(name: string): tf.Variable[] {
  return Object.values(tf.engine().registeredVariables).filter((variable) => tableSettings(variable)?.name === name);
}

/** Refuses constraints that cannot be kept by looking at touched rows alone. */
export function checkRowConstraint(settings: TableSettings | undefined): void {
  if (settings?.constraint?.kind !== 'axis') return;
  throw new ValueError(
    'embeddingsConstraint',
    'a constraint along axis 1 (the rows), such as maxNorm({axis: 1}), or nonNeg, under an emb.train optimizer',
    'another axis',
  );
}

/** One backward pass through one lookup: what an update kernel needs. All tensors are kept and owned by the queue. */
export interface QueuedGradient extends LookupGradient {
  readonly table: tf.Variable;
}

export interface LookupScope {
  /** Scalar variable that stands for all managed tables on the tape. */
  readonly anchor: tf.Variable;
  /** Whether the optimizer that opened the scope will step this table by rows. */
  manages(table: tf.Variable): boolean;
  /** Called in the forward pass with the ids that a lookup of a regularized table touches, once per lookup. */
  touch(table: tf.Variable, values: tf.Tensor1D): void;
  /**
   * The ids of the lookups so far in this pass, which stay the scope's; null when they were asked for before. A penalty
   * on touched rows is counted once per step, however many layers use the table.
   */
  takeTouched(table: tf.Variable): readonly tf.Tensor1D[] | null;
  /** Whether gradients are taken for the optimizer itself now, and not by other code within its pass. */
  readonly isDifferentiating: boolean;
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

/** Starts lookups of a batch to come where the backend does that; arguments were checked. Call inside a tidy. */
export function lookAhead(lookups: readonly Lookup[]): void {
  const run = lookups.map(withoutMax);
  withoutTape(() => {
    currentBackend().ahead?.(run);
    return [];
  });
}

/** The gradient of a lookup as that of single rows where the combiner is `max`, for which the table is read. */
export function gradientWithoutMax(of: LookupGradient, table: tf.Tensor2D | null): LookupGradient {
  if (of.options.combiner !== 'max') return of;
  if (table === null) throw new ArgumentTypeError('table', `the table, because the combiner is 'max'`, undefined);
  const single = withoutMax({ ...of, table });
  const [found] = runLookups([single]);
  return { ...single, gradient: gradientOfMax(found!.pooled, of.bags.rowSplits, of.gradient) };
}

/** What one lookup adds to the gradient of a table with so many rows; `table` is read for `maxNorm` and `max`. */
export function rowGradients(given: LookupGradient, rows: number, table: tf.Tensor2D | null): RowGradientTensors {
  const of = gradientWithoutMax(given, table);
  return withPublicErrors(
    () => currentBackend().gradient.byRow(of, rows, table),
    of.options.maxNorm > 0 ? table : null,
  );
}

/** The gradient of a lookup with respect to its weights, [nnz], which has none of its own. */
function weightsGradient(table: tf.Tensor2D, of: LookupGradient): tf.Tensor1D {
  const refuse = (): never => refuseSecond('the gradient of a lookup with respect to its weights');
  return withLazyGradient(
    { table, gradient: of.gradient, weights: of.bags.weights! },
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
function nameOf(table: tf.Tensor | null | undefined): string | null {
  if (!(table instanceof tf.Variable)) return null;
  const name = tableSettings(table)?.name ?? table.name;
  return /^\d+$/.test(name) ? null : `table ${name}`;
}

/** Runs `run`; an id outside the table becomes a ValueError that names id, position, the table and its rows. */
export function withPublicErrors<T>(run: () => T, table?: tf.Tensor | null): T {
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
  const matrix = table as tf.Tensor2D;
  if (!isPlain(table)) return withGradientOfWeights({ table, bags, options }, pooled);
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
        weights: () => weightsGradient(saved as tf.Tensor2D, ofLookup),
      };
    },
  ) as tf.Tensor2D;
}

/**
 * Puts a lookup of packed rows on the tape, where the table stands for a constant. Taking the gradient of one that
 * is to be trained throws and says what trains it.
 */
function withGradientOfWeights({ table, bags, options }: Lookup, pooled: tf.Tensor2D): tf.Tensor2D {
  const isTrained = table instanceof tf.Variable && table.trainable;
  if (bags.weights === null && !isTrained) return pooled;
  return withLazyGradient(
    { ...(isTrained ? { table } : {}), ...(bags.weights && { weights: bags.weights }) },
    (save) => {
      save(present(bags));
      return pooled;
    },
    (dy, saved) => ({
      table: () => refusePackedGradient(table as tf.Variable),
      weights: () =>
        weightsGradient(table as tf.Tensor2D, { gradient: dy as tf.Tensor2D, bags: asBags(saved), options }),
    }),
  ) as tf.Tensor2D;
}

function refusePackedGradient(table: tf.Variable): never {
  const name = tableSettings(table)?.name ?? table.name;
  const expected = `an emb.train optimizer, because table ${name} has storage 'float16'`;
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
      const rows = rowGradients({ gradient, bags, options }, table.shape[0], table);
      save(present(bags));
      if (rows.uniqueIds.size === 0) return tf.zerosLike(table);
      return tf.scatterND(rows.uniqueIds.expandDims(1) as tf.Tensor2D, rows.rowGradients, table.shape);
    },
    (dy, saved) => ({
      gradient: () => {
        if (!isLinear) return refuse();
        const lookup = { table: dy as tf.Tensor2D, bags: asBags(saved), options };
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
  for (const { table } of managed) checkRowConstraint(tableSettings(table as tf.Variable));
  const found = lookUpUnrecorded(lookups);
  // Noted when nothing is wrong with the ids: the caller may ask again, without some of them.
  for (const { table, bags } of managed) {
    if (tableSettings(table as tf.Variable)?.regularized !== true) continue;
    scopeOf(table)!.touch(table as tf.Variable, bags.values);
  }
  return found;
}

/** The same lookups, never recorded for a penalty: penalties themselves look rows up. */
export function lookUpUnrecorded(lookups: readonly Lookup[]): tf.Tensor2D[] {
  if (lookups.length === 0) return [];
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
function scopeOf(table: tf.Tensor2D | tf.Variable): LookupScope | null {
  const scope = lookupScope();
  return scope !== null && table instanceof tf.Variable && scope.manages(table) ? scope : null;
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
        const receiver = receivingScope(table as tf.Variable);
        const [gradient, ...kept] = [dy, ...saved].map((tensor) => tf.keep(tensor.clone()));
        const ofLookup = { gradient: gradient as tf.Tensor2D, bags: asBags(kept), options, handle };
        receiver.push({ table: table as tf.Variable, ...ofLookup });
        return tf.scalar(0);
      },
      weights: () => {
        const ofLookup = { gradient: dy as tf.Tensor2D, bags: asBags(saved), options };
        return weightsGradient(table as tf.Tensor2D, ofLookup);
      },
    }),
  ) as tf.Tensor2D;
}

/** What takes gradients now: not the optimizer of the lookup where one pass runs within another. */
export function receivingScope(table: tf.Variable): LookupScope {
  const scope = lookupScope();
  if (scope?.isDifferentiating === true) return scope;
  throw new RuntimeError(
    'gradient',
    `computeGradients of an emb.train optimizer within the step that looks up the table ${variableText(table)}`,
    described('tf.variableGrads or a stock optimizer'),
  );
}
