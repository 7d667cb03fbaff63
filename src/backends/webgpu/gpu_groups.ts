/** Ids grouped by row on the GPU, where the host does not know them: a bitonic sort by id, then by place. */
import type * as tf from '@tensorflow/tfjs';
import type { WebgpuBackend } from '../../tfjs/webgpu/webgpu_backend.js';
import { runProgram, type Scratch } from './programs.js';

/** What stands for an id that names no row. */
const NONE = '2147483647';

function sortedPairs(
  backend: WebgpuBackend,
  scratch: Scratch,
  uses: readonly tf.TensorInfo[],
  rows: number,
  size: number,
): tf.TensorInfo {
  // Ids, then places.
  const pairs = scratch.make(2 * size, 'int32');
  const fill = {
    name: 'sortFill',
    inputs: {},
    ints: { size },
    threads: size,
    code: `fn run(i : i32) {
      if (i >= uniforms.size) { return; }
      result[i] = ${NONE};
      result[uniforms.size + i] = i;
    }`,
  };
  runProgram(backend, fill, pairs);
  let offset = 0;
  for (const values of uses) {
    const count = values.shape[0]!;
    const program = {
      name: 'sortIds',
      inputs: { values },
      ints: { count, offset, rows },
      threads: count,
      code: `fn run(i : i32) {
        if (i >= uniforms.count) { return; }
        let id = values[i];
        if (id >= 0 && id < uniforms.rows) { result[uniforms.offset + i] = id; }
      }`,
    };
    if (count > 0) runProgram(backend, program, pairs);
    offset += count;
  }
  for (let run = 2; run <= size; run *= 2) {
    for (let apart = run / 2; apart >= 1; apart /= 2) {
      const program = {
        name: 'sortStep',
        inputs: {},
        ints: { size, run, apart },
        threads: size / 2,
        code: `fn run(t : i32) {
          let n = uniforms.size;
          if (t >= n / 2) { return; }
          let a = (t / uniforms.apart) * 2 * uniforms.apart + t % uniforms.apart;
          let b = a + uniforms.apart;
          let idA = result[a];
          let idB = result[b];
          let placeA = result[n + a];
          let placeB = result[n + b];
          let isAfter = idA > idB || (idA == idB && placeA > placeB);
          if (isAfter != ((a & uniforms.run) == 0)) { return; }
          result[a] = idB;
          result[b] = idA;
          result[n + a] = placeB;
          result[n + b] = placeA;
        }`,
      };
      runProgram(backend, program, pairs);
    }
  }
  return pairs;
}

/**
 * A plan as `groups` describes it, with an entry for each id: the first one of a row stands for it, and the others, whose
 * rows are told negated, for nothing.
 */
export function planOnGpu(
  backend: WebgpuBackend,
  scratch: Scratch,
  uses: readonly tf.TensorInfo[],
  rows: number,
): { plan: tf.TensorInfo; count: number } {
  const count = uses.reduce((sum, { shape }) => sum + shape[0]!, 0);
  let size = 2;
  while (size < count) size *= 2;
  const pairs = sortedPairs(backend, scratch, uses, rows, size);
  const plan = scratch.make(4 * count, 'int32');
  const program = {
    name: 'sortPlan',
    inputs: { pairs },
    ints: { size, count },
    threads: count,
    code: `fn run(k : i32) {
      let n = uniforms.count;
      if (k >= n) { return; }
      let id = pairs[k];
      result[3 * n + k] = pairs[uniforms.size + k];
      result[n + k] = k;
      if (id == ${NONE} || (k > 0 && pairs[k - 1] == id)) {
        result[k] = ~id;
        result[2 * n + k] = k;
        return;
      }
      var end = k + 1;
      while (end < n && pairs[end] == id) { end++; }
      result[k] = id;
      result[2 * n + k] = end;
    }`,
  };
  runProgram(backend, program, plan);
  return { plan, count };
}
