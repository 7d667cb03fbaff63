/** A model with its optimizer as they are at one moment, in the memory where their values lie: tables, slots and the rest. */
import * as tf from '@tensorflow/tfjs';
import type { NamedTensor } from '../base/types.js';

interface Optimizer {
  getWeights(): Promise<NamedTensor[]>;
  setWeights(weights: NamedTensor[]): Promise<void>;
}

function optimizerOf(model: tf.LayersModel): Optimizer | null {
  return (model.optimizer as unknown as Optimizer | null | undefined) ?? null;
}

/** The state of an optimizer; what was made for this call alone is freed by `free`. */
async function stateOf(optimizer: Optimizer): Promise<{ state: NamedTensor[]; free: () => void }> {
  const state = await optimizer.getWeights();
  // The count of steps is a tensor that is made for each call; all else are variables in use.
  const free = (): void => {
    for (const { tensor } of state) if (!(tensor instanceof tf.Variable)) tensor.dispose();
  };
  return { state, free };
}

/**
 * Gives an optimizer a state. Those of tfjs make new variables and forget the earlier ones: they are freed here, if none
 * of them is still in use.
 */
export async function setOptimizerState(model: tf.LayersModel, given: readonly NamedTensor[]): Promise<void> {
  const optimizer = optimizerOf(model);
  if (optimizer === null) return;
  const before = await stateOf(optimizer);
  const earlier = before.state.map(({ tensor }) => tensor).filter((tensor) => tensor instanceof tf.Variable);
  before.free();
  await optimizer.setWeights([...given]);
  const after = await stateOf(optimizer);
  const used = new Set(after.state.map(({ tensor }) => tensor));
  after.free();
  for (const variable of earlier) if (!used.has(variable) && !variable.isDisposed) variable.dispose();
}

export class ModelState {
  private constructor(
    private readonly weights: readonly tf.Tensor[],
    private readonly state: readonly NamedTensor[] | null,
  ) {}

  /** Copies are made where values lie, and only of what a later step changes. */
  static async of(model: tf.LayersModel): Promise<ModelState> {
    const kept = (tensor: tf.Tensor): tf.Tensor => tf.tidy(() => tf.keep(tensor.clone()));
    const optimizer = optimizerOf(model);
    if (optimizer === null) return new ModelState(model.getWeights().map(kept), null);
    const { state, free } = await stateOf(optimizer);
    const copies = state.map(({ name, tensor }) => ({ name, tensor: kept(tensor) }));
    free();
    return new ModelState(model.getWeights().map(kept), copies);
  }

  async restore(model: tf.LayersModel): Promise<void> {
    model.setWeights([...this.weights]);
    if (this.state !== null) await setOptimizerState(model, this.state);
  }

  dispose(): void {
    tf.dispose([...this.weights]);
    for (const { tensor } of this.state ?? []) tensor.dispose();
  }
}
