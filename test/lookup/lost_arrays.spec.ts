/** Typed arrays whose memory was given away, as `postMessage` does, and arrays with holes. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { describeForBackends } from '../helpers/backends.js';
import { expectError } from '../helpers/errors.js';

const LOST = 'a detached array';
const SUM = { combiner: 'sum' } as const;

/** The array after its memory went elsewhere: it reads as an empty one. */
function lost<T extends Int32Array | Float32Array>(array: T): T {
  structuredClone(array.buffer, { transfer: [array.buffer as ArrayBuffer] });
  return array;
}

/** An array whose memory shrank below it. */
function shrunk(): Int32Array {
  const buffer = new (
    ArrayBuffer as unknown as new (bytes: number, options: object) => ArrayBuffer & { resize(bytes: number): void }
  )(16, {
    maxByteLength: 16,
  });
  const array = new Int32Array(buffer, 8, 2);
  buffer.resize(8);
  return array;
}

describeForBackends('arrays that lost their memory', ({ name, backend }) => {
  let table: tf.Tensor2D;
  let tensors = 0;
  beforeEach(() => {
    tensors = tf.memory().numTensors;
    table = tf.tensor2d([1, 2, 3, 4, 5, 6], [3, 2]);
  });
  afterEach(() => {
    table.dispose();
    expect(tf.memory().numTensors).withContext('tensors left behind').toBe(tensors);
  });

  /** The call must fail so, whatever it makes. */
  function expectLost(argument: string, run: () => unknown, received: string | RegExp = LOST): void {
    expectError(() => tf.tidy(() => void run()), 'ValueError', argument, received);
  }
  const bag = (values: unknown, splits: unknown, weights: unknown = null): tf.Tensor2D =>
    emb.ops.embeddingBag(table, values as number[], splits as number[], { ...SUM, weights: weights as number[] });

  it('are refused as ids, splits and weights', () => {
    expectLost('values', () => bag(lost(Int32Array.of(0, 1)), [0, 2]));
    expectLost('values', () => bag(lost(Float32Array.of(0, 1)), [0, 0]));
    expectLost('values', () => bag(shrunk(), [0, 0]));
    expectLost('rowSplits', () => bag([0, 1], lost(Int32Array.of(0, 2))));
    expectLost('weights', () => bag([0, 1], [0, 2], lost(Float32Array.of(1, 2))));
    expectLost('weights', () => bag([], [0, 0], lost(Float32Array.of(1, 2))));
    expectLost('ids', () => emb.embeddingLookup(table, lost(Int32Array.of(1, 2))));
    const layer = emb.layers.embedding({ inputDim: 3, outputDim: 2 });
    expectLost('ids', () => layer.apply(lost(Int32Array.of(1)) as never));
    layer.dispose();
    // Arrays that never held anything have lost nothing: one bag of no ids.
    const none = bag(new Int32Array(0), new Int32Array(2), new Float32Array(0));
    expect([none.shape, Array.from(none.dataSync())]).toEqual([
      [1, table.shape[1]!],
      new Array(table.shape[1]!).fill(0),
    ]);
    none.dispose();
  });

  it('are refused as parts of a RaggedTensor', () => {
    const { fromRowSplits } = emb.RaggedTensor;
    expectLost('values', () => fromRowSplits(lost(Int32Array.of(1, 2)), [0, 2]));
    expectLost('values', () => fromRowSplits(lost(Float32Array.of(1, 2)), [0, 0]));
    expectLost('rowSplits', () => fromRowSplits([1, 2], lost(Int32Array.of(0, 2))));
  });

  it('are refused as the values of a table', () => {
    const make = (values: unknown): unknown =>
      emb.embeddingTable({ inputDim: 3, outputDim: 2, weights: [values] as never });
    expectLost('weights', () => make(lost(new Float32Array(6))));
    expectLost('weights', () => make([[1, 2], lost(new Float32Array(2)), [5, 6]]));
  });

  // tfjs's wasm backend copies what a tensor is made of at once.
  if (backend !== 'wasm') {
    it('are refused where a tensor was made of them before', () => {
      const tensor = (array: Int32Array | Float32Array, shape: number[]): tf.Tensor => {
        const made = tf.tensor(array, shape);
        lost(array);
        return made;
      };
      const ids = (): tf.Tensor => tensor(Int32Array.of(0, 1), [2]);
      const floats = (shape: number[]): tf.Tensor => tensor(new Float32Array(shape.reduce((a, b) => a * b, 1)), shape);
      const lookUp = (lookedUp: tf.Tensor, values: tf.Tensor): unknown =>
        emb.ops.embeddingBag(lookedUp as tf.Tensor2D, values, [0, 2], SUM);
      expectLost('table', () => lookUp(floats([3, 2]), tf.tensor1d([0, 1], 'int32')));
      expectLost('values', () => lookUp(table, ids()));
      expectLost('rowSplits', () => emb.ops.embeddingBag(table, [0, 1], tensor(Int32Array.of(0, 2), [2]), SUM));
      expectLost('weights', () => emb.ops.embeddingBag(table, [0, 1], [0, 2], { ...SUM, weights: floats([2]) }));
      const gradient = floats([1, 2]) as tf.Tensor2D;
      expectLost('gradient', () => emb.ops.embeddingBagGrad(gradient, [0, 1], [0, 2], { ...SUM, rows: 3 }));
      const step = {
        gradient: tf.ones<tf.Rank.R2>([1, 2]),
        values: [0, 1],
        rowSplits: [0, 2],
        combiner: 'sum',
        learningRate: 1,
      } as const;
      const variable = tf.tidy(() => tf.variable(floats([3, 2])));
      const slot = tf.tidy(() => tf.variable(floats([3, 2])));
      const fine = tf.variable(table);
      expectLost('table', () => emb.ops.sparseApply('sgd', { ...step, table: variable }));
      expectLost('slots[0]', () => emb.ops.sparseApply('adagrad', { ...step, table: fine, slots: [slot] }));
      expect(Array.from(fine.dataSync())).withContext(name).toEqual([1, 2, 3, 4, 5, 6]);
      tf.dispose([gradient, variable, slot, fine, step.gradient]);
    });
  }
});

