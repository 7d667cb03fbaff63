/**
 * Ragged rows within a model. tfjs passes on tensors only, and wants one batch size on all inputs: so a tensor
 * [rows, longest] without data stands for the rows, and layers of this package look up what it stands for. Whatever else
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

interface StandIn {
  readonly rows: RaggedRows;
  /** What the input is called in errors. */
  readonly name: string;
  /** Whether the rows go with it. */
  readonly owns: boolean;
}

const standIns = (): WeakMap<object, StandIn> => perProcess('ragged stand-ins', () => new WeakMap());

function unreadable(dataId: object): ValueError {
  const name = standIns().get(dataId)?.name ?? 'x';
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
    if (known?.owns === true) tf.dispose([known.rows.values, known.rows.rowSplits]);
    return true;
  }
}

const holder = (): StandInBackend => perProcess('holder of ragged stand-ins', () => new StandInBackend());

/** How a stand-in is made. */
export interface StandInOptions {
  readonly name: string;
  /** [rows, longest]; the second is a limit, and shown where shapes are. */
  readonly shape: readonly [rows: number, longest: number];
  /** Whether the rows are disposed of with it. */
  readonly owns: boolean;
}

/** A tensor that stands for these rows; belongs to the scope of the caller. */
export function standInFor(rows: RaggedRows, { name, shape, owns }: StandInOptions): tf.Tensor2D {
  const engine = tf.engine() as unknown as {
    makeTensorFromTensorInfo(info: tf.TensorInfo, backend: tf.KernelBackend): tf.Tensor2D;
  };
  const dataId = {};
  if (owns) for (const tensor of [rows.values, rows.rowSplits]) tf.keep(tensor);
  standIns().set(dataId, { rows, name, owns });
  return engine.makeTensorFromTensorInfo({ dataId, shape: [...shape], dtype: rows.values.dtype }, holder());
}

/** The rows that a tensor stands for; null: it is an ordinary one, or no tensor. */
export function raggedRowsOf(value: unknown): RaggedRows | null {
  return value instanceof tf.Tensor ? (standIns().get(value.dataId)?.rows ?? null) : null;
}

export function isStandIn(value: unknown): value is tf.Tensor2D {
  return raggedRowsOf(value) !== null;
}

/** A stand-in for other rows of the same input; `owns` as there. Belongs to the scope of the caller. */
export function standInLike(like: tf.Tensor2D, rows: RaggedRows, owns: boolean): tf.Tensor2D {
  const { name, rows: known } = standIns().get(like.dataId)!;
  return standInFor(
    { ...rows, length: known.length ?? null },
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
    const ragged = raggedRowsOf(tensor);
    if (ragged === null) return tf.gather(tensor, rows) as T;
    const taken = takeRaggedRows(ragged, rows.dataSync<'int32'>());
    return standInLike(tensor as unknown as tf.Tensor2D, taken, true) as unknown as T;
  });
}
