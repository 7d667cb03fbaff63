/** Tables of a layer on SparseCores: copies in stacks, beside the variables that are saved and read by everybody else. */
import * as tf from '@tensorflow/tfjs';
import type { DevicesBackend } from '../../backends/devices/devices_backend.js';
import { running } from '../../backends/emulator/register.js';
import { RuntimeError, described } from '../../base/errors.js';
import type { SparseCoreLayout } from '../sparse_core/layouts.js';
import type { SparseCorePlan } from '../sparse_core/stack_plan.js';
import { SparseCoreVariables, type StackVariables } from '../sparse_core/stack_variables.js';
import type { EmbeddingTables } from '../tables/embedding_tables.js';
import { withoutTape } from '../../tfjs/lazy_gradient.js';

/** A table or a slot: the variable in the global layout, and its copy. */
interface Copied {
  readonly variable: tf.Variable;
  readonly stack: StackVariables;
  readonly layout: SparseCoreLayout;
  readonly copy: tf.Variable;
  /** The values of the variable that both have; whatever is assigned to it has others. */
  shared: object | null;
}

/**
 * Copies of tables and slots in stacks. Steps are made in the copies; the variables get their values on demand.
 * What was assigned to a variable in the meantime counts, and goes into its copy before that is used again.
 */
export class StackedCopies {
  readonly variables: SparseCoreVariables;
  private readonly copied: Copied[];
  /** Steps were made that the variables do not know. */
  private isAhead = false;

  constructor(
    readonly emulator: DevicesBackend,
    readonly plan: SparseCorePlan,
    tables: EmbeddingTables,
  ) {
    this.variables = new SparseCoreVariables(emulator, plan, 'written');
    this.copied = tables.tables.flatMap((named, i): Copied[] => {
      const { stack, layout } = this.variables.of(named);
      const { table, slots } = tables.of(i);
      const copies = [stack.parameters, ...stack.slots];
      return [table, ...slots].map((variable, k) => ({ variable, stack, layout, copy: copies[k]!, shared: null }));
    });
  }

  /** Stacks with all values that were assigned to the variables. */
  current(): SparseCoreVariables {
    for (const each of this.copied) {
      const { variable, stack, layout, copy } = each;
      if (each.shared === variable.dataId) continue;
      stack.write(copy, layout, variable.dataSync<'float32'>());
      each.shared = variable.dataId;
    }
    return this.variables;
  }

  /** To be called after each step. */
  stepped(): void {
    this.isAhead = true;
  }

  /** Brings the variables up to date. Throws RuntimeError where steps were lost with their machine. */
  settle(): void {
    const behind = this.isAhead ? this.copied.filter(({ shared, variable }) => shared === variable.dataId) : [];
    if (behind.length > 0 && running()?.devices !== this.emulator) {
      const received = described('one whose last steps were lost with the machine that made them');
      throw new RuntimeError(
        'weights',
        'a table on a machine that is there',
        received,
        'loadWeights, or setWeights of the layer or of the model, gives it others.',
      );
    }
    withoutTape(() => {
      for (const each of behind) {
        const { variable, stack, layout, copy } = each;
        const values = tf.tensor(stack.read(copy, layout), variable.shape, 'float32');
        variable.assign(values);
        values.dispose();
        each.shared = variable.dataId;
      }
    });
    this.isAhead = false;
  }

  dispose(): void {
    this.variables.dispose();
  }
}
