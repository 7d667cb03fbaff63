/** Where the arrays of one call lie in the exchange memory: first all places are taken, then all are written. */
import type { ExchangeMemory, SharedRowsAt } from '../devices/device.js';
import type { TensorValues } from '../host/tensor_reader.js';

/** Arrays begin at cache lines. */
const ALIGNMENT = 16;

export class ExchangeLayout {
  private next: number;
  private readonly writes: ((memory: ExchangeMemory) => void)[] = [];

  /** `start`: words before it are kept as they are. */
  constructor(private readonly start = 0) {
    this.next = start;
  }

  /** Where the room that was taken ends. */
  get end(): number {
    return this.next;
  }

  /** Room for `words` words; returns where it begins. */
  take(words: number): number {
    const at = this.next;
    this.next = at + Math.ceil(words / ALIGNMENT) * ALIGNMENT;
    return at;
  }

  idsOf(values: TensorValues<Int32Array>): number {
    const at = this.take(values.size);
    this.writes.push(({ ints }) => values.copyTo(ints.subarray(at, at + values.size)));
    return at;
  }

  ints(values: Int32Array): number {
    const at = this.take(values.length);
    this.writes.push(({ ints }) => ints.set(values, at));
    return at;
  }

  floats(values: Float32Array): number {
    const at = this.take(values.length);
    this.writes.push(({ floats }) => floats.set(values, at));
    return at;
  }

  /** Where rows of `columns` floats of a tensor lie: here, or in the tensor itself where it is shared with devices. */
  rowsOf(values: TensorValues<Float32Array>, columns: number): SharedRowsAt {
    const { shared, size } = values;
    if (shared !== null) return { at: shared.at, stride: shared.stride, sharedKey: shared.key };
    const at = this.take(size);
    this.writes.push(({ floats }) => values.copyTo(floats.subarray(at, at + size)));
    return { at, stride: columns, sharedKey: null };
  }

  /** Room that `write` fills. */
  filled(words: number, write: (floats: Float32Array, at: number) => void): number {
    const at = this.take(words);
    this.writes.push(({ floats }) => write(floats, at));
    return at;
  }

  /** Writes everything. */
  write(memory: ExchangeMemory): void {
    memory.reserve(this.next, this.start);
    for (const write of this.writes) write(memory);
  }
}
