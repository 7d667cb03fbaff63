/** Weights in a file, by name; and those of converters, which lie in memory. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import { SpecFault, bytesTaken, readSpec } from '../../../io/models/weight_specs.js';

/** Weights of a file; each is read when it is needed. */
export interface WeightSource {
  /** In the order of the file. */
  readonly names: readonly string[];
  /** Names by layer, in the order in which the layer has them; null where the file does not tell. */
  readonly groups: ReadonlyMap<string, readonly string[]> | null;
  /** Names by `layerPath`, in the order in which each layer has them; null where the file does not tell. */
  readonly layers: ReadonlyMap<string, readonly string[]> | null;
  shapeOf(name: string): readonly number[];
  /** A new tensor of float32 values, or of the dtype in the file where that is another. */
  read(name: string): tf.Tensor;
}

/** Which layer: its name after those of the models around it, without the outermost. */
export function layerPath(names: readonly string[]): string {
  return names.join('\n');
}

/** Bytes of weights, one after the other, as converters write them. */
export class ConvertedWeights implements WeightSource {
  readonly names: readonly string[];
  readonly groups = null;
  readonly layers = null;
  readonly #specs: ReadonlyMap<string, tf.io.WeightsManifestEntry>;
  readonly #tensors: tf.NamedTensorMap;

  constructor(specs: readonly tf.io.WeightsManifestEntry[], data: tf.io.WeightData) {
    const bytes = tf.io.CompositeArrayBuffer.join(data);
    try {
      const taken = bytesTaken(specs.map(readSpec), new DataView(bytes));
      if (taken !== bytes.byteLength) {
        throw new ValueError('source', `weights of ${taken} bytes, as it says`, described(`${bytes.byteLength} bytes`));
      }
    } catch (error) {
      if (!(error instanceof SpecFault)) throw error;
      throw new ValueError('source', 'weights with name, shape and dtype', described(error.message));
    }
    this.names = specs.map(({ name }) => name);
    this.#specs = new Map(specs.map((spec) => [spec.name, spec]));
    this.#tensors = tf.io.decodeWeights(bytes, [...specs]);
  }

  shapeOf(name: string): readonly number[] {
    return this.#specs.get(name)!.shape;
  }

  read(name: string): tf.Tensor {
    return this.#tensors[name]!.clone();
  }

  dispose(): void {
    tf.dispose(this.#tensors);
  }
}
