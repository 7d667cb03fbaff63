/**
 * Learning rates that functions give, in steps that are repeated. Op by op such a function is called between gradients
 * and the first write; a step as one op needs the rate before it begins. Where the function changed variables meanwhile,
 * they are as they were for the gradients, and as the function left them for the rest.
 */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend } from '../backends/tensorflow/node_backend.js';
import { withRateCalls, type RateFunction } from '../rules/optimizer_settings.js';

/** What a call gave: a value, or what it threw. */
type Answer = { readonly value: unknown } | { readonly error: unknown };

/** The tensor of a variable, which lives until it is released, and is not written in place as long. */
export class Kept {
  readonly #tensor: tf.Tensor;

  constructor(readonly variable: tf.Variable) {
    const { dataId, shape, dtype } = variable;
    this.#tensor = tf.keep(tf.engine().makeTensorFromDataId(dataId, shape, dtype));
    asNodeBackend(tf.backend()).incRef(dataId);
  }

  get isCurrent(): boolean {
    return !this.variable.isDisposed && this.variable.dataId === this.#tensor.dataId;
  }

  putBack(): void {
    if (!this.variable.isDisposed) this.variable.assign(this.#tensor as tf.Tensor<never>);
  }

  release(): void {
    this.#tensor.dispose();
  }
}

export class AskedRates {
  readonly #answers = new Map<RateFunction, Answer[]>();
  /** Variables as they were before the first call, and after the last one; none: unchanged. */
  #before: readonly Kept[] = [];
  #after: readonly Kept[] = [];

  private constructor(private readonly variables: readonly tf.Variable[]) {}

  /** Whether a function that was called changed a variable. */
  get changedVariables(): boolean {
    return this.#after.length > 0;
  }

  /** Runs `make`, which asks for the rates of a step that reads and writes these variables. */
  static during<T>(variables: readonly tf.Variable[], make: () => T): { made: T | null; rates: AskedRates } {
    const rates = new AskedRates(variables);
    try {
      return { made: withRateCalls((by, call) => rates.#call(by, call), make), rates };
    } catch (error) {
      // What no function threw is a fault of ours.
      if (!rates.#hasThrown(error)) throw error;
      return { made: null, rates };
    } finally {
      rates.#compare();
    }
  }

  /** Runs a step op by op, to which the functions answer what they did. */
  replay<T>(step: () => T): T {
    for (const each of this.#before) each.putBack();
    return withRateCalls((by, call) => this.#answer(by, call), step);
  }

  release(): void {
    for (const each of [...this.#before, ...this.#after]) each.release();
    this.#before = this.#after = [];
  }

  #call(by: RateFunction, call: () => unknown): unknown {
    if (this.#answers.size === 0) this.#before = this.variables.map((variable) => new Kept(variable));
    const answers = this.#answers.get(by) ?? [];
    this.#answers.set(by, answers);
    try {
      const value = call();
      answers.push({ value });
      return value;
    } catch (error) {
      answers.push({ error });
      throw error;
    }
  }

  #hasThrown(error: unknown): boolean {
    return [...this.#answers.values()].flat().some((answer) => 'error' in answer && answer.error === error);
  }

  /** Lets go of the variables where all are as they were. */
  #compare(): void {
    if (this.#before.every(({ isCurrent }) => isCurrent)) this.release();
    else this.#after = this.#before.flatMap(({ variable }) => (variable.isDisposed ? [] : [new Kept(variable)]));
  }

  #answer(by: RateFunction, call: () => unknown): unknown {
    for (const each of this.#after) each.putBack();
    const answer = this.#answers.get(by)?.shift();
    if (answer === undefined) return call();
    if ('error' in answer) throw answer.error;
    return answer.value;
  }
}
