/** What the C core says where it refuses a call, as errors. */
import { RuntimeError, ValueError, described } from '../base/errors.js';
import { IdOutOfRange } from './kernel_set.js';

/** te_status of custom-ops/kernels/embedding.h. */
export interface KernelStatus {
  readonly code: number;
  readonly id: number;
  readonly position: number;
}

/** te_code of custom-ops/kernels/embedding.h. */
const ID_OUT_OF_RANGE = 1;
const BAD_SPLITS = 2;

/** The error for a status other than 0, of a call on a table of `rows` rows and `nnz` ids. */
export function kernelError({ code, id, position }: KernelStatus, rows: number, nnz: number): Error {
  if (code === ID_OUT_OF_RANGE) return new IdOutOfRange(id, position, rows);
  if (code === BAD_SPLITS) {
    const expected = `row splits that start at 0, never fall and end at ${nnz}`;
    return new ValueError('rowSplits', expected, described(`a wrong one at position ${position}`));
  }
  return new RuntimeError('kernel', 'arguments that the kernel takes', described(`code ${code} from the kernel`));
}
