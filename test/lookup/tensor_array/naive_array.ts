/** The semantics of TensorFlow's V3 kernels for TensorArrays, as plainly as they can be written: float32 alone. */

export interface Value {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

interface Cell {
  value: Value | null;
  /** What is known of it without a value: zeros of this shape. */
  shape: readonly number[] | null;
  /** Not by a read of zeros. */
  isWritten: boolean;
  state: 'fresh' | 'written' | 'read' | 'cleared';
}

export interface NaiveSettings {
  readonly size: number;
  readonly elementShape: readonly (number | null)[] | null;
  readonly dynamicSize: boolean;
  readonly clearAfterRead: boolean;
}

/** What the kernels refuse: InvalidArgument, but for joins of nothing. */
export class Refused extends Error {
  constructor(readonly as: 'ValueError' | 'RuntimeError' = 'ValueError') {
    super(as);
  }
}

function need(condition: boolean, as?: 'ValueError' | 'RuntimeError'): void {
  if (!condition) throw new Refused(as);
}

const fresh = (): Cell => ({ value: null, shape: null, isWritten: false, state: 'fresh' });
const count = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);
const isSame = (a: readonly number[], b: readonly number[]): boolean => a.join() === b.join();

export class NaiveArray {
  readonly cells: Cell[];
  elementShape: readonly (number | null)[] | null;
  private isDynamic: boolean;
  private isClosed = false;
  private readonly gradients = new Map<string, NaiveArray>();

  constructor(
    private readonly settings: NaiveSettings,
    private readonly isGradient = false,
  ) {
    this.cells = Array.from({ length: settings.size }, fresh);
    this.elementShape = settings.elementShape;
    this.isDynamic = settings.dynamicSize;
  }

  /** Returns what puts everything back as it is now. */
  snapshot(): () => void {
    const { elementShape, isDynamic, isClosed } = this;
    const [cells, known] = [this.cells.map((cell) => ({ ...cell })), [...this.gradients]];
    return () => {
      Object.assign(this, { elementShape, isDynamic, isClosed });
      this.cells.splice(0, this.cells.length, ...cells);
      this.gradients.clear();
      for (const [source, array] of known) this.gradients.set(source, array);
    };
  }

  size(): number {
    need(!this.isClosed);
    return this.cells.length;
  }

  private fits(shape: readonly number[]): boolean {
    const own = this.elementShape;
    return own === null || (own.length === shape.length && own.every((size, i) => size === null || size === shape[i]));
  }

  write(at: number, value: Value): void {
    need(!this.isClosed && at >= 0 && (at < this.cells.length || this.isDynamic) && this.fits(value.shape));
    while (this.cells.length <= at) this.cells.push(fresh());
    const cell = this.cells[at]!;
    need(cell.state === 'fresh' || (cell.state === 'written' && this.isGradient));
    if (cell.state === 'written') {
      need(isSame(cell.shape!, value.shape));
      const { values } = cell.value ?? { values: value.values.map(() => 0) };
      cell.value = { shape: value.shape, values: values.map((x, i) => x + value.values[i]!) };
      return;
    }
    Object.assign(cell, { value, shape: value.shape, isWritten: true, state: 'written' });
  }

  read(at: number): Value {
    need(!this.isClosed && at >= 0 && (at < this.cells.length || this.isGradient));
    if (at >= this.cells.length) {
      const { elementShape } = this;
      need(elementShape !== null && elementShape.every((size) => size !== null));
      const zeros = (): Cell => ({ ...fresh(), shape: elementShape as number[], isWritten: true, state: 'written' });
      while (this.cells.length <= at) this.cells.push(zeros());
    }
    const cell = this.cells[at]!;
    need(cell.state !== 'cleared');
    if (cell.value === null) {
      const shape = cell.shape ?? this.elementShape;
      need(shape !== null && shape.every((size) => size !== null));
      cell.shape = shape as number[];
    }
    const value = cell.value ?? { shape: cell.shape!, values: new Array<number>(count(cell.shape!)).fill(0) };
    cell.state = this.settings.clearAfterRead ? 'cleared' : 'read';
    if (this.settings.clearAfterRead) cell.value = null;
    return value;
  }

  gather(indices: readonly number[]): Value {
    need(!this.isClosed);
    if (indices.length === 0) {
      need(this.elementShape !== null && this.elementShape.every((size) => size !== null), 'RuntimeError');
      return { shape: [0, ...(this.elementShape as number[])], values: [] };
    }
    const all = indices.map((at) => this.read(at));
    need(all.every(({ shape }) => isSame(shape, all[0]!.shape)));
    return { shape: [indices.length, ...all[0]!.shape], values: all.flatMap(({ values }) => values) };
  }

  concat(): Value & { lengths: number[] } {
    need(!this.isClosed);
    if (this.cells.length === 0) {
      need(this.elementShape !== null && this.elementShape.slice(1).every((size) => size !== null), 'RuntimeError');
      return { shape: [0, ...(this.elementShape as number[]).slice(1)], values: [], lengths: [] };
    }
    const all = this.cells.map((_, at) => this.read(at));
    need(all.every(({ shape }) => shape.length > 0 && isSame(shape.slice(1), all[0]!.shape.slice(1))));
    const lengths = all.map(({ shape }) => shape[0]!);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    return { shape: [total, ...all[0]!.shape.slice(1)], values: all.flatMap(({ values }) => values), lengths };
  }

  /** Rows `lengths` long, or single ones, to these indices. */
  scatter(indices: readonly number[], { shape, values }: Value): void {
    need(!this.isClosed && shape.length > 0 && indices.length === shape[0]);
    need(this.isDynamic || indices.every((at) => at < this.cells.length));
    const width = count(shape.slice(1));
    indices.forEach((at, row) => {
      this.write(at, { shape: shape.slice(1), values: values.slice(row * width, (row + 1) * width) });
    });
  }

  split({ shape, values }: Value, lengths: readonly number[]): void {
    need(!this.isClosed && shape.length > 0 && lengths.reduce((sum, length) => sum + length, 0) === shape[0]);
    need(this.isDynamic || lengths.length === this.cells.length);
    const width = count(shape.slice(1));
    let from = 0;
    lengths.forEach((length, at) => {
      const part = values.slice(from * width, (from + length) * width);
      from += length;
      this.write(at, { shape: [length, ...shape.slice(1)], values: part });
    });
  }

  gradient(source: string, prepended: readonly number[]): NaiveArray {
    need(!this.isGradient && !this.isClosed);
    this.isDynamic = false;
    const known = this.gradients.get(source);
    if (known !== undefined) return known;
    const elementShape = this.elementShape === null ? null : [...prepended, ...this.elementShape];
    const settings = { size: this.cells.length, elementShape, dynamicSize: false, clearAfterRead: true };
    const made = new NaiveArray(settings, true);
    this.cells.forEach(({ isWritten, shape }, at) => {
      if (isWritten) Object.assign(made.cells[at]!, { shape: [...prepended, ...shape!], state: 'written' });
    });
    this.gradients.set(source, made);
    return made;
  }

  close(): void {
    this.isClosed = true;
    this.cells.length = 0;
  }
}
