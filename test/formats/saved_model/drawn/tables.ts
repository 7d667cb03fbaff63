/** Parts of models that begin with the embedding layers of this package and that of TensorFlow.js. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { stock, type Args, type Draft, type Symbolic } from './draft.js';

const ROWS_OF_TABLE = 11;

function table(draft: Draft): Args {
  const { r } = draft;
  return {
    inputDim: ROWS_OF_TABLE,
    outputDim: r.whole(1, 5),
    ...(r.chance(0.2) ? { embeddingsInitializer: r.pick(['uniform', 'ones', 'glorotNormal']) } : {}),
    ...(r.chance(0.1) ? { embeddingsRegularizer: 'l2' } : {}),
    ...(r.chance(0.1) ? { embeddingsConstraint: 'nonNeg' } : {}),
  };
}

function lookup(draft: Draft): Args {
  const { r } = draft;
  return {
    ...(draft.beyondKeras(0.2) ? { maxNorm: r.pick([0.5, 2]) } : {}),
    ...(draft.beyondKeras(0.2) ? { outOfRange: 'zero' } : {}),
    ...draft.flag('maskZero'),
  };
}

function combiner(draft: Draft): 'sum' | 'mean' | 'sqrtn' {
  return draft.r.pick(['sum', 'mean', 'sqrtn'] as const);
}

/** Ids of which some are beyond the table, where the layer takes that. */
function idsFor(draft: Draft, args: Args, ...shape: number[]): tf.Tensor {
  return draft.ids(args['outOfRange'] === 'zero' ? ROWS_OF_TABLE + 3 : ROWS_OF_TABLE, ...shape);
}

function weightsFor(draft: Draft, length: number): tf.Tensor {
  const weights = draft.floats(length);
  const positive = tf.abs(weights);
  weights.dispose();
  return positive;
}

/** Words, one after the other: a sequence that may be masked. */
export function sequence(draft: Draft): Symbolic {
  const { r } = draft;
  const length = r.whole(2, 6);
  const open = r.chance(0.2) ? [null] : [length];
  const kind = r.pick(draft.forKeras ? ['stock', 'own'] : ['stock', 'own', 'ragged', 'distributed', 'oneHot']);
  if (kind === 'oneHot') {
    const input = draft.input(draft.ids(3, length));
    const featureSizes = Array.from({ length }, () => r.whole(3, 6));
    return draft.apply(
      emb.layers.concatOneHotEmbedding({ featureSizes, embeddingWidth: r.whole(1, 5) }) as tf.layers.Layer,
      input,
    );
  }
  if (kind === 'stock') {
    const ids = draft.padded(ROWS_OF_TABLE, length, 0);
    const input = draft.input(r.chance(0.5) ? ids : toFloat(ids), 'dense', open);
    const { inputDim, outputDim } = table(draft);
    return draft.apply(stock['embedding']!({ inputDim, outputDim, ...draft.flag('maskZero') }), input);
  }
  if (kind === 'own') {
    const input = draft.input(draft.padded(ROWS_OF_TABLE, length, 0), 'dense', open);
    return draft.apply(emb.layers.embedding({ ...table(draft), ...lookup(draft) } as never) as tf.layers.Layer, input);
  }
  if (kind === 'ragged') {
    const input = draft.input(draft.padded(ROWS_OF_TABLE, length, -1), 'raggedIds', open);
    return draft.apply(
      emb.layers.raggedEmbedding({ ...table(draft), ...lookup(draft) } as never) as tf.layers.Layer,
      input,
    );
  }
  const input = draft.input(draft.ids(ROWS_OF_TABLE, length));
  const layer = emb.layers.distributedEmbedding({
    embeddings: [{ name: `words_${draft.fed.length}`, ...table(draft) } as never],
  });
  return (layer.apply([input] as never) as unknown as Symbolic[])[0]!;
}

function toFloat(ids: tf.Tensor): tf.Tensor {
  const floats = tf.cast(ids, 'float32');
  ids.dispose();
  return floats;
}

