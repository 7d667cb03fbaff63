/** Arrays for the results of kernels: the one place where they are made. */

/** An array of zeros for a kernel to fill. */
export function outputFloats(length: number): Float32Array {
  return new Float32Array(length);
}
