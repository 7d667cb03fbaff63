/** What a tape of tfjs kept when the forward pass that it records has failed. */
import * as tf from '@tensorflow/tfjs';

interface TapeState {
  readonly gradientDepth: number;
  activeTape: { saved?: tf.Tensor[] }[] | null;
}

/**
 * Frees what a tape kept for a backward pass that a failed forward pass never reaches: `Engine.gradients` ends its tape
 * only when all went well, and the tensors of the failed pass stay for as long as the process.
 */
export function releaseFailedTape(): void {
  const state = tf.engine().state as unknown as TapeState;
  // An outer tape still needs what it kept.
  if (state.gradientDepth > 0 || !Array.isArray(state.activeTape)) return;
  for (const { saved } of state.activeTape) saved?.forEach((tensor) => tensor.dispose());
  state.activeTape = null;
}
