/**
 * The elements of an array by index. Those that were written or read are kept one by one, the others as stretches of
 * equal ones, so that memory and time follow what is used and not the size.
 */
import type * as tf from '@tensorflow/tfjs';

/** What is known of an element without a value. */
export interface ElementState {
  /** Of what was written; of the forward element where the array holds gradients; null: unknown. */
  readonly shape: readonly number[] | null;
  readonly written: boolean;
  readonly read: boolean;
  readonly cleared: boolean;
}

export interface Element extends ElementState {
  /** null: never written, read and cleared, or zeros of `shape`. */
  tensor: tf.Tensor | null;
  shape: readonly number[] | null;
  written: boolean;
  read: boolean;
  cleared: boolean;
}

/** Elements from `from` to before `to` in one state; `isKept`: one that is kept by itself. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly state: ElementState;
  readonly isKept: boolean;
}

export const FRESH: ElementState = { shape: null, written: false, read: false, cleared: false };

const isEqual = (a: ElementState, b: ElementState): boolean =>
  a.written === b.written && a.read === b.read && a.cleared === b.cleared && a.shape?.join() === b.shape?.join();

export class Elements {
  private readonly kept = new Map<number, Element>();
  /** The states of all others, each up to before `end`; the last end is the size. */
  private others: { end: number; state: ElementState }[] = [];

  constructor(size: number) {
    this.grow(size, FRESH);
  }

  get size(): number {
    return this.others.at(-1)?.end ?? 0;
  }

  /** Makes the array longer, where `size` is greater, by elements in this state. */
  grow(size: number, state: ElementState): void {
    if (size <= this.size) return;
    const last = this.others.at(-1);
    if (last !== undefined && isEqual(last.state, state)) last.end = size;
    else this.others.push({ end: size, state });
  }

  /** The element at an index below the size, which is kept by itself from now on. */
  at(index: number): Element {
    const known = this.kept.get(index);
    if (known !== undefined) return known;
    const { state } = this.others.find(({ end }) => index < end)!;
    const element = { ...state, tensor: null };
    this.kept.set(index, element);
    return element;
  }

  /** The elements that are kept by themselves, with their indices, in no order. */
  entries(): IterableIterator<[number, Element]> {
    return this.kept.entries();
  }

  /** All elements in order. */
  *stretches(): Generator<Stretch> {
    const indices = Float64Array.from(this.kept.keys()).sort();
    let [from, next] = [0, 0];
    for (const { end, state } of this.others) {
      while (from < end) {
        const to = Math.min(indices[next] ?? end, end);
        if (from < to) yield { from, to, state, isKept: false };
        from = to;
        if (from < end) {
          yield { from, to: from + 1, state: this.kept.get(from)!, isKept: true };
          [from, next] = [from + 1, next + 1];
        }
      }
    }
  }

  /** Changes the state of those before `end` that are not kept by themselves. */
  changeOthers(end: number, change: (state: ElementState) => ElementState): void {
    const before = this.others;
    this.others = [];
    for (const { end: own, state } of before) {
      this.grow(Math.min(own, end), change(state));
      this.grow(own, state);
    }
  }

  clear(): void {
    this.kept.clear();
    this.others = [];
  }
}
