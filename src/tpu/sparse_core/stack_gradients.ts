/** Gradients of activations as the rows of stacks. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, describe, described } from '../../base/errors.js';
import { isRecord, readOptions } from '../../base/options.js';
import { toFloat32 } from '../../ids/float_values.js';
import { readNestedRows, type NestedRows } from '../../ids/nested_rows.js';
import { readTensor } from '../../ids/values.js';
import { listOf } from './csr/feature_input.js';
import { interleave, type FeatureRows } from './interleave.js';
import { product, wholeNumber } from './numbers.js';
import { STACKED_FIELDS, readStackedFeatures, readTables, type StackedFeatures } from './csr/preprocess_features.js';

/** A gradient of activations [...outputShape, dim]; null: zeros. */
export type ActivationGradient = tf.Tensor | NestedRows | null;

export interface StackGradientsArgs extends StackedFeatures {
  readonly numScPerChip: number;
  readonly gradients: readonly ActivationGradient[];
  readonly numChips?: number;
  readonly tableToPaddingRows?: Readonly<Record<string, number>>;
  /** By table: columns that pad its rows. */
  readonly tableToPaddingColumns?: Readonly<Record<string, number>>;
}

const FIELDS = [...STACKED_FIELDS, 'gradients'] as const;

/** The values of a gradient with `samples` rows, and how wide they are; null: zeros. */
function readGradient(
  gradient: unknown,
  { samples, place }: { samples: number; place: number },
): { values: Float32Array; columns: number } | null {
  if (gradient === null || gradient === undefined) return null;
  const argument = `gradients[${place}]`;
  const isArray = Array.isArray(gradient);
  if (!isArray && !(gradient instanceof tf.Tensor)) {
    throw new ValueError(argument, 'a tensor or null', described(`non-tensor type: ${describe(gradient)}`));
  }
  const { flat, shape } = isArray
    ? readNestedRows(gradient, argument)
    : { flat: readTensor(gradient as tf.Tensor, argument), shape: (gradient as tf.Tensor).shape };
  const columns = shape?.at(-1) ?? 0;
  if (shape === null || shape.length < 2 || flat.length !== samples * columns) {
    const received = described(shape === null ? 'uneven rows' : `shape [${shape.join(', ')}]`);
    throw new ValueError(argument, `a gradient of ${samples} samples, [...outputShape, dim]`, received);
  }
  return { values: toFloat32(flat, argument), columns };
}

/**
 * Returns for each stack, by its name, the gradients of its features as one matrix [samples of the stack, padded dim]:
 * those of core 0, feature after feature, then those of core 1 and so on. Columns that pad a table's rows are zeros, and
 * so are all rows of a feature whose gradient is null. Tensors give tensors, nested arrays give nested arrays.
 * Source: `TPUEmbeddingV2._stack_gradients` of TensorFlow 2.20, without its failure for null and a padded table.
 *
 * @param args - Gradients, features and layouts; see `StackGradientsArgs`.
 * @returns A matrix for each stack.
 * @throws ValueError for a gradient that is no tensor, or has another shape.
 *
 * @example
 * const {a} = emb.tpu.stackGradients({
 *   numScPerChip: 2,
 *   gradients: [[[1], [2]], [[3], [4]]],
 *   tables: [{name: 'a', paddedVocab: 16, paddedDim: 1, combiner: 'sum'}],
 *   stackedTableToTables: {a: ['a']},
 *   tableToStackedTableOffset: {a: ['a', 0, 0]},
 *   featureToSampleOffset: {0: 0, 1: 2},
 *   tableToSampleCount: {a: 4},
 *   features: [{table: 'a', outputShape: [2]}, {table: 'a', outputShape: [2]}],
 * });
 * // [[1], [3], [2], [4]]
 */
export function stackGradients(args: StackGradientsArgs): Record<string, tf.Tensor2D | number[][]> {
  const given = readOptions<StackGradientsArgs>(args, FIELDS, 'args');
  const cores = wholeNumber(given.numScPerChip, 'numScPerChip', 1);
  const tables = readTables(given.tables);
  const list = readStackedFeatures(given.features);
  const stacks: unknown = given.stackedTableToTables;
  if (!isRecord(stacks)) throw new ArgumentTypeError('stackedTableToTables', 'tables by stack', stacks);
  const gradients = listOf(given.gradients, list.length, 'gradients');
  const isNested = !gradients.some((gradient) => gradient instanceof tf.Tensor);
  const result: Record<string, tf.Tensor2D | number[][]> = {};
  for (const [name, members] of Object.entries(stacks)) {
    const isList = Array.isArray(members) && members.every((each) => typeof each === 'string');
    if (!isList) throw new ArgumentTypeError(`stackedTableToTables.${name}`, 'a list of names of tables', members);
    const columns = tables.get(members[0]!)?.paddedDim;
    const samples = wholeNumber(given.tableToSampleCount?.[name], `tableToSampleCount.${name}`);
    const stack = { cores, samples, columns: wholeNumber(columns, `paddedDim of the stack ${name}`, 1) };
    const target = new Float32Array(samples * stack.columns);
    list.forEach((feature, place) => {
      if (!members.includes(feature.table)) return;
      const ofFeature = product(feature.outputShape);
      const read = readGradient(gradients[place], { samples: ofFeature, place });
      if (read === null) return;
      const sampleOffset = wholeNumber(given.featureToSampleOffset?.[place], `featureToSampleOffset.${place}`);
      const rows: FeatureRows = { samples: ofFeature, sampleOffset, columns: read.columns };
      checkFits(rows, stack, place);
      interleave(rows, read.values, stack, target);
    });
    const tensor = (): tf.Tensor2D => tf.tensor2d(target, [samples, stack.columns]);
    result[name] = isNested ? nestedOf(target, stack.columns) : tensor();
  }
  return result;
}

function checkFits(
  { samples, sampleOffset, columns }: FeatureRows,
  stack: { cores: number; samples: number; columns: number },
  place: number,
): void {
  if (columns > stack.columns) {
    throw new ValueError(`gradients[${place}]`, `at most ${stack.columns} columns`, described(`${columns}`));
  }
  const isEven = samples % stack.cores === 0 && sampleOffset % stack.cores === 0;
  if (!isEven || sampleOffset + samples > stack.samples) {
    const expected = `${samples} samples from ${sampleOffset} on that lie within ${stack.samples}, evenly over the cores`;
    throw new ValueError('featureToSampleOffset', expected, sampleOffset);
  }
}

function nestedOf(values: Float32Array, columns: number): number[][] {
  return Array.from({ length: values.length / columns }, (_, row) =>
    Array.from(values.subarray(row * columns, (row + 1) * columns)),
  );
}
