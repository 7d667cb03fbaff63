import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { describeForBackends } from '../helpers/backends.js';
import { expectError } from '../helpers/errors.js';

const CANDIDATES = [
  [1, 0],
  [0, 1],
  [1, 1],
  [1, 0],
];

function modelOf(identifiers: number[] | null): tf.LayersModel {
  const query = tf.input({ shape: [2] });
  const layer = emb.layers.bruteForceRetrieval({ candidates: CANDIDATES, identifiers, k: 3 });
  return tf.model({ inputs: query, outputs: layer.apply(query) });
}

function predicted(model: tf.LayersModel): unknown[] {
  return tf.tidy(() => {
    const queries = tf.tensor2d([
      [2, 1],
      [-1, 3],
    ]);
    return (model.predict(queries) as tf.Tensor[]).map((each) => each.arraySync());
  });
}

/** The same model, saved and loaded. */
async function reloaded(model: tf.LayersModel): Promise<tf.LayersModel> {
  let kept: tf.io.ModelArtifacts | null = null;
  await model.save({
    save: (artifacts) => {
      kept = artifacts;
      return Promise.resolve({ modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } });
    },
  });
  return tf.loadLayersModel(tf.io.fromMemory(kept! as tf.io.ModelArtifacts));
}

describeForBackends('bruteForceRetrieval', () => {
  it('gives the best candidates and what they are called, ties by the earlier one', () => {
    const before = tf.memory().numTensors;
    const [plain, named] = [modelOf(null), modelOf([104, 108, 123, 7])];
    const scores = [
      [3, 2, 2],
      [3, 2, -1],
    ];
    expect(predicted(plain)).toEqual([
      scores,
      [
        [2, 0, 3],
        [1, 2, 0],
      ],
    ]);
    expect(predicted(named)).toEqual([
      scores,
      [
        [123, 104, 7],
        [108, 123, 104],
      ],
    ]);
    plain.dispose();
    named.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('is saved with its candidates and gives the same after loading', async () => {
    const model = modelOf([104, 108, 123, 7]);
    expect(model.trainableWeights.length).toBe(0);
    const loaded = await reloaded(model);
    expect(predicted(loaded)).toEqual(predicted(model));
    const [candidates, identifiers] = loaded.getWeights();
    expect(candidates!.arraySync()).toEqual(CANDIDATES);
    expect(identifiers!.dtype).toBe('int32');
    model.dispose();
    loaded.dispose();
  });
});

describeForBackends('bruteForceRetrieval with an index', () => {
  it('gives what the index gives, saved and loaded too', async () => {
    const rows = Array.from({ length: 60 }, (_, i) => [Math.sin(i), Math.cos(3 * i), (i % 7) - 3]);
    const index = emb.ann.build(rows, { lists: 6, metric: 'cosine', ids: rows.map((_, i) => 500 - 2 * i) });
    index.remove([500]);
    const query = tf.input({ shape: [3] });
    const layer = emb.layers.bruteForceRetrieval({ index, k: 5, probes: 2, rerank: 9 });
    const model = tf.model({ inputs: query, outputs: layer.apply(query) });
    const queries = tf.tensor2d([
      [1, 2, 3],
      [-1, 0, 1],
    ]);
    const found = index.search(queries, 5, { probes: 2, rerank: 9 });
    const wanted = [found.values.arraySync(), found.indices.arraySync()];
    const given = (each: tf.LayersModel): unknown[] => {
      return tf.tidy(() => (each.predict(queries) as tf.Tensor[]).map((output) => output.arraySync()));
    };
    expect(given(model)).toEqual(wanted);
    const loaded = await reloaded(model);
    expect(given(loaded)).toEqual(wanted);
    // Other weights are another index.
    const weights = loaded.getWeights();
    loaded.setWeights([weights[0]!.neg(), ...weights.slice(1)]);
    expect(given(loaded)).not.toEqual(wanted);
    tf.dispose([queries, found.values, found.indices]);
    model.dispose();
    loaded.dispose();
  });
});

describe('bruteForceRetrieval, what it takes', () => {
  it('takes the table of a layer, and other candidates later', () => {
    const items = emb.layers.embedding({ inputDim: 4, outputDim: 2, weights: [tf.tensor2d(CANDIDATES)] });
    items.apply(tf.tensor2d([[1]], [1, 1], 'int32')).dispose();
    const layer = emb.layers.bruteForceRetrieval({ candidates: items, k: 1 });
    const query = tf.tensor2d([[2, 1]]);
    const best = (): number => {
      const [scores, ids] = layer.apply(query);
      const id = ids!.dataSync()[0]!;
      tf.dispose([scores, ids]);
      return id;
    };
    expect(best()).toBe(2);
    layer.setWeights([tf.tensor2d([[9, 9], ...CANDIDATES.slice(1)])]);
    expect(best()).toBe(0);
    layer.dispose();
    items.dispose();
    query.dispose();
  });

  it('refuses what does not belong together', () => {
    const make = (args: object) => (): unknown => emb.layers.bruteForceRetrieval(args as emb.BruteForceRetrievalArgs);
    expectError(make({ k: 1 }), 'TypeError', 'candidates');
    expectError(make({ candidates: [[1], [1, 2]], k: 1 }), 'TypeError', 'candidates');
    expectError(make({ candidates: [[1]], k: 2 }), 'ValueError', 'k');
    expectError(make({ candidates: [[1]] }), 'TypeError', 'k');
    expectError(make({ candidates: [[1]], k: 1, identifiers: [1, 2] }), 'ValueError', 'identifiers');
    expectError(make({ candidates: [[1]], k: 1, ids: [1] }), 'ValueError', 'ids');
    const index = emb.ann.build([[1], [2]], { lists: 1 });
    expectError(make({ index, candidates: [[1]], k: 1 }), 'ValueError', 'candidates');
    expectError(make({ index: [[1]], k: 1 }), 'TypeError', 'index');
    expectError(make({ index, k: 3 }), 'ValueError', 'k');
    expectError(make({ index, k: 2, rerank: 1 }), 'ValueError', 'rerank');
    expectError(make({ candidates: [[1]], k: 1, probes: 1 }), 'ValueError', 'probes');
    const codes = emb.ann.build([[1], [2]], { lists: 1, keepRows: false });
    expectError(make({ index: codes, k: 1 }), 'ValueError', 'index');
    const layer = emb.layers.bruteForceRetrieval({ candidates: [[1, 2]], k: 1 });
    expectError(() => layer.apply(tf.input({ shape: [3] })), 'ValueError', 'inputs');
    expectError(() => layer.apply(tf.input({ shape: [2], dtype: 'int32' })), 'TypeError', 'inputs');
  });
});
