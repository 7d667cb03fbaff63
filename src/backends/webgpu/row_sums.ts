/** The gradients of the rows that a batch touches, summed over their uses in the order of their ids. */
import type * as tf from '@tensorflow/tfjs';
import type { WebgpuBackend } from '../../tfjs/webgpu/webgpu_backend.js';
import type { BagOptions } from '../kernel_set.js';
import type { Groups } from './groups.js';
import { occurrencesOf } from './occurrences.js';
import { sizeOf, tableInts, type Bags, type TableAt } from './operands.js';
import { forEachPart } from './parts.js';
import { runProgram, type Scratch } from './programs.js';
import { ROW_NORM, ROW_OF } from './shader_text.js';
import { valueText } from './codec_text.js';

/** One use of a table. */
export interface GradientUse {
  readonly gradient: tf.TensorInfo; // [batch, dim]
  readonly bags: Bags;
  readonly options: BagOptions;
}

interface Target {
  /** float32 [count, dim], written. */
  readonly sums: tf.TensorInfo;
  readonly groups: Groups;
  readonly dim: number;
}

/** Adds what one use gives to each row, or begins with it. `offset`: of its places among those of all uses. */
function addUse(
  backend: WebgpuBackend,
  scratch: Scratch,
  { sums, groups, dim }: Target,
  { gradient, bags, options }: GradientUse,
  offset: number,
  isFirst: boolean,
): void {
  const { nnz } = sizeOf(bags);
  const isEmpty = nnz === 0 || sizeOf(bags).batch === 0;
  const program = {
    name: `rowSums${isFirst ? '' : '_more'}`,
    inputs: {
      plan: groups.plan,
      // Without ids there is nothing to read.
      occurrences: isEmpty ? scratch.make(2, 'int32') : occurrencesOf(backend, scratch, bags, options),
      gradient: isEmpty ? scratch.make(1, 'float32') : gradient,
    },
    ints: { dim, count: groups.count, offset, nnz },
    threads: groups.count * dim,
    code: `fn run(index : i32) {
      let n = uniforms.count;
      let k = index / uniforms.dim;
      if (k >= n) { return; }
      let c = index % uniforms.dim;
      var sum = ${isFirst ? '0.0' : 'result[index]'};
      if (plan[k] >= 0) {
        let end = plan[2 * n + k];
        for (var at = plan[n + k]; at < end; at++) {
          let place = plan[3 * n + at] - uniforms.offset;
          if (place >= 0 && place < uniforms.nnz) {
            sum += bitcast<f32>(occurrences[2 * place + 1]) * gradient[occurrences[2 * place] * uniforms.dim + c];
          }
        }
      }
      result[index] = sum;
    }`,
  };
  runProgram(backend, program, sums);
}

/** With s = maxNorm / |e| the derivative of s e along g is s (g - e (e . g) / |e|^2). */
function throughNorm(backend: WebgpuBackend, { sums, groups }: Target, table: TableAt, maxNorm: number): void {
  forEachPart(backend, [table.tensor], (part) => {
    const program = {
      name: `throughNorm_${table.codec.name}`,
      inputs: { plan: groups.plan, table: part.tensors[0]! },
      ints: { ...tableInts(table, part), count: groups.count },
      floats: { maxNorm },
      threads: groups.count,
      code: `${valueText(table.codec, 'table')}${ROW_NORM}${ROW_OF}
        fn run(k : i32) {
          if (k >= uniforms.count) { return; }
          let row = rowOf(plan[k]);
          if (row < 0) { return; }
          let norm = rowNorm(row);
          if (norm <= uniforms.maxNorm) { return; }
          let first = k * uniforms.dim;
          var along = 0.0;
          for (var c = 0; c < uniforms.dim; c++) { along += result[first + c] * valueAt(row, c); }
          along = along / (norm * norm);
          let scale = uniforms.maxNorm / norm;
          for (var c = 0; c < uniforms.dim; c++) {
            result[first + c] = scale * (result[first + c] - valueAt(row, c) * along);
          }
        }`,
    };
    runProgram(backend, program, sums);
  });
}

function add(backend: WebgpuBackend, { sums, groups, dim }: Target, part: tf.TensorInfo): void {
  const length = groups.count * dim;
  const program = {
    name: 'addSums',
    inputs: { part },
    ints: { length },
    threads: length,
    code: `fn run(i : i32) { if (i < uniforms.length) { result[i] += part[i]; } }`,
  };
  runProgram(backend, program, sums);
}

/** Writes the sum over all uses into `sums` [count, dim]; rows that stand for nothing get zeros. `table`: where norms are limited. */
export function sumRows(
  backend: WebgpuBackend,
  scratch: Scratch,
  target: Target,
  uses: readonly GradientUse[],
  table: TableAt | null,
): void {
  let offset = 0;
  uses.forEach((use, i) => {
    const { maxNorm } = use.options;
    if (maxNorm > 0 && table !== null) {
      const own = i === 0 ? target : { ...target, sums: scratch.make(target.groups.count * target.dim, 'float32') };
      addUse(backend, scratch, own, use, offset, true);
      throughNorm(backend, own, table, maxNorm);
      if (i > 0) add(backend, target, own.sums);
    } else {
      addUse(backend, scratch, target, use, offset, i === 0);
    }
    offset += sizeOf(use.bags).nnz;
  });
}
