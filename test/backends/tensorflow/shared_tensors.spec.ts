/** Memory that TensorFlow shares, and where it may be copied to. */
import * as tf from '@tensorflow/tfjs';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { withTensor } from '../../../src/backends/tensorflow/node_backend.js';
import { describeTensorFlow, nodeBackend } from './tensorflow_backend.js';

/** Shares tensors under keys. */
function shareTensors(keys: readonly number[], ...tensors: tf.TensorInfo[]): void {
  const backend = nodeBackend();
  const { TF_ATTR_INT, TF_ATTR_TYPE, TF_FLOAT } = backend.binding;
  const attributes = [
    { name: 'N', type: TF_ATTR_INT, value: tensors.length },
    { name: 'T', type: TF_ATTR_TYPE, value: TF_FLOAT },
  ];
  withTensor(backend, Int32Array.from(keys), [keys.length], (given) => {
    backend.executeMultipleOutputs('EmbeddingShareTensors', attributes, [given, ...tensors], 0);
  });
}

/** Shares an array as a tensor while `run` runs. */
function whileShared(array: Float32Array, run: (key: number) => void): void {
  const key = loadAddon().newSharedTensorKey();
  withTensor(nodeBackend(), array, [array.length], (tensor) => {
    shareTensors([key], tensor);
    try {
      run(key);
    } finally {
      loadAddon().releaseSharedTensor(key);
    }
  });
}

const read = (key: number): number => {
  const target = new Float32Array(1);
  loadAddon().readSharedTensor(key, 0, 1, 1, 1, target);
  return target[0]!;
};

describeTensorFlow('a shared tensor of TensorFlow', () => {
  // The ops of this package register with the first kernel.
  beforeEach(() => {
    tf.tidy(() => {
      const attributes = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
      tf.engine().runKernel('EmbeddingBag', firstCall(), attributes as never);
    });
  });

  it('has a key of its own, and those of a call that fails are not kept', () => {
    const { newSharedTensorKey, releaseSharedTensor } = loadAddon();
    const [taken, free, other] = [newSharedTensorKey(), newSharedTensorKey(), newSharedTensorKey()];
    const UNKNOWN = /`key`: no tensor is shared under it/;
    const [one, two] = [tf.tensor1d([1]), tf.tensor1d([2])];
    shareTensors([taken], one);
    for (const keys of [[taken], [free, taken], [free, other, taken], [free, free]]) {
      const tensors = keys.map(() => two);
      expect(() => shareTensors(keys, ...tensors)).toThrowError(new RegExp(`keys: ${keys.at(-1)} is in use`));
      for (const key of [free, other]) expect(() => read(key)).toThrowError(RangeError, UNKNOWN);
      expect(read(taken)).toBe(1);
    }
    for (const keys of [[free], [free, other, newSharedTensorKey()]]) {
      expect(() => shareTensors(keys, two, two)).toThrowError(/keys: expected one per source \(2\), received/);
      expect(() => read(free)).toThrowError(RangeError, UNKNOWN);
    }
    shareTensors([free], two);
    expect(read(free)).toBe(2);
    for (const key of [taken, free]) releaseSharedTensor(key);
    tf.dispose([one, two]);
  });

  it('ends nowhere but in its rows', () => {
    whileShared(
      Float32Array.from({ length: 12 }, (_, i) => i),
      (key) => {
        const rows = (at: number, stride: number, count: number, columns: number) => (): number[] => {
          const target = new Float32Array(count * columns);
          loadAddon().readSharedTensor(key, at, stride, count, columns, target);
          return [...target];
        };
        expect(rows(0, 4, 3, 4)()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        expect(rows(1, 4, 3, 2)()).toEqual([1, 2, 5, 6, 9, 10]);
        expect(rows(2, 5, 2, 5)()).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        expect(rows(11, 1, 1, 1)()).toEqual([11]);
        expect(rows(11, 0, 2, 1)()).toEqual([11, 11]);
        expect(rows(12, 1, 0, 1)()).toEqual([]);
        for (const [at, stride, count, columns] of [
          [0, 4, 4, 4],
          [1, 4, 3, 4],
          [3, 5, 2, 5],
          [12, 1, 1, 1],
          [11, 1, 2, 1],
          [10, 1, 1, 3],
          [0, 2 ** 53 - 1, 2, 1],
          [2 ** 53 - 1, 1, 1, 1],
          [0, 6, 3, 1],
        ] as const) {
          expect(rows(at, stride, count, columns))
            .withContext(`${at}, ${stride}, ${count}, ${columns}`)
            .toThrowError(RangeError, /`at`: the rows lie outside the tensor that is shared/);
        }
      },
    );
  });

  it('is written in its rows alone', () => {
    const { newSharedTensorKey, releaseSharedTensor, writeSharedTensor } = loadAddon();
    const key = newSharedTensorKey();
    const write = (at: number, stride: number, rows: number, columns: number): void =>
      writeSharedTensor(key, at, stride, rows, columns, new Float32Array(rows * columns).fill(1));
    expect(() => write(0, 1, 1, 1)).toThrowError(RangeError, /`key`: no tensor is shared under it/);
    // TensorFlow's own memory: an array may be held as it is.
    const tensor = tf.tidy(() => tf.zeros([12]).add(0));
    shareTensors([key], tensor);
    write(1, 4, 3, 2);
    write(11, 7, 1, 1);
    write(0, 1, 0, 5);
    for (const [at, stride, rows, columns] of [
      [0, 4, 4, 4],
      [3, 5, 2, 5],
      [12, 1, 1, 1],
      [11, 1, 2, 1],
      [0, 2 ** 53 - 1, 2, 1],
    ] as const) {
      expect(() => write(at, stride, rows, columns))
        .withContext(`${at}, ${stride}, ${rows}, ${columns}`)
        .toThrowError(RangeError, /`at`: the rows lie outside the tensor that is shared/);
    }
    expect(() => writeSharedTensor(key, 0, 1, 1, 2, new Float32Array(1))).toThrowError(/`source`: expected/);
    releaseSharedTensor(key);
    expect([...tensor.dataSync()]).toEqual([0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1]);
    tensor.dispose();
  });

  it('is never copied into its own memory', () => {
    let refused = 0;
    // TensorFlow holds a typed array as it is where its alignment suits, so many are tried.
    for (let i = 0; i < 24; i++) {
      const array = new Float32Array(64 + i).fill(1);
      whileShared(array, (key) => {
        const apart = new Float32Array(4);
        loadAddon().readSharedTensor(key, 0, 4, 1, 4, apart);
        expect([...apart]).toEqual([1, 1, 1, 1]);
        try {
          loadAddon().readSharedTensor(key, 0, 4, 1, 4, array.subarray(2, 6));
        } catch (error) {
          expect((error as Error).message).toBe(
            '`target`: expected memory of its own, received memory of the tensor that is shared',
          );
          refused++;
        }
      });
    }
    expect(refused).toBeGreaterThan(0);
  });
});

function firstCall(): tf.NamedTensorMap {
  return { table: tf.ones([1, 1]), values: tf.tensor1d([0], 'int32'), rowSplits: tf.tensor1d([0, 1], 'int32') };
}
