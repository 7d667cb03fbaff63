/**
 * Predictions and evaluations of drawn models, captured beside op by op: the same to the bit. As a program of its own, with
 * a count and a seed, it prints what differs: what processors TensorFlow takes it for is settled when it is loaded.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { GRU } from '../../../src/layers/recurrent/gru.js';
import { Random } from '../../helpers/random.js';

const ACTIVATIONS = ['tanh', 'relu', 'sigmoid', 'elu', 'linear', 'softmax', 'swish', 'hardSigmoid'] as const;
const CELLS = ['lstm', 'gru', 'simpleRNN', 'keras gru'] as const;
const KINDS = [...CELLS, ...CELLS, 'bidirectional', 'bidirectional', 'dense', 'long', 'dots', 'attention'] as const;
export type Kind = (typeof KINDS)[number];

type Symbol = tf.SymbolicTensor;
const apply = (layer: tf.layers.Layer, x: Symbol | Symbol[]): Symbol => layer.apply(x) as Symbol;

function recurrent(random: Random, kind: (typeof CELLS)[number]): tf.layers.Layer {
  const args = {
    units: random.whole(1, random.pick([10, 70, 130])),
    activation: random.pick(ACTIVATIONS) as 'tanh',
    recurrentActivation: random.pick(['hardSigmoid', 'sigmoid'] as const),
    recurrentInitializer: 'glorotNormal' as const,
    useBias: random.chance(0.8),
    goBackwards: random.chance(0.2),
    returnSequences: random.chance(0.3),
  };
  if (kind === 'lstm') return tf.layers.lstm(args);
  if (kind === 'gru') return tf.layers.gru(args);
  return kind === 'simpleRNN' ? tf.layers.simpleRNN(args) : (new GRU(args) as tf.layers.Layer);
}

function hidden(random: Random, kind: Kind, x: Symbol): Symbol {
  const units = random.whole(1, 40);
  switch (kind) {
    case 'bidirectional': {
      const layer = recurrent(random, random.pick(CELLS.slice(0, 3))) as tf.RNN;
      return apply(tf.layers.bidirectional({ layer, mergeMode: random.pick(['concat', 'sum', 'ave', 'mul']) }), x);
    }
    case 'dense':
      return apply(tf.layers.dense({ units, activation: random.pick(ACTIVATIONS) }), x);
    case 'long':
      return apply(tf.layers.dense({ units, activation: 'tanh' }), apply(tf.layers.flatten(), x));
    case 'dots': {
      const flat = apply(tf.layers.flatten(), x);
      const features = [0, 1, 2].map(() => apply(tf.layers.dense({ units }), flat));
      const crossed = apply(emb.layers.dotInteraction({ selfInteraction: random.chance(0.5) }) as never, features);
      const dot = apply(tf.layers.dot({ axes: 1 }), features.slice(1));
      return apply(tf.layers.concatenate(), [crossed, dot]);
    }
    case 'attention':
      return emb.layers.attention({ useScale: random.chance(0.5) }).apply([x, x]);
    default:
      return apply(recurrent(random, kind), x);
  }
}

interface Drawn {
  readonly kind: Kind;
  readonly model: tf.LayersModel;
  readonly shape: [number, number, number];
}

function draw(seed: number): Drawn {
  const random = new Random(seed);
  const kind = random.pick(KINDS);
  const width = kind === 'long' ? random.whole(100, 700) : random.whole(1, random.pick([10, 70, 130]));
  const shape: Drawn['shape'] = [random.whole(1, random.pick([5, 40, 260])), random.whole(1, 7), width];
  const input = emb.input({ shape: shape.slice(1) });
  const x = random.chance(0.2) ? apply(tf.layers.masking({ maskValue: 0 }), input) : input;
  const flat = hidden(random, kind, x);
  const features = flat.shape.length === 2 ? flat : apply(tf.layers.flatten(), flat);
  const head = tf.layers.dense({ units: 3, activation: random.pick(['softmax', 'sigmoid', 'linear'] as const) });
  return { kind, shape, model: tf.model({ inputs: input, outputs: apply(head, features) }) };
}

/** Rows, some steps of which are zeros, and labels. */
function data(seed: number, [batch, steps, width]: Drawn['shape']): [tf.Tensor3D, tf.Tensor2D] {
  const random = new Random(1000 + seed);
  const values = random.floats(batch * steps * width, -2, 2);
  for (let step = 0; step < batch * steps; step++) {
    if (random.chance(0.2)) values.fill(0, step * width, (step + 1) * width);
  }
  return [tf.tensor3d(values, [batch, steps, width]), tf.tensor2d(random.floats(3 * batch, 0, 1), [batch, 3])];
}

const ROUNDS = 4;

/** Where the last captured call differs, and the first one, in words. */
function differing(model: tf.LayersModel, what: string, f: () => tf.Tensor): string[] {
  const numbers = (): ArrayLike<number> => {
    const tensor = f();
    const values = tensor.dataSync().slice();
    tensor.dispose();
    return values;
  };
  emb.setCapture(false, model);
  const plain = numbers();
  emb.setCapture(true, model);
  const rounds = Array.from({ length: ROUNDS }, numbers);
  return rounds.flatMap((found, round) => {
    const count = Array.from(found).filter((value, i) => !Object.is(value, plain[i])).length;
    return count === 0 ? [] : [`${what}, call ${round}: ${count} of ${plain.length}`];
  });
}

/** What of a drawn model is not the same to the bit. */
export function differencesOf(seed: number): string[] {
  const { kind, model, shape } = draw(seed);
  model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  const [x, y] = data(seed, shape);
  const batchSize = shape[0];
  const found = [
    ...differing(model, 'predict', () => model.predict(x, { batchSize }) as tf.Tensor),
    ...differing(model, 'evaluate', () => model.evaluate(x, y, { batchSize }) as tf.Scalar),
  ];
  const { captured, reason } = emb.stepInfo(model);
  if (!captured || reason !== null) found.push(`not captured: ${reason}`);
  model.optimizer.dispose();
  model.dispose();
  tf.dispose([x, y]);
  return found.map((text) => `${kind} ${seed} ${shape.join('x')}: ${text}`);
}

const [, path = '', count, first] = process.argv;
if (path.endsWith('predicted.ts')) {
  await import('@tensorflow/tfjs-node');
  await emb.ready();
  await tf.setBackend('tensorflow');
  const seeds = Array.from({ length: Number(count) }, (_, i) => Number(first) + i);
  console.log(JSON.stringify(seeds.flatMap(differencesOf)));
}
