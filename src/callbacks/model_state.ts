/** A model with its optimizer as they are at one moment, in the memory where their values lie: tables, slots and the rest. */
import * as tf from '@tensorflow/tfjs';
import type { NamedTensor } from '../base/types.js';
import { SparseOptimizer } from '../optimizers/sparse_optimizer.js';
import { freeCount } from '../tfjs/stock_optimizer_state.js';

interface Optimizer {
  getWeights(): Promise<NamedTensor[]>;
  setWeights(weights: NamedTensor[]): Promise<void>;
}

function optimizerOf(model: tf.LayersModel): Optimizer | null {
  return (model.optimizer as unknown as Optimizer | null | undefined) ?? null;
}

/**
 * Gives an optimizer a state. Those of tfjs make new variables and forget the earlier ones: they are freed here, if none
 * of them is still in use.
 */
export async function setOptimizerState(model: tf.LayersModel, given: readonly NamedTensor[]): Promise<void> {
  const optimizer = optimizerOf(model);
  if (optimizer === null) return;
  if (optimizer instanceof SparseOptimizer) return optimizer.setWeights([...given]);
  const before = await optimizer.getWeights();
  const earlier = before.map(({ tensor }) => tensor).filter((tensor) => tensor instanceof tf.Variable);
  freeCount(before);
  await optimizer.setWeights([...given]);
  const after = await optimizer.getWeights();
  const used = new Set(after.map(({ tensor }) => tensor));
  freeCount(after);
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
    const state = await optimizer.getWeights();
    const copies = state.map(({ name, tensor }) => ({ name, tensor: kept(tensor) }));
    freeCount(state);
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
