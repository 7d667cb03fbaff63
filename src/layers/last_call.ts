/** What a layer gave last while a model was fed a list of tensors: tfjs runs a layer once for each output that is used. */
import { layerState } from './layer_state.js';

interface Call {
  readonly feeding: number;
  readonly inputs: readonly unknown[];
  readonly outputs: readonly unknown[];
}

export class LastCall {
  #call: Call | null = null;

  /** The outputs for these inputs where the same feeding has asked for them before, else null. */
  outputsOf(inputs: readonly unknown[]): unknown[] | null {
    const { feeds, feeding } = layerState();
    const call = this.#call;
    if (call === null || feeds === 0 || call.feeding !== feeding || call.inputs.length !== inputs.length) return null;
    return inputs.every((input, i) => input === call.inputs[i]) ? [...call.outputs] : null;
  }

  /** Outside a feeding nothing is kept. */
  keep(inputs: readonly unknown[], outputs: readonly unknown[]): void {
    const { feeds, feeding } = layerState();
    this.#call = feeds > 0 ? { feeding, inputs: [...inputs], outputs: [...outputs] } : null;
  }

  forget(): void {
    this.#call = null;
  }
}
