/** Which layer of a model runs, so that a reason for not capturing a step names it. */
import * as tf from '@tensorflow/tfjs';
import type { Override } from '../tfjs/training/substitute.js';

type Apply = (this: tf.layers.Layer, inputs: unknown, kwargs?: unknown) => unknown;

/** A layer by its name and its class. */
export function layerText(layer: tf.layers.Layer): string {
  return `layer ${layer.name} (${layer.constructor.name})`;
}

/** The layer whose call is in progress; of layers within layers the innermost one that tfjs applies. */
export class CalledLayers {
  readonly #running: tf.layers.Layer[] = [];

  /** In words; undefined: none. */
  get now(): string | undefined {
    const layer = this.#running.at(-1);
    return layer === undefined ? undefined : layerText(layer);
  }

  /** What tells it of calls. */
  get override(): Override {
    const begin = (): (() => void) => {
      const running = this.#running;
      const layers = tf.layers.Layer.prototype as unknown as { apply: Apply };
      const { apply } = layers;
      layers.apply = function (inputs, kwargs) {
        running.push(this);
        try {
          return apply.call(this, inputs, kwargs);
        } finally {
          running.pop();
        }
      };
      return () => (layers.apply = apply);
    };
    return { begin };
  }
}

/** Where something of a step comes from, behind other words. */
export function inLayer(within: string | undefined): string {
  return within === undefined ? '' : ` in ${within}`;
}
