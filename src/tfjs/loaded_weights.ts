/** Weights from a file that do not fit the model in it: tfjs knows neither the file nor which weight has the wrong shape. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../base/errors.js';
import { MODELS, override, whenAsked } from './models/own_models.js';

interface Loadable {
  readonly weights: readonly tf.LayerVariable[];
  loadWeights(weights: tf.NamedTensorMap, strict?: boolean): void;
  dispose(): unknown;
}

/** The file whose weights tfjs is putting into a model. */
let source: string | null = null;

/** Returns the artifacts of a file, of which tfjs tells no more than what is in them. */
export function fromFile(path: string, artifacts: tf.io.ModelArtifacts): tf.io.ModelArtifacts {
  return whenAsked(artifacts, 'weightSpecs', (isAsked) => (source = isAsked ? path : null));
}

function checkFit(path: string, model: Loadable, weights: tf.NamedTensorMap): void {
  for (const { originalName, shape, dtype } of model.weights) {
    const given = weights[originalName];
    if (given === undefined) continue;
    if (given.dtype === dtype && tf.util.arraysEqual(given.shape, shape as number[])) continue;
    const expected = `${dtype} values of shape [${shape.join(', ')}] for ${originalName}`;
    const received = `${path}, where they are ${given.dtype} of shape [${given.shape.join(', ')}]`;
    throw new ValueError('path', expected, described(received));
  }
}

/** Makes the errors of weights that do not fit name the file, where they come from one; nothing of such a model is left. */
export function nameFilesOfWeights(): void {
  override(MODELS.containers, 'loadWeights', (loadWeights: Loadable['loadWeights']) => {
    return function (this: Loadable, weights, strict): void {
      const path = source;
      if (path === null) return loadWeights.call(this, weights, strict);
      try {
        checkFit(path, this, weights);
        loadWeights.call(this, weights, strict);
      } catch (error) {
        tf.dispose(weights);
        this.dispose();
        if (error instanceof ValueError) throw error;
        throw new ValueError('path', 'weights that fit the model', described(path), (error as Error).message);
      }
    };
  });
}
