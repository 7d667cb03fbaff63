/** Models drawn by a seed, of all layers that are exported, with arguments other than the default ones. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Draft, stock, type Args, type Fed, type Symbolic } from './draft.js';
import { prepared } from './features.js';
import { recurrent, stack, step, vectorOf } from './stacks.js';
import { sequence, vectors } from './tables.js';

export interface DrawnModel {
  readonly model: tf.LayersModel;
  readonly fed: readonly Fed[];
}

/** A part of the model as a model of its own. */
function nested(draft: Draft, inputs: Symbolic[], make: (given: Symbolic[]) => Symbolic[]): Symbolic[] {
  const given = inputs.map((each) => tf.input({ shape: each.shape.slice(1), dtype: each.dtype as 'float32' }));
  const outputs = make(given);
  const inner = tf.model({ inputs: given, outputs });
  if (!isInQuestion(given, outputs)) return make(inputs);
  const call = (from: Symbolic[]): Symbolic[] => {
    return [inner.apply(from.length === 1 ? from[0]! : from) as Symbolic | Symbolic[]].flat();
  };
  const first = call(inputs);
  // The same model on other inputs.
  const turned = [...inputs].reverse();
  const isTwice = turned.every(({ shape }, i) => tf.util.arraysEqual(shape as number[], inputs[i]!.shape as number[]));
  return isTwice && draft.r.chance(0.5) ? [...first, ...call(inputs.length === 1 ? first : turned)] : first;
}

/** TensorFlow.js makes no model whose output is an input. */
function isInQuestion(given: readonly Symbolic[], outputs: readonly Symbolic[]): boolean {
  return !outputs.some((output) => given.includes(output));
}

function sequential(draft: Draft, x: Symbolic): Symbolic {
  const given = tf.input({ shape: x.shape.slice(1) });
  const layers: tf.layers.Layer[] = [];
  let last = given;
  for (let i = draft.r.whole(1, 4); i > 0; i--) {
    last = step(draft, last);
    layers.push((last as unknown as { sourceLayer: tf.layers.Layer }).sourceLayer);
  }
  // The layers are built already, but used by nobody else.
  const inner = tf.sequential();
  inner.add(tf.layers.inputLayer({ inputShape: x.shape.slice(1) }));
  for (const layer of layers) inner.add(layer);
  return inner.apply(x) as Symbolic;
}

/** What may be in a model of its own. */
function part(draft: Draft, x: Symbolic, most: number): Symbolic {
  const { r } = draft;
  if (r.chance(0.15)) return nested(draft, [x], ([given]) => [stack(draft, given!, most)])[0]!;
  return r.chance(0.1) ? sequential(draft, x) : stack(draft, x, most);
}

type Tower = (draft: Draft) => Symbolic[];

const dense: Tower = (draft) => [vectorOf(draft, part(draft, draft.input(draft.floats(draft.r.whole(2, 6))), 3))];

const words: Tower = (draft) => [vectorOf(draft, part(draft, sequence(draft), 3))];

/** Steps of a sequence, some of which are left out. */
const steps: Tower = (draft) => {
  const { r } = draft;
  const [length, width] = [r.whole(2, 6), r.whole(1, 4)];
  const input = draft.input(draft.floats(length, width), 'dense', [r.chance(0.2) ? null : length, width]);
  const { value } = draft.fed.at(-1)!;
  const isMasked = r.chance(0.6);
  if (isMasked) maskSteps(draft, value);
  const x = isMasked ? draft.apply(stock['masking']!({ maskValue: 0 }), input) : input;
  return [vectorOf(draft, part(draft, x, 3))];
};

function maskSteps(draft: Draft, value: tf.Tensor): void {
  const [, length, width] = value.shape as [number, number, number];
  const values = value.dataSync();
  for (let at = 0; at < values.length / width; at++) {
    if (at % length === 0 || draft.r.chance(0.6)) continue;
    values.fill(0, at * width, (at + 1) * width);
  }
}

const image: Tower = (draft) => {
  const [height, width, depth] = [draft.r.whole(3, 7), draft.r.whole(3, 7), draft.r.whole(1, 4)];
  return [vectorOf(draft, part(draft, draft.input(draft.floats(height, width, depth)), 3))];
};

const volume: Tower = (draft) => {
  const sizes = Array.from({ length: 3 }, () => draft.r.whole(2, 4));
  return [vectorOf(draft, part(draft, draft.input(draft.floats(...sizes, draft.r.whole(1, 3))), 2))];
};

