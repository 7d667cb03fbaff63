/** The calls of a layer within one forward pass, and the step that follows when the pass was gone through backwards. */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { withLazyGradient, withoutTape } from '../../tfjs/lazy_gradient.js';
import { createGradientCollection, takeCollection } from '../activations/gradient_collection.js';
import { tpuEmbeddingActivations } from '../activations/tpu_embedding_activations.js';
import type { CallGradients, LayerCall } from './layer_tables.js';

/** Collections of layers are numbered far from those that users number themselves. */
const FIRST_COLLECTION = 2 ** 30;

const numbers = (): { next: number } => perProcess('tpu layer collections', () => ({ next: FIRST_COLLECTION }));

interface Collected {
  readonly collection: number;
  readonly call: LayerCall;
}

interface Pass {
  /** Of the pass, as tfjs tells passes apart. */
  readonly tape: unknown;
  /** Stands for the gradient variable: all activations of the pass come after it on the tape. */
  readonly anchor: tf.Tensor;
  readonly calls: Collected[];
}

function currentTape(): unknown {
  return (tf.engine().state as unknown as { activeTape: unknown }).activeTape;
}

export class TrainingPass {
  #pass: Pass | null = null;

  constructor(private readonly gradientVariable: () => tf.Variable) {}

  /** Activations of a call, through which its gradients are found. Call inside a tidy, on the tape. */
  add(call: LayerCall, activations: readonly tf.Tensor[]): tf.Tensor[] {
    const { anchor, calls } = this.#current();
    const tableId = numbers().next++;
    createGradientCollection(tableId, activations.length);
    calls.push({ collection: tableId, call });
    return activations.map((each, lookupId) => tpuEmbeddingActivations(anchor, each, { tableId, lookupId }));
  }

  #current(): Pass {
    const tape = currentTape();
    if (this.#pass !== null && this.#pass.tape === tape) return this.#pass;
    this.drop();
    const variable = this.gradientVariable();
    // tfjs goes through the tape backwards, so the gradient of what was recorded first is asked for last: all gradients of
    // activations have come then. The step is made whatever the optimizer does with the gradient, which is zero.
    const anchor = withLazyGradient(
      { variable },
      () => variable.clone(),
      () => ({ variable: () => this.#step() }),
    );
    this.#pass = { tape, anchor: tf.keep(anchor), calls: [] };
    return this.#pass;
  }

  /** Steps the tables once, with all that has come; returns the gradient of the variable. */
  #step(): tf.Tensor {
    const gradientOfVariable = tf.zerosLike(this.gradientVariable());
    const pass = this.#pass;
    this.#pass = null;
    if (pass === null) return gradientOfVariable;
    const taken = pass.calls.map(({ collection, call }) => ({ call, gradients: takeCollection(collection) }));
    try {
      const came = taken.filter(({ gradients }) => gradients.some((gradient) => gradient !== null));
      const all = came.map(({ call, gradients }): CallGradients => ({ call, gradients: gradients.map(asRows) }));
      const [first, ...others] = all;
      if (first !== undefined) tf.tidy(() => withoutTape(() => first.call.step(first.gradients, others)));
    } finally {
      for (const { call, gradients } of taken) {
        call.free();
        tf.dispose(gradients as tf.Tensor[]);
      }
      pass.anchor.dispose();
    }
    return gradientOfVariable;
  }

  /** Gives up a pass that had no backward pass. */
  drop(): void {
    const pass = this.#pass;
    this.#pass = null;
    if (pass === null) return;
    for (const { collection, call } of pass.calls) {
      tf.dispose(takeCollection(collection) as tf.Tensor[]);
      call.free();
    }
    pass.anchor.dispose();
  }
}

function asRows(gradient: tf.Tensor | null): tf.Tensor2D | null {
  if (gradient === null) return null;
  const dim = gradient.shape.at(-1)!;
  return withoutTape(() => tf.reshape(gradient, [gradient.size / dim, dim]));
}
