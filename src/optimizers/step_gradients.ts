/** The gradients of one step: those of tables, which are stepped by rows, and all others. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import {
  isAnonymous,
  numbersShape,
  type Table,
  type TableKeys,
  type TableRows,
  tableOf,
  variableText,
} from '../backends/table.js';
import { type LookupScope, type QueuedGradient, rowGradients, withPublicErrors, present } from '../lookup/lookup.js';
import { TRAINED_STORAGES } from '../codecs/codecs.js';
import type { NamedTensor } from '../base/types.js';
import { IndexedSlices, checkLive, sumOfSquares } from './indexed_slices.js';
import { ofRows, united } from '../backends/kernel_calls.js';
import type { RowGradientTensors, TableUpdate } from '../backends/contract.js';
import { currentBackend, storeInUse } from '../backends/registry.js';
import { checkWhole } from '../base/live_tensor.js';
import { isRecord } from '../base/options.js';
import { learningRateAt, type Settings } from '../rules/optimizer_settings.js';

/** The open channel of one `computeGradients`, and the entries that it collected. */
export class GradientQueue implements LookupScope {
  readonly #entries: QueuedGradient[] = [];
  readonly #touched = new Map<Table, tf.Tensor1D[]>();
  readonly #taken = new Set<Table>();
  readonly #open = new Set<TableKeys>();
  readonly #managed: ReadonlySet<tf.Variable> | null;
  readonly #depth = tf.engine().state.gradientDepth;

  /** `varList`: the variables to train; null stands for all trainable ones. */
  constructor(
    readonly anchor: tf.Variable,
    varList: readonly tf.Variable[] | null,
  ) {
    this.#managed = varList === null ? null : new Set(varList);
  }

