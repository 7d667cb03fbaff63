/** Row splits of bags of one length, which come again with each step. */
import { uniformSplits } from '../../../ragged/row_splits.js';

const KEPT = 32;

export class UniformSplits {
  private readonly known = new Map<string, Int32Array>();

  /** Splits of `bags` bags of `length` ids. For reading only. */
  of(bags: number, length: number): Int32Array {
    const key = `${bags}x${length}`;
    let splits = this.known.get(key);
    if (splits === undefined) {
      if (this.known.size === KEPT) this.known.clear();
      splits = uniformSplits(bags, length);
      this.known.set(key, splits);
    }
    return splits;
  }
}
