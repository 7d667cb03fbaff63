/** Row splits of bags of one length, which come again with each step. */
import { uniformSplits } from '../../../ids/row_splits.js';

const KEPT = 32;

export class UniformSplits {
  /** The longest so far, by length of bags: fewer bags are its beginning. */
  private readonly known = new Map<number, Int32Array>();

  /** Splits of `bags` bags of `length` ids. For reading only. */
  of(bags: number, length: number): Int32Array {
    let splits = this.known.get(length);
    if (splits === undefined || splits.length <= bags) {
      if (splits === undefined && this.known.size === KEPT) this.known.clear();
      splits = uniformSplits(bags, length);
      this.known.set(length, splits);
    }
    return splits.subarray(0, bags + 1);
  }
}