  manages({ variable, elsewhere }: Table): boolean {
    // A table that was frozen after compile is still in the list: its own flag decides. No list has one of a file.
    return variable.trainable && (this.#managed === null || elsewhere !== undefined || this.#managed.has(variable));
  }

  touch(table: Table, values: tf.Tensor1D): void {
    const known = this.#touched.get(table);
    const kept = tf.keep(values.clone());
    if (known === undefined) this.#touched.set(table, [kept]);
    else known.push(kept);
  }

  takeTouched(table: Table): readonly tf.Tensor1D[] | null {
    if (this.#taken.has(table)) return null;
    this.#taken.add(table);
    return this.#touched.get(table) ?? [];
  }

  get isDifferentiating(): boolean {
    return tf.engine().state.gradientDepth === this.#depth;
  }

  open(keys: TableKeys): void {
    if (this.#open.has(keys)) return;
    this.#open.add(keys);
    keys.begin();
  }

  /** Ends the step of the tables with keys, in which all went well or not. */
  end(isDone: boolean): void {
    for (const keys of this.#open) {
      if (isDone) keys.commit();
      else keys.undo();
    }
    this.#open.clear();
  }

  push(entry: QueuedGradient): void {
    // A pass within a pass meets lookups of the outer one, of tables that it need not manage.
    if (this.manages(entry.table)) this.#entries.push(entry);
    else disposeEntry(entry);
  }

  /** Entries by table, in the order in which tables came up. */
  byTable(): Map<Table, QueuedGradient[]> {
    const groups = new Map<Table, QueuedGradient[]>();
    for (const entry of this.#entries) {
      const group = groups.get(entry.table);
      if (group === undefined) groups.set(entry.table, [entry]);
      else group.push(entry);
    }
    return groups;
  }

  /** Disposes the ids kept for penalties; the entries live on until they are applied. */
  close(): void {
    for (const kept of this.#touched.values()) tf.dispose(kept);
    this.#touched.clear();
  }

  dispose(): void {
    this.close();
    this.end(false);
    this.#entries.forEach(disposeEntry);
    this.#entries.length = 0;
  }
}

function disposeEntry({ gradient, bags }: QueuedGradient): void {
  tf.dispose([gradient, ...present(bags)]);
}

type Rated = Pick<Settings, 'learningRate'>;

export class StepRates {
  readonly #known = new Map<Rated, { readonly by: Settings['learningRate']; readonly rate: number }>();

  /** The rate after `steps` steps. */
  of(settings: Rated, steps: number): number {
    const known = this.#known.get(settings);
    if (known?.by === settings.learningRate) return known.rate;
    const rate = learningRateAt(settings.learningRate, steps);
    // A function may set another rate, which is that of the next step.
    this.#known.set(settings, { by: settings.learningRate, rate });
    return rate;
  }

  /** Called where a step begins and where it ends. */
  forget(): void {
    this.#known.clear();
  }
}

/** The root of the sum of the squares of all gradients. Call inside a tidy. */
function globalNorm(gradients: readonly tf.Tensor[]): tf.Scalar {
  const squares = gradients.map(sumOfSquares);
  return squares.length === 0 ? tf.scalar(0) : tf.addN(squares).sqrt();
}

/** What scales gradients so that their common norm is at most `most`, and the norm before. Call inside a tidy. */
function scaleOf(gradients: readonly tf.Tensor[], most: number): { scale: tf.Scalar; norm: tf.Scalar } {
  const norm = globalNorm(gradients);
  // What is not finite spoils everything, so that it is seen: infinity times 0 is no number.
  return { scale: tf.div<tf.Scalar>(most, norm.maximum(most)).add<tf.Scalar>(norm.mul(0)), norm };
}

/** Scaled copies of gradients, whose common norm is at most `most`, and the norm before. Call inside a tidy. */
function clipTogether<G extends Gradient>(gradients: readonly G[], most: number): { clipped: G[]; norm: tf.Scalar } {
  const tensors = gradients.map((gradient) => (gradient instanceof tf.Tensor ? gradient : gradient.values));
  const { scale, norm } = scaleOf(tensors, most);
  return { clipped: gradients.map((gradient) => gradient.mul(scale) as G), norm };
}

function checkNorm(norm: unknown): number {
  const expected = 'a finite number > 0';
  if (typeof norm !== 'number') throw new ArgumentTypeError('norm', expected, norm);
  if (!(Math.fround(norm) > 0 && Math.fround(norm) < Infinity)) throw new ValueError('norm', expected, norm);
  return norm;
}

/**
 * Returns gradients scaled so that the L2 norm over all of them together is at most `norm`, and the norm that they had.
 *
 * `grads`: tensors and `IndexedSlices` by variable name, or a list of `{name, tensor}`; the result has the same form
 * and holds new tensors, all times `norm / max(norm, global norm)`; null stays null. The `norm` of the result is a
 * scalar. The gradients given stay the caller's to dispose, as the result is: `tf.dispose([grads, clipped])`. Where the
 * global norm is not finite, all gradients become NaN, so that it is seen.
 * Source: tf.clip_by_global_norm (TensorFlow 2.21).
 *
 * @throws TypeError for wrong types; ValueError for a norm that is not above 0; RuntimeError for disposed slices.
 *
 * @example
 * const { value, grads } = optimizer.computeGradients(loss);
 * const clipped = emb.train.clipByGlobalNorm(grads, 1);
 * optimizer.applyGradients(clipped.grads);
 * tf.dispose([value, grads, clipped]);
 */
export function clipByGlobalNorm<G extends Gradients>(grads: G, norm: number): { grads: G; norm: tf.Scalar } {
  const most = checkNorm(norm);
  const found = readGradients(grads);
  return tf.tidy(() => {
    const { clipped, norm: before } = clipTogether(
      found.map(({ gradient }) => gradient),
      most,
    );
    const byName = new Map(found.map(({ name }, i) => [name, clipped[i]!]));
    const again = Array.isArray(grads)
      ? grads.map(({ name, ...rest }) => ({ ...rest, name, tensor: byName.get(name) ?? null }))
      : Object.fromEntries(Object.keys(grads).map((name) => [name, byName.get(name) ?? null]));
    return { grads: again, norm: before } as never;
  });
}

/** The gradient of a table as `IndexedSlices`; of anything else, or of a whole table, as a tensor of its shape. */
export type Gradient = tf.Tensor | IndexedSlices;

/**
 * Gradients by variable name: `IndexedSlices` for tables, tensors for all else. Loose, because `tf.Optimizer` fixes the
 * type of this result as a map of tensors.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type GradientMap = Record<string, any>;

/** A gradient with the name of its variable. */
export interface NamedGradient {
  readonly name: string;
  readonly tensor: Gradient | null | undefined;
}

/** Gradients by name, or as a list; null stands for none. */
export type Gradients = Readonly<Record<string, Gradient | null | undefined>> | readonly NamedGradient[];

const EXPECTED = 'gradients by variable name, as computeGradients gives them';

function listOf(gradients: unknown): unknown[] {
  if (Array.isArray(gradients)) return gradients as unknown[];
  if (!isRecord(gradients)) throw new ArgumentTypeError('grads', EXPECTED, gradients);
  return Object.keys(gradients).map((name) => ({ name, tensor: gradients[name] }));
}

/** The gradients that are there, by variable name. */
export function readGradients(gradients: unknown): { name: string; gradient: Gradient }[] {
  const found: { name: string; gradient: Gradient }[] = [];
  const names = new Set<string>();
  for (const each of listOf(gradients)) {
    const { name, tensor } = (each ?? {}) as { name?: unknown; tensor?: unknown };
    if (typeof name !== 'string')
      throw new ArgumentTypeError('grads', `${EXPECTED}, or a list of {name, tensor}`, each);
    if (tensor === null || tensor === undefined) continue;
    const argument = `grads[${JSON.stringify(name)}]`;
    const isSlices = tensor instanceof IndexedSlices;
    if (isSlices) checkLive(tensor, argument);
    else if (!(tensor instanceof tf.Tensor)) throw new ArgumentTypeError(argument, 'a tensor or IndexedSlices', tensor);
    else checkWhole(tensor, argument);
    if (names.has(name)) throw new ValueError(argument, 'one gradient per variable', described('several'));
    names.add(name);
    found.push({ name, gradient: tensor });
  }
  return found;
}

/** Refuses to step rows where nothing steps them. */
export function checkTraining(table: Table, isLazy: boolean): void {
  const { codec } = table;
  if (table.elsewhere !== undefined && !isLazy) {
    throw new ValueError(
      'lazy',
      `true for table ${table.name}, whose rows lie in a file: a step would read all`,
      false,
    );
  }
  if (codec.isPlain) return;
  const name = variableText(table.variable);
  if (codec.training === null) {
    const expected = `${TRAINED_STORAGES} for table ${name}, which is stepped`;
    throw new ValueError('storage', expected, codec.name, `Rows of ${codec.name} are looked up alone.`);
  }
  if (storeInUse().trains(codec)) return;
  const expected = `cpu, wasm or tensorflow with native kernels for training table ${name} of storage '${codec.name}'`;
  throw new RuntimeError('backend', expected, tf.getBackend());
}

/** All that a batch said about one table. */
type TableGradient = Pick<TableUpdate, 'entries' | 'dense'>;

/** The sum over all uses of a table, by the rows that were touched, in the order of their ids. Call inside a tidy. */
function rowsOf(table: Table, given: TableGradient): RowGradientTensors {
  const one = united({ table, ...given }, currentBackend().gradient);
  const found = rowGradients(one, table.rows, table);
  return table.elsewhere === undefined ? found : inOrderOfIds(table.elsewhere, found);
}

/** Rows of a variable that holds some rows of its table, in the order of the ids that they have now. */
function inOrderOfIds(rows: TableRows, { uniqueIds, rowGradients: values }: RowGradientTensors): RowGradientTensors {
  const ids = rows.idsOf(uniqueIds.dataSync<'int32'>());
  const order = tf.tensor1d(
    Int32Array.from(ids.keys()).sort((a, b) => ids[a]! - ids[b]!),
    'int32',
  );
  return { uniqueIds: uniqueIds.gather(order), rowGradients: values.gather(order) };
}

/** The gradient as IndexedSlices, as callers get it. Call inside a tidy. */
export function slicesOf(table: Table, given: TableGradient): IndexedSlices {
  const { uniqueIds, rowGradients: values } = rowsOf(table, given);
  const { elsewhere } = table;
  if (elsewhere === undefined) return new IndexedSlices({ indices: uniqueIds, values, denseShape: table.shape });
  const indices = tf.tensor1d(elsewhere.idsOf(uniqueIds.dataSync<'int32'>()), 'int32');
  return new IndexedSlices({ indices, values, denseShape: [elsewhere.rows, table.dim] });
}

/** Converts IndexedSlices to a table gradient. Call inside a tidy. */
function ofSlices({ elsewhere }: Table, { indices, values }: IndexedSlices): TableGradient {
  if (elsewhere === undefined) return { entries: [ofRows(indices, values)], dense: null };
  const places = tf.tensor1d(elsewhere.toChange(indices.dataSync<'int32'>()), 'int32');
  return { entries: [ofRows(places, values)], dense: null };
}

/** Steps tables and their slots in place. */
export function stepTables(updates: readonly TableUpdate[]): void {
  withPublicErrors(() => currentBackend().step(updates));
}

export interface StepGradients {
  readonly tables: ReadonlyMap<Table, TableGradient>;
  readonly dense: readonly NamedTensor[];
}

/** `entries`: what came through lookups. Call inside a tidy. */
export function sortGradients(
  found: readonly { name: string; gradient: Gradient }[],
  entries: ReadonlyMap<Table, TableGradient['entries']>,
  isTable: (variable: tf.Variable) => boolean,
): StepGradients {
  const tables = new Map<Table, TableGradient>();
  for (const [table, ofLookups] of entries) tables.set(table, { entries: ofLookups, dense: null });
  const dense: NamedTensor[] = [];
  for (const { name, gradient } of found) {
    const variable = variableOf(name);
    if (gradient instanceof IndexedSlices) {
      checkFits(name, variable, gradient.denseShape);
      tables.set(tableOf(variable), ofSlices(tableOf(variable), gradient));
    } else if (isTable(variable)) {
      checkTensor(name, variable, gradient);
      const table = tableOf(variable);
      if (table.elsewhere !== undefined) {
        const expected = `IndexedSlices for table ${table.name}, whose rows lie in a file`;
        throw new ValueError(`grads[${JSON.stringify(name)}]`, expected, gradient);
      }
      tables.set(table, { entries: entries.get(table) ?? [], dense: gradient as tf.Tensor2D });
    } else {
      checkTensor(name, variable, gradient);
      dense.push({ name, tensor: gradient });
    }
  }
  return { tables, dense };
}

function variableOf(name: string): tf.Variable {
  const variable = tf.engine().registeredVariables[name];
  if (variable !== undefined) return variable;
  throw new ValueError('grads', 'gradients of variables that exist', described(`one of ${JSON.stringify(name)}`));
}

function checkFits(name: string, variable: tf.Variable, shape: readonly number[]): void {
  const { elsewhere, dim } = tableOf(variable);
  const own = elsewhere === undefined ? numbersShape(variable) : [elsewhere.rows, dim];
  if (tf.util.arraysEqual(own, shape as number[])) return;
  const argument = `grads[${JSON.stringify(name)}]`;
  const expected = `a gradient of shape [${own.join(', ')}]`;
  throw new ValueError(argument, expected, described(`shape [${shape.join(', ')}]`), noteOf(name, variable));
}

/** What a variable is whose own name is a number. */
function noteOf(name: string, variable: tf.Variable): string | undefined {
  return isAnonymous(name) ? `${JSON.stringify(name)} is the variable ${variableText(variable)}.` : undefined;
}

function checkTensor(name: string, variable: tf.Variable, gradient: tf.Tensor): void {
  const argument = `grads[${JSON.stringify(name)}]`;
  if (gradient.isDisposed) throw new RuntimeError(argument, 'a tensor in use', described('a disposed tensor'));
  if (gradient.dtype !== 'float32') throw new ArgumentTypeError(argument, 'a float32 tensor', gradient);
  checkFits(name, variable, gradient.shape);
}

/** Scales gradients so that their norm, over tables and all else together, is at most `most`. Call inside a tidy. */
export function clipStep({ tables, dense }: StepGradients, most: number): StepGradients {
  const list = [...tables].map(([table, gradient]) => ({ table, ...rowsOf(table, gradient) }));
  const tensors = dense.map(({ tensor }) => tensor);
  const { scale } = scaleOf([...list.map(({ rowGradients }) => rowGradients), ...tensors], most);
  const clipped = list.map(({ table, uniqueIds, rowGradients }): [Table, TableGradient] => {
    return [table, { entries: [ofRows(uniqueIds, rowGradients.mul(scale))], dense: null }];
  });
  return { tables: new Map(clipped), dense: dense.map(({ name, tensor }) => ({ name, tensor: tensor.mul(scale) })) };
}

/** The same for the tables that are chosen, by themselves. Call inside a tidy. */
export function clipTables(gradients: StepGradients, most: number, isChosen: (table: Table) => boolean): StepGradients {
  const chosen = new Map([...gradients.tables].filter(([table]) => isChosen(table)));
  const { tables } = clipStep({ tables: chosen, dense: [] }, most);
  return { ...gradients, tables: new Map([...gradients.tables, ...tables]) };
}
