/** What a layer gave last while a model was fed a list of tensors: tfjs runs a layer once for each output that is used. */
import * as tf from '@tensorflow/tfjs';
import { feedingNumber } from '../../tfjs/uncast_inputs.js';

interface Call {
  readonly feeding: number;
  readonly inputs: readonly unknown[];
  readonly outputs: readonly unknown[];
}

const isGone = (output: unknown): boolean => output instanceof tf.Tensor && output.isDisposed;

const copyOf = (output: unknown): unknown => (output instanceof tf.Tensor ? output.clone() : output);

/** A list whose tensors become copies as they are taken: a model takes few of those that it gets again. */
function copiesWhenTaken(outputs: readonly unknown[]): unknown[] {
  const taken = new Map<string | symbol, unknown>();
  return new Proxy([...outputs], {
    get(list, key) {
      const value: unknown = Reflect.get(list, key);
      if (!(value instanceof tf.Tensor)) return value;
      if (!taken.has(key)) taken.set(key, value.clone());
      return taken.get(key);
    },
  });
}

export class OutputCache {
  #call: Call | null = null;

  /**
   * The outputs for these inputs where the same feeding has asked for them before and they are still there, else null.
   * Outside of training tfjs disposes what a layer gave once it is used, so everybody who asks gets copies.
   */
  outputsOf(inputs: readonly unknown[], isTraining: boolean): unknown[] | null {
    const call = this.#call;
    if (call === null || call.feeding !== feedingNumber() || call.inputs.length !== inputs.length) return null;
    if (!inputs.every((input, i) => input === call.inputs[i]) || call.outputs.some(isGone)) return null;
    return isTraining ? [...call.outputs] : copiesWhenTaken(call.outputs);
  }

  /** Outside a feeding nothing is kept. */
  keep(inputs: readonly unknown[], outputs: readonly unknown[], isTraining: boolean): void {
    const feeding = feedingNumber();
    const kept = (): unknown[] => (isTraining ? [...outputs] : outputs.map(copyOf));
    this.#call = feeding === null ? null : { feeding, inputs: [...inputs], outputs: kept() };
  }

  forget(): void {
    this.#call = null;
  }
}
