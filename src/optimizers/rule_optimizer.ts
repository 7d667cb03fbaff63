/** The dense optimizer of rules that tfjs has no optimizer for: variables are stepped as rows of tables are. */
import * as tf from '@tensorflow/tfjs';
import { live, refuseRecording } from '../backends/recordings.js';
import { stepOps } from '../backends/registry.js';
import { brand } from '../base/per_process.js';
import type { NamedTensor } from '../base/types.js';
import { packHyper, type Hyper } from '../rules/hyper.js';
import { stateOf } from '../tfjs/stock_optimizer_state.js';
import { SLOT_NAMES, UPDATES, type UpdateName } from '../rules/rules.js';
import { decayed } from '../rules/update_rule.js';

/** A variable of the list, or what was loaded for one that is not there yet, with its gradient. */
interface Entry {
  readonly name: string;
  readonly tensor: tf.Tensor | null;
}

/** As stock optimizers keep it. */
interface State {
  readonly originalName: string;
  readonly variable: tf.Variable;
}

export class RuleOptimizer extends tf.Optimizer {
  static {
    // tfjs takes every optimizer for one of every class.
    brand(this, 'RuleOptimizer');
  }
  static readonly className = 'TfjsEmbeddings>Dense';
  /** Kinds of state, one of each per variable. */
  readonly kinds: readonly string[];
  /** By kind, in the order of the list of variables. */
  state: State[][];

  constructor(readonly update: UpdateName) {
    super();
    this.kinds = SLOT_NAMES[update];
    this.state = this.kinds.map(() => []);
  }

  /** Steps the variables that have a gradient. `hyper`: the numbers of the step in progress, whenever they are asked for. */
  step(list: readonly Entry[], hyper: () => Hyper): void {
    const stepped = list.flatMap(({ name, tensor }, at) => {
      if (tensor === null) return [];
      const variable = tf.engine().registeredVariables[name]!;
      return [{ variable, gradient: tensor, slots: this.kinds.map((_, kind) => this.#slot(kind, at, variable)) }];
    });
    if (stepped.length === 0) return;
    const ops = stepOps();
    if (ops === null) {
      refuseRecording('ops of tfjs, to which the learning rate is a constant, step its dense variables');
      const now = hyper();
      for (const { variable, slots, gradient } of stepped) this.#stepOne(variable, slots, gradient, now);
      return;
    }
    ops.denseUpdate({
      optimizer: this.update,
      variables: stepped.map(({ variable }) => variable),
      slots: this.kinds.map((_, kind) => stepped.map(({ slots }) => slots[kind]!)),
      gradients: stepped.map(({ gradient }) => gradient),
      hyper: live(() => packHyper(hyper())),
    });
  }

  #slot(kind: number, at: number, { name, shape }: tf.Variable): tf.Variable {
    const state = this.state[kind]!;
    state[at] ??= {
      originalName: `${name}/${this.kinds[kind]}`,
      variable: tf.tidy(() => tf.variable(tf.zeros(shape), false)),
    };
    return state[at].variable;
  }

  /** Updates that step rows without ids go by elements, whatever the shape. */
  #stepOne(variable: tf.Variable, slots: readonly tf.Variable[], gradient: tf.Tensor, hyper: Hyper): void {
    tf.tidy(() => {
      const rows = { table: decayed(variable as never, hyper.idleDecay), slots: slots as never };
      const next = UPDATES[this.update].stepRows(tf, rows, gradient as tf.Tensor2D, hyper);
      variable.assign(next.table as tf.Tensor);
      slots.forEach((slot, i) => slot.assign(next.slots[i]! as tf.Tensor));
    });
  }

  override applyGradients(): void {
    throw new Error('RuleOptimizer: the numbers of a step come with `step`');
  }

  override async getWeights(): Promise<NamedTensor[]> {
    return [await this.saveIterations(), ...stateOf(this)] as NamedTensor[];
  }

  override async setWeights(weights: NamedTensor[]): Promise<void> {
    const state = (await this.extractIterations(weights)) as NamedTensor[];
    this.state = this.kinds.map((kind) =>
      state
        .filter(({ name }) => name.endsWith(`/${kind}`))
        .map(({ name, tensor }) => ({ originalName: name, variable: tf.variable(tensor, false) })),
    );
  }

  override getConfig(): tf.serialization.ConfigDict {
    return { update: this.update };
  }

  override dispose(): void {
    tf.dispose(stateOf(this).map(({ tensor }) => tensor));
    this.state = this.kinds.map(() => []);
  }
}
