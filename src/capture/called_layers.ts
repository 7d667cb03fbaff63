/** Which layer of a model runs, so that a reason for not capturing a step names it. */
import * as tf from '@tensorflow/tfjs';
import { Substitute, type Override } from '../tfjs/training/substitute.js';

type Apply = (this: tf.layers.Layer, inputs: unknown, kwargs?: unknown) => unknown;

/** Runs the call of a layer. */
export type CallsBy = (layer: tf.layers.Layer, call: () => unknown) => unknown;

const calls = new Substitute<CallsBy>('called layers');

/** Installs the hook into tfjs. */
export function installCalls(): void {
  const ofAll = { constructor: tf.layers.Layer };
  calls.open<Apply>(ofAll, 'apply', (stock, byNow) => {
    return function (this: tf.layers.Layer, inputs, kwargs): unknown {
      const by = byNow();
      const call = (): unknown => stock.call(this, inputs, kwargs);
      return by === null ? call() : by(this, call);
    };
  });
}

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
    return calls.as((layer, call) => {
      this.#running.push(layer);
      try {
        return call();
      } finally {
        this.#running.pop();
      }
    });
  }
}

/** Where something of a step comes from, behind other words. */
export function inLayer(within: string | undefined): string {
  return within === undefined ? '' : ` in ${within}`;
}
