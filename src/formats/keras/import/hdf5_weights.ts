/** Weights in an HDF5 file of Keras. */
import * as tf from '@tensorflow/tfjs';
import type { Hdf5File } from '../hdf5.js';
import type { WeightSource } from './weight_source.js';

/** Reads the layers and the names of their weights, where a file lists them, as Keras 2 does. */
function readGroups(file: Hdf5File, root: string): Map<string, string[]> | null {
  const layers = file.texts(root === '' ? '/' : root, 'layer_names');
  if (layers === null) return null;
  return new Map(
    layers.map((layer) => {
      const names = file.texts(`${root}/${layer}`, 'weight_names') ?? [];
      return [layer, names.map((name) => `${layer}/${name}`)];
    }),
  );
}

/** The arrays below a group of an HDF5 file. */
export class Hdf5Weights implements WeightSource {
  readonly names: readonly string[];
  readonly groups: ReadonlyMap<string, readonly string[]> | null;
  readonly layers = null;

  constructor(
    private readonly file: Hdf5File,
    private readonly root: string,
  ) {
    this.groups = readGroups(file, root);
    this.names = file.arrays(root);
  }

  shapeOf(name: string): readonly number[] {
    return this.file.shape(`${this.root}/${name}`);
  }

  read(name: string): tf.Tensor {
    const shape = [...this.shapeOf(name)];
    return tf.tensor(this.file.values(`${this.root}/${name}`), shape);
  }
}