describeForBackends('arrays with holes', () => {
  const table = (): tf.Tensor2D => tf.tensor2d([1, 2, 3, 4, 5, 6], [3, 2]);
  const hole = <T>(...items: (T | undefined)[]): T[] => {
    const array: T[] = [];
    array.length = items.length;
    items.forEach((item, i) => item !== undefined && (array[i] = item));
    return array;
  };

  it('are refused wherever numbers, rows or variables belong', () => {
    const ids = hole(0, undefined, 2);
    for (const [argument, run] of [
      ['values', () => emb.ops.embeddingBag(table(), ids, [0, 3], SUM)],
      ['rowSplits', () => emb.ops.embeddingBag(table(), [0, 1, 2], ids, SUM)],
      ['weights', () => emb.ops.embeddingBag(table(), [0, 1, 2], [0, 3], { ...SUM, weights: ids })],
      ['ids', () => emb.embeddingLookup(table(), [[0, 1], ids])],
      ['ids', () => emb.embeddingLookup(table(), hole([0, 1], undefined, [1]))],
      ['weights', () => emb.embeddingLookup(table(), [[0, 1, 2]], { ...SUM, weights: [ids] })],
      ['weights', () => emb.embeddingTable({ inputDim: 3, outputDim: 2, weights: [hole([1, 2], undefined, [1, 2])] })],
      [
        'weights',
        () => emb.embeddingTable({ inputDim: 3, outputDim: 2, weights: [[[1, 2], hole(1, undefined), [1, 2]]] }),
      ],
      ['weights', () => emb.embeddingTable({ inputDim: 3, outputDim: 2, weights: hole<number[][]>(undefined) })],
    ] as const) {
      expectError(() => tf.tidy(() => void run()), 'TypeError', argument);
    }
  });

  it('are refused as slots, and nothing is stepped', () => {
    const [variable, slot] = tf.tidy(() => [tf.variable(table()), tf.variable(table())]);
    const step = {
      table: variable as unknown as tf.Variable,
      gradient: tf.ones<tf.Rank.R2>([1, 2]),
      values: [0, 1],
      rowSplits: [0, 2],
      combiner: 'sum',
      learningRate: 1,
    } as const;
    expectError(
      () => emb.ops.sparseApply('adagrad', { ...step, slots: hole<tf.Variable>(undefined) }),
      'TypeError',
      'slots[0]',
    );
    expectError(() => emb.ops.sparseApply('adam', { ...step, slots: hole(slot, undefined) }), 'TypeError', 'slots[1]');
    expect(Array.from(variable!.dataSync())).toEqual([1, 2, 3, 4, 5, 6]);
    tf.dispose([variable!, slot!, step.gradient]);
  });
});
