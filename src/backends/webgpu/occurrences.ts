/** Of each id of a batch: its bag, and what it passes on of the gradient of that bag, which is weight / divisor. */
import type * as tf from '@tensorflow/tfjs';
import type { WebgpuBackend } from '../../tfjs/webgpu/webgpu_backend.js';
import type { BagOptions } from '../kernel_set.js';
import { sizeOf, type Bags } from './operands.js';
import { runProgram, type Scratch } from './programs.js';
import { bagText } from './shader_text.js';

/** int32 [2 * nnz]: the number of the bag, then the bits of the factor. The bag of an id that is in none is -1. */
export function occurrencesOf(
  backend: WebgpuBackend,
  scratch: Scratch,
  bags: Bags,
  options: Pick<BagOptions, 'combiner'>,
): tf.TensorInfo {
  const { nnz, batch } = sizeOf(bags);
  const { weights, rowSplits } = bags;
  const occurrences = scratch.make(2 * nnz, 'int32');
  const { key, text } = bagText(options, weights !== null);
  const program = {
    name: `occurrences_${key}`,
    inputs: { rowSplits, ...(weights !== null && { weights }) },
    ints: { batch },
    threads: batch,
    code: `${text}
      fn run(bag : i32) {
        if (bag >= uniforms.batch) { return; }
        let first = rowSplits[bag];
        let end = rowSplits[bag + 1];
        let by = divisor(first, end);
        for (var i = first; i < end; i++) {
          result[2 * i] = bag;
          result[2 * i + 1] = bitcast<i32>(quotient(${weights === null ? '1.0' : 'weights[i]'}, by));
        }
      }`,
  };
  runProgram(backend, program, occurrences);
  return occurrences;
}
