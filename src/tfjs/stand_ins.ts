/**
 * Ragged rows, and keys, within a model. tfjs passes on tensors only, and wants one batch size on all inputs: so a tensor
 * [rows, longest] without data stands for them, and layers of this package look up what it stands for. Whatever else
 * reads it gets an error with the line to write.
 */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../base/errors.js';
import { perProcess } from '../base/per_process.js';
import { takeEntries } from '../ids/ragged_entries.js';

/** Flat values, int32 ids or float32 weights, and the splits of their rows. */
export interface RaggedRows {
  readonly values: tf.Tensor1D;
  /** int32 [rows + 1]. */
  readonly rowSplits: tf.Tensor1D;
  /** How many values each row has where rows come side by side; by default as many as the longest. */
  readonly length?: number | null;
}

/** Keys of tables that find their rows by them. */
export interface KeyedRows {
  /** Of the tensor that stands for them. */
  readonly shape: readonly number[];
  /** The keys of these rows, in their order. */
  take(rows: Int32Array): KeyedRows;
}

function isRagged(rows: RaggedRows | KeyedRows): rows is RaggedRows {
  return 'values' in rows;
}

interface StandIn {
  readonly rows: RaggedRows | KeyedRows;
  /** What the input is called in errors. */
  readonly name: string;
  /** Whether the rows go with it. */
  readonly owns: boolean;
}

const standIns = (): WeakMap<object, StandIn> => perProcess('ragged stand-ins', () => new WeakMap());

function unreadable(dataId: object): ValueError {
  const { name = 'x', rows } = standIns().get(dataId) ?? {};
  if (rows !== undefined && !isRagged(rows)) {
    const advice = 'Only layers on an open table read it: emb.layers.embedding({table: emb.openTable(...)}).';
    return new ValueError(name, 'keys as a tensor', described('keys of an open table'), advice);
  }
  const note =
    'A layer or op of the model reads this input as a tensor. Pad its rows with the value that means nothing there: ' +
    `${name}.toPadded({defaultValue: 0}).`;
  return new ValueError(name, 'rows as a tensor', described('ragged rows'), note);
}

/** Holds stand-ins, which have no data: tfjs asks the backend of a tensor for what another one lacks. */
class StandInBackend extends tf.KernelBackend {
  override refCount(): number {
    return 1;
  }
  override incRef(): void {}
  override readSync(dataId: object): never {
    throw unreadable(dataId);
  }
  override read(dataId: object): Promise<never> {
    return Promise.reject(unreadable(dataId));
  }
  override disposeData(dataId: object): boolean {
    const known = standIns().get(dataId);
    standIns().delete(dataId);
    if (known?.owns === true && isRagged(known.rows)) tf.dispose([known.rows.values, known.rows.rowSplits]);
    return true;
  }
}

const holder = (): StandInBackend => perProcess('holder of ragged stand-ins', () => new StandInBackend());

/** How a stand-in is made. */
export interface StandInOptions {
  readonly name: string;
  /** [rows, longest]; the second is a limit, and shown where shapes are. */
  readonly shape: readonly number[];
  /** Whether the rows are disposed of with it. */
  readonly owns: boolean;
}

/** A tensor that stands for these rows; belongs to the scope of the caller. */
export function standInFor(rows: RaggedRows | KeyedRows, { name, shape, owns }: StandInOptions): tf.Tensor2D {
  const engine = tf.engine() as unknown as {
    makeTensorFromTensorInfo(info: tf.TensorInfo, backend: tf.KernelBackend): tf.Tensor2D;
  };
  const dataId = {};
  if (owns && isRagged(rows)) for (const tensor of [rows.values, rows.rowSplits]) tf.keep(tensor);
  standIns().set(dataId, { rows, name, owns });
  const dtype = isRagged(rows) ? rows.values.dtype : 'int32';
  return engine.makeTensorFromTensorInfo({ dataId, shape: [...shape], dtype }, holder());
}

/** The rows that a tensor stands for; null: it is an ordinary one, or no tensor. */
export function raggedRowsOf(value: unknown): RaggedRows | null {
  const rows = rowsBehind(value);
  return rows !== null && isRagged(rows) ? rows : null;
}

/** The keys that a tensor stands for; null: it is an ordinary one, or no tensor. */
export function keyedRowsOf(value: unknown): KeyedRows | null {
  const rows = rowsBehind(value);
  return rows !== null && !isRagged(rows) ? rows : null;
}

function rowsBehind(value: unknown): RaggedRows | KeyedRows | null {
  return value instanceof tf.Tensor ? (standIns().get(value.dataId)?.rows ?? null) : null;
}

export function isStandIn(value: unknown): value is tf.Tensor2D {
  return rowsBehind(value) !== null;
}

/** A tensor that stands for other keys of the same input. Belongs to the scope of the caller. */
export function keyedLike(like: tf.Tensor, rows: KeyedRows): tf.Tensor {
  const { name } = standIns().get(like.dataId)!;
  return standInFor(rows, { name, shape: rows.shape, owns: false });
}

/** A stand-in for other rows of the same input; `owns` as there. Belongs to the scope of the caller. */
export function standInLike(like: tf.Tensor2D, rows: RaggedRows, owns: boolean): tf.Tensor2D {
  const { name } = standIns().get(like.dataId)!;
  return standInFor(
    { ...rows, length: raggedRowsOf(like)!.length ?? null },
    { name, shape: [rows.rowSplits.size - 1, like.shape[1]], owns },
  );
}

/** The rows of these numbers, in their order, on the host. Belongs to the scope of the caller. */
function takeRaggedRows({ values, rowSplits }: RaggedRows, order: Int32Array): RaggedRows {
  const all = { splits: [rowSplits.dataSync<'int32'>()], values: values.dataSync<'int32'>(), size: 1 };
  const taken = takeEntries(all, order);
  return {
    values: tf.tensor1d(taken.values, values.dtype as 'int32'),
    rowSplits: tf.tensor1d(taken.splits[0]!, 'int32'),
  };
}

/** Rows of data, of which some may be stand-ins, by their numbers. Call inside a tidy. */
export function takeRows<T extends tf.Tensor | null | undefined>(data: readonly T[], rows: tf.Tensor1D): T[] {
  return data.map((tensor) => {
    if (tensor === null || tensor === undefined) return tensor;
    const keyed = keyedRowsOf(tensor);
    if (keyed !== null) return keyedLike(tensor, keyed.take(rows.dataSync<'int32'>())) as unknown as T;
    const ragged = raggedRowsOf(tensor);
    if (ragged === null) return tf.gather(tensor, rows) as T;
    const taken = takeRaggedRows(ragged, rows.dataSync<'int32'>());
    return standInLike(tensor as unknown as tf.Tensor2D, taken, true) as unknown as T;
  });
}
