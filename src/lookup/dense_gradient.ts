/** Lookups outside the scope of an optimizer: their gradients are tensors of the table's shape. */
import * as tf from '@tensorflow/tfjs';
import { sayLargeTable } from '../backends/generic/large_tables.js';
import type { LookedUp, Lookup, LookupGradient } from '../backends/contract.js';
import { packedForm } from '../backends/packed/packed_table.js';
import { ValueError, described } from '../base/errors.js';
import { refuseSecond, withLazyGradient } from '../tfjs/lazy_gradient.js';
import { asBags, present, rowGradients, runLookups, weightsGradient } from './kernel_calls.js';
import { tableSettings } from './training/table_settings.js';

/** Puts a lookup that has run on the tape, with a gradient of the table's shape, as stock optimizers need it. */
export function withDenseGradient({ table, bags, options }: Lookup, { pooled }: LookedUp): tf.Tensor2D {
  const matrix = table as tf.Tensor2D;
  if (packedForm(table) !== undefined) return withGradientOfWeights({ table, bags, options }, pooled);
  return withLazyGradient(
    bags.weights === null ? { table: matrix } : { table: matrix, weights: bags.weights },
    (save) => {
      save([matrix, ...present(bags)]);
      return pooled;
    },
    (dy, [saved, ...rest]) => {
      const ofLookup = { gradient: dy as tf.Tensor2D, bags: asBags(rest), options };
      return {
        table: () => denseTableGradient(saved as tf.Tensor2D, ofLookup),
        weights: () => weightsGradient(saved as tf.Tensor2D, ofLookup),
      };
    },
  ) as tf.Tensor2D;
}

/**
 * Puts a lookup of packed rows on the tape, where the table stands for a constant. Whoever asks for the gradient of one
 * that is to be trained is told what trains it.
 */
function withGradientOfWeights({ table, bags, options }: Lookup, pooled: tf.Tensor2D): tf.Tensor2D {
  const isTrained = table instanceof tf.Variable && table.trainable;
  if (bags.weights === null && !isTrained) return pooled;
  return withLazyGradient(
    { ...(isTrained ? { table } : {}), ...(bags.weights && { weights: bags.weights }) },
    (save) => {
      save(present(bags));
      return pooled;
    },
    (dy, saved) => ({
      table: () => refusePackedGradient(table as tf.Variable),
      weights: () =>
        weightsGradient(table as tf.Tensor2D, { gradient: dy as tf.Tensor2D, bags: asBags(saved), options }),
    }),
  ) as tf.Tensor2D;
}

function refusePackedGradient(table: tf.Variable): never {
  const name = tableSettings(table)?.name ?? table.name;
  const expected = `an emb.train optimizer, because table ${name} has storage 'float16'`;
  throw new ValueError('optimizer', expected, described('a stock optimizer, or tf.variableGrads'));
}

/**
 * The dense gradient: as large as the table. It is linear in the pooled gradient, and the lookup itself is its
 * transpose, so it can be differentiated again; not with respect to weights, nor under maxNorm.
 */
function denseTableGradient(table: tf.Tensor2D, { gradient, bags, options }: LookupGradient): tf.Tensor2D {
  const refuse = (): never => refuseSecond('the gradient of a lookup with weights or maxNorm');
  const isLinear = options.maxNorm === 0;
  const others = { ...(bags.weights && { weights: bags.weights }), ...(isLinear ? {} : { table }) };
  return withLazyGradient(
    { gradient, ...others },
    (save) => {
      sayLargeTable(table.shape[0]);
      const rows = rowGradients({ gradient, bags, options }, table.shape[0], table);
      save(present(bags));
      if (rows.uniqueIds.size === 0) return tf.zerosLike(table);
      return tf.scatterND(rows.uniqueIds.expandDims(1) as tf.Tensor2D, rows.rowGradients, table.shape);
    },
    (dy, saved) => ({
      gradient: () => {
        if (!isLinear) return refuse();
        const lookup = { table: dy as tf.Tensor2D, bags: asBags(saved), options };
        return withDenseGradient(lookup, runLookups([lookup])[0]!);
      },
      weights: refuse,
      table: refuse,
    }),
  ) as tf.Tensor2D;
}
