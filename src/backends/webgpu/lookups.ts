/** Lookups on the GPU: pooled rows, and the gradient of weights. */
import type * as tf from '@tensorflow/tfjs';
import type { WebgpuBackend } from '../../tfjs/webgpu/webgpu_backend.js';
import type { BagOptions } from '../kernel_set.js';
import { occurrencesOf } from './occurrences.js';
import { sizeOf, tableInts, type Bags, type TableAt } from './operands.js';
import { forEachPart } from './parts.js';
import { runProgram, withScratch, type Scratch } from './programs.js';
import { bagText, ROW_NORM, ROW_OF } from './shader_text.js';
import { valueText } from './codec_text.js';

const zeros = (backend: WebgpuBackend, shape: number[]): tf.TensorInfo =>
  backend.makeTensorInfo(shape, 'float32', new Float32Array(shape.reduce((product, each) => product * each, 1)));

/** What each looked-up row is multiplied by under a norm, [nnz]. */
function scalesOf(
  backend: WebgpuBackend,
  scratch: Scratch,
  table: TableAt,
  bags: Bags,
  maxNorm: number,
): tf.TensorInfo {
  const { nnz } = sizeOf(bags);
  const scales = scratch.make(nnz, 'float32');
  forEachPart(backend, [table.tensor], (part) => {
    const program = {
      name: `scales_${table.codec.name}`,
      inputs: { table: part.tensors[0]!, values: bags.values },
      ints: { ...tableInts(table, part), nnz },
      floats: { maxNorm },
      threads: nnz,
      code: `${valueText(table.codec, 'table')}${ROW_NORM}${ROW_OF}
        fn run(index : i32) {
          if (index >= uniforms.nnz) { return; }
          let row = rowOf(values[index]);
          if (row < 0) { return; }
          let norm = rowNorm(row);
          result[index] = select(1.0, uniforms.maxNorm / norm, norm > uniforms.maxNorm);
        }`,
    };
    runProgram(backend, program, scales);
  });
  return scales;
}

/** Pooled rows [batch, dim], a new tensor. */
export function pooledRows(backend: WebgpuBackend, table: TableAt, bags: Bags, options: BagOptions): tf.TensorInfo {
  const { nnz, batch } = sizeOf(bags);
  const { dim, codec } = table;
  if (nnz === 0 || batch * dim === 0 || table.tensor.shape[0] === 0) return zeros(backend, [batch, dim]);
  const pooled = backend.makeTensorInfo([batch, dim], 'float32');
  const { weights } = bags;
  const { key, text } = bagText(options, weights !== null);
  withScratch(backend, (scratch) => {
    const isLimited = options.maxNorm > 0;
    const factors = {
      ...(weights !== null && { weights }),
      ...(isLimited && { scales: scalesOf(backend, scratch, table, bags, options.maxNorm) }),
    };
    const product = Object.keys(factors).map((name) => `${name}[i] * `);
    forEachPart(backend, [table.tensor], (part, index) => {
      const isFirst = index === 0;
      const program = {
        name: `bag_${codec.name}_${key}${isLimited ? '_limited' : ''}${isFirst ? '' : '_more'}`,
        inputs: { table: part.tensors[0]!, values: bags.values, rowSplits: bags.rowSplits, ...factors },
        ints: { ...tableInts(table, part), batch },
        threads: batch * dim,
        code: `${text}${valueText(codec, 'table')}${ROW_OF}
          fn run(index : i32) {
            let bag = index / uniforms.dim;
            if (bag >= uniforms.batch) { return; }
            let c = index % uniforms.dim;
            let first = rowSplits[bag];
            let end = rowSplits[bag + 1];
            var sum = 0.0;
            for (var i = first; i < end; i++) {
              let row = rowOf(values[i]);
              if (row >= 0) { sum += ${product.join('')}valueAt(row, c); }
            }
            result[index] = ${isFirst ? '' : 'result[index] + '}quotient(sum, divisor(first, end));
          }`,
      };
      runProgram(backend, program, pooled);
    });
  });
  return pooled;
}

/** What a weight adds to the result, from the products of rows and gradients. */
const WEIGHT_GRADIENT = {
  sum: 'dots[i]',
  mean: 'quotient(dots[i] - quotient(total, by), by)',
  sqrtn: 'quotient(dots[i], by) - quotient(weights[i] * quotient(total, by), by * by)',
};

/** The gradient with respect to the weights, [nnz], a new tensor. */
export function weightsGradient(
  backend: WebgpuBackend,
  table: TableAt,
  gradient: tf.TensorInfo,
  bags: Bags,
  options: BagOptions,
): tf.TensorInfo {
  const { nnz, batch } = sizeOf(bags);
  const { codec, dim } = table;
  if (nnz === 0 || dim === 0 || table.tensor.shape[0] === 0) return zeros(backend, [nnz]);
  const { weights, rowSplits, values } = bags;
  const { key, text } = bagText(options, true);
  const gradients = backend.makeTensorInfo([nnz], 'float32');
  withScratch(backend, (scratch) => {
    const dots = scratch.make(nnz, 'float32');
    const occurrences = occurrencesOf(backend, scratch, bags, options);
    const isLimited = options.maxNorm > 0;
    forEachPart(backend, [table.tensor], (part, index) => {
      const isFirst = index === 0;
      const scale = `let norm = rowNorm(row); if (norm > uniforms.maxNorm) { dot *= uniforms.maxNorm / norm; }`;
      const program = {
        name: `dots_${codec.name}${isLimited ? '_limited' : ''}${isFirst ? '' : '_more'}`,
        inputs: { table: part.tensors[0]!, values, gradient, occurrences },
        ints: { ...tableInts(table, part), nnz },
        floats: { maxNorm: options.maxNorm },
        threads: nnz,
        code: `${valueText(codec, 'table')}${ROW_NORM}${ROW_OF}
          fn run(index : i32) {
            if (index >= uniforms.nnz) { return; }
            let row = rowOf(values[index]);
            if (row < 0) { ${isFirst ? 'result[index] = 0.0;' : ''} return; }
            let bag = occurrences[2 * index];
            var dot = 0.0;
            for (var c = 0; c < uniforms.dim; c++) { dot += valueAt(row, c) * gradient[bag * uniforms.dim + c]; }
            ${isLimited ? scale : ''}
            result[index] = dot;
          }`,
      };
      runProgram(backend, program, dots);
    });
    const program = {
      name: `weightsGradient_${key}`,
      inputs: { dots, weights: weights!, rowSplits },
      ints: { batch },
      threads: batch,
      code: `${text}
        fn run(bag : i32) {
          if (bag >= uniforms.batch) { return; }
          let first = rowSplits[bag];
          let end = rowSplits[bag + 1];
          let by = divisor(first, end);
          var total = 0.0;
          for (var i = first; i < end; i++) { total += weights[i] * dots[i]; }
          for (var i = first; i < end; i++) { result[i] = ${WEIGHT_GRADIENT[options.combiner as 'sum']}; }
        }`,
    };
    runProgram(backend, program, gradients);
  });
  return gradients;
}
