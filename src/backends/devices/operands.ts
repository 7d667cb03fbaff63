/** What commands read and write: ids and rows in the exchange memory, and rows in tensors that TensorFlow shares. */
import { RuntimeError, described } from '../../base/errors.js';
import type { BagOptions, HostBags } from '../kernel_set.js';
import type { Addon } from '../native/addon.js';
import { CsrBuckets } from './csr_buckets.js';
import type { BagsAt, EntryAt, ExchangeMemory, RowsAt, SharedRowsAt } from './device.js';
import { Scratch, UniformSplits } from './exchange_memory.js';

/** Some bags of a batch. */
export interface PartOfBags extends HostBags {
  /** Place of the first of their values in the batch. */
  readonly first: number;
}

/** Ids and the gradients of their rows. */
export interface RowGradients {
  readonly ids: Int32Array;
  readonly gradients: Float32Array;
}

/** Reads and writes shared tensors of TensorFlow. */
export type Sharing = Pick<Addon, 'readSharedTensor' | 'writeSharedTensor'>;

export class Operands {
  readonly uniform = new UniformSplits();
  /** Memory of the command that runs. */
  readonly scratch = new Scratch();

  constructor(
    readonly exchange: () => Pick<ExchangeMemory, 'floats' | 'ints'>,
    /** null where there is no addon. */
    private readonly sharing: Sharing | null,
  ) {}

  /** The bags that are meant, with splits from 0 on. */
  bags(given: BagsAt): PartOfBags {
    const exchange = this.exchange();
    if ('csr' in given) {
      return { first: 0, ...new CsrBuckets(exchange, given.csr, this.scratch).bags(given, this.uniform) };
    }
    const { floats, ints } = exchange;
    const { values, rowSplits, length, weights, firstBag, bags } = given;
    const splits = rowSplits === null ? null : ints.subarray(rowSplits + firstBag, rowSplits + firstBag + bags + 1);
    const start = splits === null ? firstBag * length : splits[0]!;
    const end = splits === null ? (firstBag + bags) * length : splits[bags]!;
    return {
      first: start,
      values: ints.subarray(values + start, values + end),
      rowSplits:
        splits === null ? this.uniform.of(bags, length) : start === 0 ? splits : splits.map((at) => at - start),
      weights: weights === null ? null : floats.subarray(weights + start, weights + end),
    };
  }

  /** A row for each of the bags, without gaps between them: where they lie, or a copy that is good for this command. */
  compact({ sharedKey, ...rows }: SharedRowsAt, { rowSplits }: HostBags, dim: number): Float32Array {
    const count = rowSplits.length - 1;
    const { floats } = this.exchange();
    if (sharedKey === null && rows.stride === dim) return floats.subarray(rows.at, rows.at + count * dim);
    const target = this.scratch.take(count * dim);
    this.copyRows({ sharedKey, ...rows }, count, dim, target);
    return target;
  }

  /** Copies rows to rows without gaps. */
  copyRows({ sharedKey, ...rows }: SharedRowsAt, count: number, dim: number, target: Float32Array): void {
    if (sharedKey === null) gather(this.exchange().floats, rows, dim, target, count);
    else this.shared().readSharedTensor(sharedKey, rows.at, rows.stride, count, dim, target);
  }

  /** Where rows without gaps may be written that then belong to `where`: itself, or scratch, which `putRows` copies. */
  room({ at, stride, sharedKey }: SharedRowsAt, count: number, dim: number): Float32Array {
    const size = count * dim;
    return sharedKey === null && stride === dim
      ? this.exchange().floats.subarray(at, at + size)
      : this.scratch.take(size);
  }

  /** Brings rows without gaps to where they belong; nothing where they were written there. */
  putRows(rows: Float32Array, where: SharedRowsAt, count: number, dim: number): void {
    const { at, stride, sharedKey } = where;
    if (sharedKey !== null) return this.shared().writeSharedTensor(sharedKey, at, stride, count, dim, rows);
    const { floats } = this.exchange();
    const isThere = rows.buffer === floats.buffer && rows.byteOffset === floats.byteOffset + 4 * at;
    if (!isThere) spread(rows, dim, floats, where, count);
  }

  /** Writes the gradients of uses by row, one use after the other: [count, ids (room), rows (room x dim)] from `out` on. */
  putRowGradients(found: readonly RowGradients[], dim: number, room: number, out: number): void {
    const { floats, ints } = this.exchange();
    let count = 0;
    for (const { ids, gradients } of found) {
      if (count + ids.length > room) {
        throw new RuntimeError('room', `at least ${count + ids.length} rows`, described(`${room}`));
      }
      ints.set(ids, out + 1 + count);
      floats.set(gradients, out + 1 + room + count * dim);
      count += ids.length;
    }
    ints[out] = count;
  }

  /** Frees all memory. */
  close(): void {
    this.scratch.close();
  }

  private shared(): Sharing {
    if (this.sharing !== null) return this.sharing;
    throw new RuntimeError('sharedKey', 'a device that shares tensors of TensorFlow', described('one that cannot'));
  }
}

/** Copies rows without gaps to rows with a stride. */
export function spread(
  source: Float32Array,
  dim: number,
  target: Float32Array,
  { at, stride }: RowsAt,
  rows: number,
): void {
  if (stride === dim) return target.set(source.subarray(0, rows * dim), at);
  for (let row = 0, from = 0, to = at; row < rows; row++, to += stride) {
    for (let column = 0; column < dim; column++) target[to + column] = source[from++]!;
  }
}

/** Copies rows with a stride to rows without gaps. */
export function gather(
  source: Float32Array,
  { at, stride }: RowsAt,
  dim: number,
  target: Float32Array,
  rows: number,
): void {
  if (stride === dim) return target.set(source.subarray(at, at + rows * dim));
  for (let row = 0, from = at, to = 0; row < rows; row++, from += stride) {
    for (let column = 0; column < dim; column++) target[to++] = source[from + column]!;
  }
}

/** A use of a table in a step. */
export interface UseForm {
  readonly options: BagOptions;
  readonly isWeighted: boolean;
  /** Its gradient is one of rows already: bags are single ids that occur once. */
  readonly ofRows: boolean;
}

export function useForm({ options, ofRows }: EntryAt, { weights }: HostBags): UseForm {
  return { options, ofRows, isWeighted: weights !== null };
}

/** Whether uses of a table can be one batch: of bags, under the same options, all with weights or none. */
export function areAlike(uses: readonly UseForm[]): boolean {
  const [first] = uses as [UseForm];
  const { options } = first;
  return uses.every(({ options: { combiner, outOfRange, maxNorm }, isWeighted, ofRows }) => {
    const isSame = combiner === options.combiner && outOfRange === options.outOfRange && maxNorm === options.maxNorm;
    return isSame && !ofRows && isWeighted === first.isWeighted;
  });
}