/** Ids that become one vector. */
function pooled(draft: Draft): Symbolic {
  const { r } = draft;
  const length = r.whole(1, 6);
  const args = { ...table(draft), ...lookup(draft), combiner: combiner(draft) };
  const isWeighted = r.chance(0.4);
  if (r.chance(0.5)) {
    const ids = draft.input(idsFor(draft, args, length));
    const layer = emb.layers.embedding(args as never) as tf.layers.Layer;
    return draft.apply(layer, isWeighted ? [ids, draft.input(weightsFor(draft, length))] : ids);
  }
  const ids = draft.input(draft.padded(ROWS_OF_TABLE, length, -1), 'raggedIds');
  const layer = emb.layers.raggedEmbedding(args as never) as tf.layers.Layer;
  return draft.apply(layer, isWeighted ? [ids, draft.input(weightsFor(draft, length), 'raggedWeights')] : ids);
}

/** Two layers on one table. */
function shared(draft: Draft): Symbolic[] {
  const words = emb.embeddingTable({ name: `shared_${draft.fed.length}`, ...table(draft) } as never);
  const length = draft.r.whole(1, 5);
  const [a, b] = [length, 1].map((each) => draft.input(draft.ids(ROWS_OF_TABLE, each)));
  return [a!, b!].map((input) => {
    return draft.apply(emb.layers.embedding({ table: words, combiner: combiner(draft) }) as tf.layers.Layer, input);
  });
}

/** Several tables and features in one layer. */
function distributed(draft: Draft): Symbolic[] {
  const { r } = draft;
  const embeddings = Array.from({ length: r.whole(1, 4) }, (_, i) => {
    const isRagged = draft.beyondKeras(0.4);
    return {
      name: `table_${draft.fed.length}_${i}`,
      ...table(draft),
      combiner: combiner(draft),
      ...(isRagged ? { ragged: true } : {}),
    };
  });
  const inputTableMap = [...embeddings.keys(), ...(r.chance(0.5) ? [0] : [])];
  const inputs = inputTableMap.map((at) => {
    const length = r.whole(1, 5);
    return 'ragged' in embeddings[at]!
      ? draft.input(draft.padded(ROWS_OF_TABLE, length, -1), 'raggedIds')
      : draft.input(draft.ids(ROWS_OF_TABLE, length));
  });
  const output = draft.beyondKeras(0.3) ? 'concat' : 'structure';
  const layer = emb.layers.distributedEmbedding({ embeddings, inputTableMap, output } as never);
  return [layer.apply(inputs as never) as unknown as Symbolic | Symbolic[]].flat();
}

/** Features by name, with weights for all of them or for none. */
function features(draft: Draft): Symbolic[] {
  const { r } = draft;
  const isWeighted = r.chance(0.5);
  const names = ['seen', 'bought'].slice(0, r.whole(1, 3));
  const length = r.whole(1, 5);
  const [given, weights]: [Record<string, Symbolic>, Record<string, Symbolic>] = [{}, {}];
  for (const name of names) {
    // Keras RS knows no absent ids, and counts negative ones from the end.
    given[name] = draft.input(draft.ids(ROWS_OF_TABLE, length), 'raggedIds');
    if (isWeighted) weights[name] = draft.input(weightsFor(draft, length), 'raggedWeights');
  }
  const configs = names.map((name) => {
    const embeddingDim = r.whole(1, 5);
    const own = new emb.TableConfig({
      name: `${name}_${draft.fed.length}`,
      vocabularySize: ROWS_OF_TABLE,
      embeddingDim,
      combiner: combiner(draft),
    });
    const shapes = { inputShape: [null, length], outputShape: [null, embeddingDim] };
    return [name, new emb.FeatureConfig({ name, table: own, ...shapes })];
  });
  const layer = emb.layers.distributedEmbedding({ features: Object.fromEntries(configs) } as never);
  const results = layer.apply(given as never, (isWeighted ? { weights } : {}) as never);
  return Object.values(results as unknown as Record<string, Symbolic>);
}

/** Vectors of looked-up rows. */
export function vectors(draft: Draft): Symbolic[] {
  const make = draft.r.pick([pooled, pooled, ...(draft.forKeras ? [] : [shared]), distributed, features]);
  return [make(draft)].flat();
}
