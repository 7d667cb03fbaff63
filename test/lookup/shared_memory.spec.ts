/** Steps in place where table, slots and what a step reads share memory with each other or with somebody's tensor. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { SLOT_NAMES, slotShapes, type UpdateName } from '../../src/rules/rules.js';
import { OF_PLAIN_TABLES, optimizerOf } from '../rules/optimizer_of.js';
import { describeForBackends } from '../helpers/backends.js';

const [ROWS, DIM] = [3, 2];
const IDS = [0, 2, 2, 1, 0, 1];
const SPLITS = [0, 3, 4, 6];

/** What a step reads beside the ids. */
interface Read {
  readonly gradient: tf.Tensor2D;
  readonly weights: tf.Tensor1D;
}

interface Stepped {
  readonly table: tf.Variable;
  readonly slots: tf.Variable[];
}

const numbers = (length: number, from: number): Float32Array =>
  Float32Array.from({ length }, (_, i) => from + ((i * 7) % 5) / 8);

function stepped(optimizer: UpdateName): Stepped {
  return tf.tidy(() => ({
    table: tf.variable(tf.tensor2d(numbers(ROWS * DIM, -0.25), [ROWS, DIM])) as unknown as tf.Variable,
    slots: slotShapes(optimizer, [ROWS, DIM]).map((shape, i) =>
      tf.variable(
        tf.tensor(
          numbers(
            shape.reduce((a, b) => a * b, 1),
            0.5 + i,
          ),
          shape,
        ),
      ),
    ),
  }));
}

function step(optimizer: UpdateName, { table, slots }: Stepped, { gradient, weights }: Read): void {
  // As many ids as weights: all of them, or one per bag.
  const isShort = weights.size === ROWS;
  const ids = { values: IDS.slice(0, weights.size), rowSplits: isShort ? [0, 1, 2, 3] : SPLITS };
  const { name, config } = optimizerOf(optimizer);
  emb.ops.sparseApply(name, { ...config, table, slots, gradient, weights, ...ids, combiner: 'sum', learningRate: 0.5 });
}

const valuesOf = (tensors: readonly tf.Tensor[]): number[][] => tensors.map((tensor) => Array.from(tensor.dataSync()));

/** Gradient and weights on the memory of a variable, as far as their sizes allow: the variable itself, or a reshape. */
function readFrom(source: tf.Variable, isItself: boolean): Read {
  const gradient = [ROWS, DIM];
  const weights = [source.rank === 1 ? source.size : IDS.length];
  const on = (shape: number[]): tf.Tensor => {
    if (isItself && source.shape.join() === shape.join()) return source;
    const size = shape.reduce((a, b) => a * b, 1);
    return !isItself && source.size === size ? source.reshape(shape) : tf.tensor(numbers(size, 0.1), shape);
  };
  return { gradient: on(gradient) as tf.Tensor2D, weights: on(weights) as tf.Tensor1D };
}

/** Tensors that share the memory of a variable, on the backends where tensors can. */
const SHARED: Readonly<Record<string, (variable: tf.Variable) => tf.Tensor>> = {
  clone: (variable) => variable.clone(),
  reshape: (variable) => variable.reshape([-1]),
};

describeForBackends('a step in place', () => {
  let tensors = 0;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left behind').toBe(tensors));

  const apart = (): Read => ({
    gradient: tf.tensor2d(numbers(ROWS * DIM, 0.1), [ROWS, DIM]),
    weights: tf.tensor1d(numbers(IDS.length, 0.2)),
  });

  for (const optimizer of OF_PLAIN_TABLES) {
    for (const [how, share] of Object.entries(SHARED)) {
      it(`leaves tensors alone that share memory with table or slots: ${optimizer}, ${how}`, () => {
        const mine = stepped(optimizer);
        const own = [mine.table, ...mine.slots];
        const read = apart();
        // Twice: what a step has written before is its own memory until somebody shares it again.
        for (let round = 0; round < 2; round++) {
          const others = own.map(share);
          const before = valuesOf(others);
          step(optimizer, mine, read);
          expect(valuesOf(others)).withContext(`round ${round}`).toEqual(before);
          expect(valuesOf(own)).not.toEqual(before);
          tf.dispose(others);
        }
        tf.dispose([...own, read.gradient, read.weights]);
      });
    }

    it(`reads gradients and weights that share memory with table or slots as they were before it: ${optimizer}`, () => {
      const count = 1 + SLOT_NAMES[optimizer].length;
      for (let which = 0; which < count; which++) {
        for (const isItself of [true, false]) {
          const results = [true, false].map((isShared) => {
            const mine = stepped(optimizer);
            const own = [mine.table, ...mine.slots];
            const source = own[which]!;
            const read = readFrom(source, isItself);
            // Tensors of arrays are apart on every backend.
            const copies: Read = {
              gradient: tf.tensor2d(read.gradient.dataSync().slice(), read.gradient.shape),
              weights: tf.tensor1d(read.weights.dataSync().slice()),
            };
            step(optimizer, mine, isShared ? read : copies);
            const values = valuesOf(own);
            tf.dispose([...own, read.gradient, read.weights, copies.gradient, copies.weights]);
            return values;
          });
          expect(results[0]).withContext(`variable ${which}, itself: ${isItself}`).toEqual(results[1]!);
        }
      }
    });
  }
});
