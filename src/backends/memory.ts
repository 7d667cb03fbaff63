/** Memory for the results of kernels, and the error where there is not enough. */
import { ValueError, described } from '../base/errors.js';

/** The error for `what`, numbers of 4 bytes in this shape, that no memory holds; `argument` decides over their size. */
export function tooLarge(argument: string, what: string, shape: readonly number[], note?: string): ValueError {
  const bytes = BigInt(shape.reduce((product, length) => product * length, 4));
  const received = described(`${what} of shape [${shape.join(', ')}] (${bytes} bytes)`);
  return new ValueError(argument, `${what} that fit into memory`, received, note);
}

/** How errors end that tell of full memory: of `tooLarge` and TensorFlow, and of WebAssembly's allocators. */
const FULL = /(that fit into memory|which is what the WebAssembly memory still holds)$/;

/** Whether there was no memory for numbers of some shape. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof ValueError && FULL.test(error.expected);
}

/** Runs `allocate`; engines say with a bare RangeError that there is no memory. */
export function fitting<T>(argument: string, what: string, shape: readonly number[], allocate: () => T): T {
  try {
    return allocate();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw tooLarge(argument, what, shape);
  }
}

/** Zeros in this shape for a kernel to fill. */
export function newFloats(argument: string, what: string, shape: readonly number[]): Float32Array {
  const length = shape.reduce((product, each) => product * each, 1);
  return fitting(argument, what, shape, () => new Float32Array(length));
}
