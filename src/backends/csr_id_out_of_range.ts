/** What kernels say of an id in one of several features. */
import { brand } from '../base/brand.js';
import { IdOutOfRange } from './kernel_set.js';

/** An id that is no row of its feature's table. */
export class CsrIdOutOfRange extends IdOutOfRange {
  static {
    brand(this, 'CsrIdOutOfRange');
  }
  constructor(
    /** Place of the feature among those of the stack. */
    readonly feature: number,
    id: number,
    position: number,
    rows: number,
  ) {
    super(id, position, rows);
  }
}
