/**
 * Which `tf.tidy` a tensor belongs to. tfjs gives a new tensor to the innermost scope that is open; an object that lives
 * longer needs its tensors to live as long as itself, and to go when the scope ends in which it was made.
 */
import * as tf from '@tensorflow/tfjs';

interface Scope {
  readonly id: number;
  readonly track: tf.Tensor[];
}

interface ScopeState {
  /** undefined until the first scope of the process opens. */
  readonly activeScope: Scope | null | undefined;
  readonly scopeStack: readonly Scope[];
}

function scopes(): ScopeState {
  return (tf.engine() as unknown as { state: ScopeState }).state;
}

/** The scope that was open when this was made; outside of any, tensors live until they are disposed. */
export class TensorScope {
  private readonly scope = scopes().activeScope ?? null;

  /** Whether tensors of this scope may still be used. */
  isOpen(): boolean {
    return this.scope === null || scopes().scopeStack.includes(this.scope);
  }

  /** Moves a tensor that was just made from the innermost scope to this one. */
  adopt<T extends tf.Tensor>(tensor: T): T {
    const activeScope = scopes().activeScope ?? null;
    const at = activeScope?.track.lastIndexOf(tensor) ?? -1;
    if (at >= 0) activeScope!.track.splice(at, 1);
    tensor.scopeId = this.scope?.id ?? -1;
    this.scope?.track.push(tensor);
    return tensor;
  }
}
