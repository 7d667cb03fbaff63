/** What the Node entry adds to the `tensorflow` backend: whole lookups and parts of steps as one op each. */
import * as tf from '@tensorflow/tfjs';
import type { OptimizerName } from '../../rules/rules.js';
import type { JoinedUpdate } from '../registry.js';
import { newTable, readRows, writeRows } from './tables.js';
import type { StepKernels } from './backend_part.js';
import { lookUpMany, stepMany } from './many_tables.js';
import { STEP_OPS } from './step_kernels.js';
import { apart, makeWritable } from './written_variables.js';

function applyMany(optimizer: OptimizerName, updates: readonly JoinedUpdate[]): void {
  for (const { table, slots } of updates) makeWritable(table, slots);
  const written = updates.flatMap(({ table, slots }) => [table, ...slots]);
  tf.tidy(() => {
    const read = (entry: JoinedUpdate['entries'][number]): JoinedUpdate['entries'][number] => {
      const { gradient, bags } = entry;
      const weights = bags.weights === null ? null : apart(bags.weights, written);
      return { gradient: apart(gradient, written), bags: { ...bags, weights } };
    };
    stepMany(
      optimizer,
      updates.map((update) => ({ ...update, entries: update.entries.map(read) })),
    );
  });
}

export const STEP_KERNELS: StepKernels = {
  lookUp: lookUpMany,
  sparseApplyMany: applyMany,
  stepOps: STEP_OPS,
  newTable,
  readRows,
  writeRows,
};
