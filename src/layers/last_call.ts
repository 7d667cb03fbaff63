/** What a layer gave last while a model was fed a list of tensors: tfjs runs a layer once for each output that is used. */
import * as tf from '@tensorflow/tfjs';
import { layerState } from './layer_state.js';

/** What is known of a call beside its inputs. */
interface Circumstances {
  /** As the caller gave them: the same object throughout one run of a model. */
  readonly kwargs: Record<string, unknown> | undefined;
  /** How often the layer was applied to symbolic tensors. */
  readonly nodes: number;
}

interface Call {
  readonly feeding: number;
  readonly inputs: readonly unknown[];
  readonly kwargs: Record<string, unknown> | undefined;
  readonly outputs: readonly unknown[];
}

const isGone = (output: unknown): boolean => output instanceof tf.Tensor && output.isDisposed;

export class LastCall {
  #call: Call | null = null;

  /**
   * The outputs for these inputs where the same feeding has asked for them before, else null.
   *
   * In one run of a model, a layer with one node is asked again for what the run has already: it takes none of what it
   * gets. Whoever else asks (another node, a model in a model that is run once more) uses the outputs, and disposes
   * them when it is done with them unless it trains, so it gets its own.
   */
  outputsOf(inputs: readonly unknown[], { kwargs, nodes }: Circumstances): unknown[] | null {
    const { feeds, feeding } = layerState();
    const call = this.#call;
    if (call === null || feeds === 0 || call.feeding !== feeding || call.inputs.length !== inputs.length) return null;
    if (!inputs.every((input, i) => input === call.inputs[i])) return null;
    if (nodes === 1 && kwargs === call.kwargs) return [...call.outputs];
    if (call.outputs.some(isGone)) return null;
    if (kwargs?.['training'] === true) return [...call.outputs];
    return call.outputs.map((output) => (output instanceof tf.Tensor ? output.clone() : output));
  }

  /** Outside a feeding nothing is kept. */
  keep(inputs: readonly unknown[], kwargs: Record<string, unknown> | undefined, outputs: readonly unknown[]): void {
    const { feeds, feeding } = layerState();
    this.#call = feeds > 0 ? { feeding, inputs: [...inputs], kwargs, outputs: [...outputs] } : null;
  }

  forget(): void {
    this.#call = null;
  }
}
