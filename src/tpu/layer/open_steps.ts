/** The steps of a layer whose gradients are still to come. */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../per_process.js';
import { withoutTape } from '../../tfjs_patches/lazy_gradient.js';
import { takeCollection, createGradientCollection } from '../activations/gradient_collection.js';
import type { StepPipeline, TrainingStep } from '../embedding/step_pipeline.js';

/** Collections of layers are numbered far from those that people number themselves. */
const FIRST_COLLECTION = 2 ** 30;

const numbers = (): { next: number } => perProcess('tpu layer collections', () => ({ next: FIRST_COLLECTION }));

interface OpenStep {
  readonly collection: number;
  readonly step: TrainingStep;
  /** The backward pass to come, as tfjs tells them apart. */
  readonly tape: unknown;
}

function currentTape(): unknown {
  return (tf.engine().state as unknown as { activeTape: unknown }).activeTape;
}

export class OpenSteps {
  #open: OpenStep[] = [];

  constructor(private readonly pipeline: StepPipeline) {}

  /** Keeps a step until its gradients come; returns the number of its collection. */
  add(step: TrainingStep, features: number): number {
    const collection = numbers().next++;
    createGradientCollection(collection, features);
    this.#open.push({ collection, step, tape: currentTape() });
    return collection;
  }

  /**
   * Makes the steps whose gradients have come, and gives up the others. Those of the pass that is being recorded now stay,
   * unless `all`: their gradients are still to come.
   */
  flush(all = false): void {
    const now = currentTape();
    const isOpen = ({ tape }: OpenStep): boolean => !all && tape !== null && tape === now;
    const done = this.#open.filter((each) => !isOpen(each));
    this.#open = this.#open.filter(isOpen);
    for (const { collection, step } of done) {
      const gradients = takeCollection(collection);
      try {
        if (gradients.every((gradient) => gradient === null)) this.pipeline.abandon(step);
        else tf.tidy(() => withoutTape(() => this.pipeline.apply(step, gradients.map(asRows))));
      } finally {
        tf.dispose(gradients as tf.Tensor[]);
      }
    }
  }

  /** Gives all steps up. */
  dispose(): void {
    for (const { collection, step } of this.#open) {
      tf.dispose(takeCollection(collection) as tf.Tensor[]);
      this.pipeline.abandon(step);
    }
    this.#open = [];
  }
}

function asRows(gradient: tf.Tensor | null): tf.Tensor2D | null {
  return gradient === null ? null : tf.reshape(gradient, [-1, gradient.shape.at(-1)!]);
}
