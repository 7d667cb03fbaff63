/** Layers that prepare features, on ragged inputs of a model. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectClose } from '../../helpers/tensors.js';

const { CategoryEncoding, Discretization, Hashing, IntegerLookup, Normalization, StringLookup } = emb.preprocessing;
const ROWS = [[7, 9, 7], [], [8], [9, 9, 100, -3]];

function modelOf(object: emb.PreprocessingObject, last: (x: tf.SymbolicTensor) => tf.SymbolicTensor): tf.LayersModel {
  const visits = emb.input({ shape: [null], ragged: true, name: `visits_${Math.random()}`.replace('.', '') });
  return tf.model({
    inputs: visits,
    outputs: last(emb.layers.preprocessing(object).apply(visits) as tf.SymbolicTensor),
  });
}

describe('layers of preprocessing on ragged rows', () => {
  beforeAll(() => tf.setBackend('cpu'));
  let tensors = 0;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).toBe(tensors));

  const lookup = new IntegerLookup({ vocabulary: [7, 8, 9] });
  const objects: [string, emb.PreprocessingObject & { apply(data: never): unknown }][] = [
    ['IntegerLookup', lookup],
    ['Hashing', new Hashing({ numBins: 5 })],
    ['Discretization', new Discretization({ binBoundaries: [0, 8, 50] })],
  ];
  for (const [name, object] of objects) {
    it(`${name} gives ragged ids, which an embedding pools`, () => {
      const table = emb.layers.embedding({ inputDim: 5, outputDim: 3, combiner: 'sum' });
      const model = modelOf(object, (ids) => table.apply(ids) as tf.SymbolicTensor);
      tf.tidy(() => {
        const ragged = emb.RaggedTensor.fromRows(ROWS);
        const pooled = model.predict(ragged) as tf.Tensor2D;
        const ids = (object.apply(ROWS as never) as number[][]).map((row) => row);
        const values = table.getWeights()[0]!.arraySync() as number[][];
        const expected = ids.flatMap((row) => {
          return [0, 1, 2].map((column) => row.reduce((sum, id) => sum + values[id]![column]!, 0));
        });
        expectClose(pooled.dataSync(), expected);
      });
      model.dispose();
    });
  }

  for (const outputMode of ['multiHot', 'count'] as const) {
    it(`vectors of rows: ${outputMode}`, () => {
      const cases: (emb.PreprocessingObject & { apply(data: never): unknown })[] = [
        new IntegerLookup({ vocabulary: [7, 8, 9], outputMode }),
        new Hashing({ numBins: 5, outputMode }),
        new Discretization({ binBoundaries: [0, 8, 50], outputMode }),
      ];
      for (const object of cases) {
        const model = modelOf(object, (x) => x);
        tf.tidy(() => {
          const vectors = model.predict(emb.RaggedTensor.fromRows(ROWS)) as tf.Tensor2D;
          expect(vectors.arraySync() as unknown).toEqual(object.apply(ROWS as never));
        });
        model.dispose();
      }
      const encoding = new CategoryEncoding({ numTokens: 9, outputMode });
      const model = modelOf(encoding, (x) => x);
      tf.tidy(() => {
        const rows = [[1, 2, 1], [], [8]];
        const vectors = model.predict(emb.RaggedTensor.fromRows(rows)) as tf.Tensor2D;
        expect(vectors.arraySync() as unknown).toEqual(encoding.apply(rows));
      });
      model.dispose();
    });
  }

  it('scaled numbers weigh the ids beside them', () => {
    const ids = emb.input({ shape: [null], ragged: true, name: 'ids' });
    const weights = emb.input({ shape: [null], ragged: true, dtype: 'float32', name: 'weights' });
    const scaled = emb.layers.preprocessing(new Normalization({ axis: null, mean: 1, variance: 4 })).apply(weights);
    const table = emb.layers.embedding({
      inputDim: 4,
      outputDim: 1,
      combiner: 'sum',
      embeddingsInitializer: 'ones',
    });
    const pooled = table.apply([ids, scaled as tf.SymbolicTensor]) as tf.SymbolicTensor;
    const model = tf.model({ inputs: [ids, weights], outputs: pooled });
    tf.tidy(() => {
      const given = { ids: emb.RaggedTensor.fromRows([[0, 1], [2]]), weights: emb.RaggedTensor.fromRows([[3, 5], [2]], { dtype: 'float32' }) }; // prettier-ignore
      expectClose((model.predict(given) as tf.Tensor).dataSync(), [1 + 2, 0.5]);
    });
    model.dispose();
  });

  it('trains, saves and loads', async () => {
    const model = modelOf(lookup, (ids) => {
      const pooled = emb.layers.embedding({ inputDim: 4, outputDim: 2, combiner: 'mean' }).apply(ids);
      return tf.layers.dense({ units: 1 }).apply(pooled) as tf.SymbolicTensor;
    });
    model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
    const ragged = emb.RaggedTensor.fromRows(ROWS);
    const labels = tf.tensor2d([[1], [0], [1], [0]]);
    const { history } = await model.fit(ragged, labels, { epochs: 3, verbose: 0 });
    expect(history['loss']!.at(-1)! as number).toBeLessThan(history['loss']![0] as number);
    let saved: tf.io.ModelArtifacts | undefined;
    await model.save(tf.io.withSaveHandler((artifacts) => ((saved = artifacts), Promise.resolve({ modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' as const } })))); // prettier-ignore
    const loaded = await tf.loadLayersModel(tf.io.fromMemory(saved!));
    tf.tidy(() => {
      const [before, after] = [model, loaded].map((each) => (each.predict(ragged) as tf.Tensor).dataSync());
      expect(after).toEqual(before!);
    });
    labels.dispose();
    loaded.dispose();
    model.optimizer.dispose();
    model.dispose();
  });

  it('says what does not go', () => {
    const oneHot = modelOf(new IntegerLookup({ vocabulary: [7], outputMode: 'oneHot' }), (x) => x);
    expect(() => oneHot.predict(emb.RaggedTensor.fromRows(ROWS))).toThrowError(/`outputMode`: expected int, multiHot or count for ragged rows/); // prettier-ignore
    oneHot.dispose();
    const refused: [RegExp, unknown][] = [
      [/`object`.*Strings do not enter/, new StringLookup({ vocabulary: ['a'] })],
      [/`object`.*has adapted/, new IntegerLookup()],
      [/`object`.*has adapted/, new Discretization({ numBins: 3 })],
      [/`object`.*has adapted/, new Normalization()],
      [/`object`/, new IntegerLookup({ vocabulary: [1], invert: true })],
      [/`object`/, new IntegerLookup({ vocabulary: [1], oovMethod: 'farmhash', numOovIndices: 2 })],
      [/`object`/, {}],
      [/`object`/, null],
      [/`object`/, 'Hashing'],
    ];
    for (const [message, object] of refused) {
      expect(() => emb.layers.preprocessing(object as never)).toThrowError(message);
    }
  });
});