/** A loop that begins where another one ends. */
const handedOn: Tower = (draft) => {
  const { r } = draft;
  const kind = r.pick(['simpleRNN', 'gru', 'lstm'] as const);
  const args: Args = { units: r.whole(2, 4), ...draft.activation() };
  const length = r.whole(2, 5);
  const read = stock[kind]!({ ...args, returnState: true });
  const [output, ...states] = read.apply(draft.input(draft.floats(length, 2))) as unknown as Symbolic[];
  const write = stock[kind]!({ ...args, ...draft.flag('returnSequences') });
  const from = draft.input(draft.floats(length + 1, 3));
  return [output!, vectorOf(draft, write.apply([from, ...states]) as Symbolic)];
};

const looked: Tower = (draft) => vectors(draft);

const TOWERS: readonly Tower[] = [dense, words, words, steps, image, volume, looked, looked, looked, (draft) => [prepared(draft)], handedOn]; // prettier-ignore

const MERGES = ['add', 'average', 'multiply', 'maximum', 'minimum', 'concatenate'] as const;

/** Vectors of one length. */
function alike(draft: Draft, all: readonly Symbolic[]): Symbolic[] {
  const units = draft.r.whole(2, 5);
  // Layers that are used several times, where the lengths are the same.
  const byLength = new Map<number, tf.layers.Layer>();
  return all.map((x) => {
    const length = x.shape[1]!;
    const layer = byLength.get(length) ?? stock['dense']!({ units, ...draft.activation() });
    if (draft.r.chance(0.5)) byLength.set(length, layer);
    return draft.apply(layer, x);
  });
}

/** One vector of several. */
function merged(draft: Draft, all: Symbolic[]): Symbolic {
  const { r } = draft;
  if (all.length === 1) return all[0]!;
  if (r.chance(0.3)) return draft.apply(stock['concatenate']!(), all);
  const same = alike(draft, all);
  const [x0, x1] = same as [Symbolic, Symbolic];
  switch (r.pick(['merge', 'merge', 'dot', 'interaction', 'cross', 'nested', 'steps'])) {
    case 'dot':
      return draft.apply(stock['concatenate']!(), [
        draft.apply(stock['dot']!({ axes: -1, normalize: r.chance(0.5) }), [x0, x1]),
        ...same.slice(1),
      ]);
    case 'interaction':
      return draft.apply(
        emb.layers.dotInteraction({ ...draft.flag('selfInteraction'), ...draft.flag('skipGather') }) as tf.layers.Layer,
        same,
      );
    case 'cross': {
      const args = {
        ...(r.chance(0.5) ? { projectionDim: r.whole(1, 4) } : {}),
        ...(r.chance(0.5) ? { diagScale: 0.5 } : {}),
        ...(r.chance(0.5) ? { preActivation: r.pick(['tanh', 'relu', 'sigmoid'] as const) } : {}),
        ...draft.flag('useBias'),
      };
      const layer = emb.layers.featureCross(args as never) as tf.layers.Layer;
      const crossed = draft.apply(layer, same.length > 1 && r.chance(0.5) ? [x0, x1] : x0);
      return draft.apply(stock['concatenate']!(), [crossed, ...same.slice(1)]);
    }
    case 'nested':
      return draft.apply(
        stock['concatenate']!(),
        nested(draft, same, (given) => {
          const sum = draft.apply(stock[r.pick(MERGES)]!(), given);
          return [stack(draft, sum, 2), draft.apply(stock['dense']!({ units: 2 }), given[0]!)].map((each) => {
            return vectorOf(draft, each);
          });
        }),
      );
    case 'steps': {
      const columns = same.map((x) => draft.apply(stock['reshape']!({ targetShape: [1, x.shape[1]!] }), x));
      const joined = draft.apply(stock['concatenate']!({ axis: 1 }), columns);
      return vectorOf(draft, draft.apply(recurrent(draft), joined));
    }
    default:
      return draft.apply(stock[r.pick(MERGES)]!(), same);
  }
}

/** The same model for the same seed; of odd seeds such that Keras has all of it, but for masks. */
export function drawModel(seed: number): DrawnModel {
  const draft = new Draft(seed, seed % 2 === 1);
  const { r } = draft;
  const all: Symbolic[] = [];
  for (let i = r.whole(1, 4); i > 0; i--) all.push(...r.pick(TOWERS)(draft));
  const joined = merged(draft, all);
  const outputs = Array.from({ length: r.whole(1, 3) }, (_, i) => {
    const args = { units: r.whole(1, 4), ...draft.activation(), name: `out.put-${i}` };
    return draft.apply(stock['dense']!(args), joined);
  });
  if (r.chance(0.2) && !draft.fed.some(({ symbolic }) => symbolic === joined)) outputs.push(joined);
  const model = tf.model({ inputs: draft.fed.map(({ symbolic }) => symbolic), outputs });
  return { model, fed: draft.fed };
}
