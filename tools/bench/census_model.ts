/** The model of the wide-and-deep example over features like those of census income, whose file needs not be there. */
import type * as tf from '@tensorflow/tfjs';
import { buildModel } from '../../models/wide_and_deep/model.js';
import { LearningRate } from '../../models/wide_and_deep/training.js';

/** Rows of the tables: as many values as each column has. */
export const CENSUS_ROWS: readonly number[] = [64, 10, 102, 18, 18, 9, 17, 8, 7, 4, 64, 64, 64, 43];

/** One input of shape [batch, 1] for each column. */
export function censusModel(batch: number, steps: number): tf.LayersModel {
  const schema = CENSUS_ROWS.map((rows, i) => ({ name: `f${i}`, width: 1, rows }));
  return buildModel(schema, {
    api: 'distributed',
    seed: 1,
    learningRate: new LearningRate(batch, steps),
    placement: {} as never,
    batch,
    hotness: CENSUS_ROWS.map(() => 1),
  });
}
