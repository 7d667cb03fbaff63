/** Models whose masks go into models within them, out of those, and through layers that merge. */
import * as tf from '@tensorflow/tfjs';
import { random, type Make } from './stock_model.js';

type Symbolic = tf.SymbolicTensor;

const { layers } = tf;

const WORDS = [
  [1, 2, 3, 0, 0],
  [4, 0, 5, 6, 8],
  [7, 0, 0, 0, 0],
];
const OTHERS = [
  [1, 2, 0, 0, 0],
  [4, 0, 5, 0, 0],
  [7, 3, 2, 1, 0],
];

function embed(words: Symbolic, maskZero = true): Symbolic {
  return layers.embedding({ inputDim: 9, outputDim: 4, maskZero }).apply(words) as Symbolic;
}

function read(x: Symbolic): Symbolic {
  return layers.gru({ units: 3 }).apply(x) as Symbolic;
}

/** One input of words, or two. */
function reading(make: (...words: Symbolic[]) => Symbolic | Symbolic[], count = 1): Make {
  return () => {
    const inputs = Array.from({ length: count }, () => tf.input({ shape: [5], dtype: 'int32' }));
    const model = tf.model({ inputs, outputs: make(...inputs) });
    return { model, inputs: [WORDS, OTHERS].slice(0, count).map((rows) => tf.tensor2d(rows, undefined, 'int32')) };
  };
}

function inner(shapes: number[][], make: (...given: Symbolic[]) => Symbolic | Symbolic[]): tf.LayersModel {
  const inputs = shapes.map((shape) => tf.input({ shape }));
  return tf.model({ inputs, outputs: make(...inputs) });
}

const SEQUENCE = [5, 4];

export const NESTED_MASKS: readonly (readonly [string, Make])[] = [
  [
    'a mask into a model',
    reading((words) => {
      const reader = tf.sequential({
        layers: [layers.dense({ units: 2, inputShape: SEQUENCE }), layers.lstm({ units: 3 })],
      });
      return reader.apply(embed(words!)) as Symbolic;
    }),
  ],
  [
    'a mask into the second input of a model, and into a model within it',
    reading((words, others) => {
      const innermost = inner([SEQUENCE], read);
      const reader = inner([SEQUENCE, SEQUENCE], (a, b) => {
        return layers.add().apply([read(a!), innermost.apply(b!) as Symbolic]) as Symbolic;
      });
      return reader.apply([embed(words!, false), embed(others!)]) as Symbolic;
    }, 2),
  ],
  [
    'a mask out of a model',
    reading((words) => {
      const ids = tf.input({ shape: [5], dtype: 'int32' });
      return read(tf.model({ inputs: ids, outputs: embed(ids) }).apply(words) as Symbolic);
    }),
  ],
  [
    'masks through a model that is used twice',
    reading((words, others) => {
      const scale = inner([SEQUENCE], (x) => layers.dense({ units: 4, activation: 'tanh' }).apply(x!) as Symbolic);
      const [a, b] = [embed(words!), embed(others!)].map((x) => read(scale.apply(x) as Symbolic));
      return layers.concatenate().apply([a!, b!]) as Symbolic;
    }, 2),
  ],
  [
    'masks of two outputs of a model',
    reading((words, others) => {
      const [a, b] = [tf.input({ shape: [5], dtype: 'int32' }), tf.input({ shape: [5], dtype: 'int32' })];
      const both = tf.model({ inputs: [a, b], outputs: [embed(a), embed(b)] });
      return (both.apply([words!, others!]) as Symbolic[]).map(read);
    }, 2),
  ],
  [
    'initial states of one loop alone',
    () => {
      const [x, state] = [tf.input({ shape: [4, 3] }), tf.input({ shape: [3] })];
      const first = layers.gru({ units: 3, returnSequences: true }).apply([x, state]) as Symbolic;
      const outputs = layers.gru({ units: 2 }).apply(first) as Symbolic;
      return { model: tf.model({ inputs: [x, state], outputs }), inputs: [random([3, 4, 3]), random([3, 3])] };
    },
  ],
  [
    'the last step and the state that it is',
    () => {
      const x = tf.input({ shape: [4, 3] });
      const results = layers.lstm({ units: 3, returnState: true }).apply(x) as unknown as Symbolic[];
      const outputs = results.map((each) => layers.dense({ units: 2 }).apply(each) as Symbolic);
      return { model: tf.model({ inputs: x, outputs }), inputs: [random([3, 4, 3])] };
    },
  ],
  [
    'a merged mask that a layer reads',
    reading((words, others) => read(layers.add().apply([embed(words!), embed(others!)]) as Symbolic), 2),
  ],
  [
    'masks one after the other',
    reading((words, others) => {
      return read(layers.concatenate({ axis: 1 }).apply([embed(words!), embed(others!)]) as Symbolic);
    }, 2),
  ],
  [
    'masks side by side, one of two',
    reading((words, others) => {
      return read(layers.concatenate().apply([embed(words!), embed(others!, false)]) as Symbolic);
    }, 2),
  ],
];
