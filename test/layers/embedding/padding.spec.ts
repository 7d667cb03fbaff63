/** Ragged rows as padding: absent in every layer of ours, refused by stock ones. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { adopt } from '../../../src/tfjs/models/own_models.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectError } from '../../helpers/errors.js';

const ROWS = [[3, 1, 1], [], [4], [0, 2]];
const ragged = (): emb.RaggedTensor => emb.RaggedTensor.fromRows(ROWS);
const TABLE = Array.from({ length: 6 }, (_, row) => [row + 1, 0.5 - row, 2 ** row]);
const size = { inputDim: 6, outputDim: 3, weights: [TABLE] };
const WEIGHTS = [[1, 2, 3], [], [0.5], [2, 4]];

type Pooled = 'sum' | 'mean' | 'sqrtn';
const COMBINERS: readonly Pooled[] = ['sum', 'mean', 'sqrtn'];

/** What the rows give, one by one. */
function pooled(combiner: Pooled, isMasked: boolean, weights?: readonly (readonly number[])[]): number[][] {
  return ROWS.map((row, i) => {
    const kept = row.flatMap((id, j) => (isMasked && id === 0 ? [] : [{ id, weight: weights?.[i]?.[j] ?? 1 }]));
    const sum = [0, 1, 2].map((column) => kept.reduce((all, { id, weight }) => all + weight * TABLE[id]![column]!, 0));
    const by = {
      sum: 1,
      mean: kept.reduce((all, { weight }) => all + weight, 0),
      sqrtn: Math.sqrt(kept.reduce((all, { weight }) => all + weight ** 2, 0)),
    }[combiner];
    return sum.map((value) => (kept.length === 0 ? 0 : value / by));
  });
}

/** Equal to the last bits of float32. */
function expectClose(actual: tf.Tensor, expected: readonly (readonly number[])[], context: string): void {
  const values = actual.dataSync();
  expected.flat().forEach((value, i) => {
    expect(Math.abs(values[i]! - value))
      .withContext(`${context} at ${i}: ${values[i]} for ${value}`)
      .toBeLessThanOrEqual(1e-6 * Math.max(1, Math.abs(value)));
  });
}

function inTidy(run: () => void): () => void {
  return () => {
    const before = tf.memory().numTensors;
    tf.tidy(run);
    expect(tf.memory().numTensors).withContext('tensors left behind').toBe(before);
  };
}

describeForBackends('padding', ({ backend }) => {
  it(
    'is -1 unless told otherwise',
    inTidy(() => {
      expect(ragged().toPadded().dataSync()).toEqual(Int32Array.of(3, 1, 1, -1, -1, -1, 4, -1, -1, 0, 2, -1));
      expect(emb.RaggedTensor.fromPadded(ragged().toPadded(), { padding: -1 }).toRows()).toEqual(ROWS);
      expect(
        Array.from(
          emb.RaggedTensor.fromRows([[1.5], []])
            .toPadded()
            .dataSync(),
        ),
      ).toEqual([1.5, -1]);
    }),
  );

  for (const outOfRange of ['error', 'zero'] as const) {
    for (const combiner of COMBINERS) {
      for (const maskZero of [false, true]) {
        it(
          `is absent in every layer: ${combiner}, ${outOfRange}${maskZero ? ', maskZero' : ''}`,
          inTidy(() => {
            const args = { ...size, combiner, maskZero, outOfRange };
            const weights = emb.RaggedTensor.fromRows(WEIGHTS, { dtype: 'float32' }).toPadded({ defaultValue: 7 });
            for (const [name, layer] of [
              ['embedding', emb.layers.embedding(args)],
              ['raggedEmbedding', emb.layers.raggedEmbedding(args)],
            ] as const) {
              const plain = layer.apply(ragged().toPadded()) as tf.Tensor;
              expectClose(plain, pooled(combiner, maskZero), name);
              const weighted = layer.apply([ragged().toPadded(), weights]) as tf.Tensor;
              expectClose(weighted, pooled(combiner, maskZero, WEIGHTS), `${name}, weighted`);
              expectClose(layer.apply(ragged().toPadded()) as tf.Tensor, pooled(combiner, maskZero), `${name} again`);
              layer.dispose();
            }
            const layer = emb.layers.distributedEmbedding({ embeddings: [args, { ...args, ragged: true }] });
            const results = layer.apply([ragged().toPadded(), ragged().toPadded()]) as tf.Tensor[];
            results.forEach((result, i) => expectClose(result, pooled(combiner, maskZero), `feature ${i}`));
            layer.dispose();
          }),
        );
      }
    }
  }

  it(
    'gives zeros without a combiner, and no mask',
    inTidy(() => {
      const layer = emb.layers.embedding({ ...size, maskZero: true });
      const ids = ragged().toPadded() as tf.Tensor2D;
      const rows = (layer.apply(ids) as tf.Tensor3D).arraySync();
      const padded = ids.arraySync();
      rows.forEach((row, i) => row.forEach((each, j) => expect(each).toEqual(TABLE[padded[i]![j]!] ?? [0, 0, 0])));
      const mask = layer.computeMask(ids) as tf.Tensor2D;
      expect(mask.arraySync()).toEqual(padded.map((row) => row.map((id) => (id > 0 ? 1 : 0))) as never);
      layer.dispose();
    }),
  );

  it(
    'leaves the rest of the ids checked',
    inTidy(() => {
      const layer = emb.layers.embedding({ ...size, combiner: 'sum' });
      const stray = tf.tensor2d([[-1, 2], [1, 6]], [2, 2], 'int32'); // prettier-ignore
      expectError(() => layer.apply(stray), 'ValueError', 'ids', /^6 at \[1, 1\]/);
      const pair = { values: [1, -1], rowSplits: [0, 2] };
      expectError(() => layer.apply(pair), 'ValueError', 'ids', /-1/);
      layer.dispose();
    }),
  );

  it('is absent in steps, of models captured before it came too', async () => {
    const before = tf.memory().numTensors;
    const train = async (rows: readonly number[][][], pad: boolean): Promise<Float32Array> => {
      const args = { inputDim: 6, outputDim: 3, combiner: 'mean', embeddingsInitializer: 'ones' } as const;
      const input = tf.input({ shape: [null], dtype: 'int32' });
      const layer = pad ? emb.layers.embedding(args) : emb.layers.raggedEmbedding(args);
      const output = layer.apply(input);
      const model = tf.model({ inputs: input, outputs: output });
      const optimizer = emb.train.adagrad({ learningRate: 0.1 });
      model.compile({ loss: 'meanSquaredError', optimizer });
      for (const each of rows) {
        const x = tf.tidy(() => emb.RaggedTensor.fromRows(each).toPadded({ maxLength: 2 }));
        const y = tf.zeros([each.length, 3]);
        await model.trainOnBatch(x, y);
        tf.dispose([x, y]);
      }
      const table = (layer.getWeights()[0] as tf.Tensor).dataSync<'float32'>().slice();
      model.dispose();
      optimizer.dispose();
      return table;
    };
    const full = [[1, 2], [3, 3]]; // prettier-ignore
    const steps = [full, full, full, full, [[1], [0, 5]], [[2], [4]], full, [[], [5]]];
    const [padded, reference] = [await train(steps, true), await train(steps, false)];
    padded.forEach((value, i) => expect(Math.abs(value - reference[i]!)).toBeLessThan(1e-6));
    expect(tf.memory().numTensors).withContext('tensors left behind').toBe(before);
  });

  it(
    'is refused by a stock embedding, with what to write',
    inTidy(() => {
      const stock = adopt(tf.layers.embedding({ inputDim: 6, outputDim: 2 }));
      const model = adopt(
        tf.sequential({ layers: [tf.layers.embedding({ inputDim: 6, outputDim: 2, inputLength: 3 })] }),
      );
      expectError(
        () => stock.apply(ragged().toPadded()),
        'ValueError',
        'defaultValue',
        /^-1 at \[0, 3\]|^-1 at \[1, 0\]/,
      );
      expectError(() => model.predict(ragged().toPadded()), 'ValueError', 'defaultValue', '-1');
      expect((stock.apply(ragged().toPadded({ defaultValue: 0 })) as tf.Tensor).shape).toEqual([4, 3, 2]);
      expect(() => stock.apply(tf.tensor2d([[6]], [1, 1], 'int32'))).toThrowError(/6/);
      stock.dispose();
      model.dispose();
    }),
  );

  it(`is looked for on ${backend} only where a lookup fails`, () => {
    const layer = emb.layers.embedding({ ...size, combiner: 'sum' });
    tf.tidy(() => layer.apply(tf.tensor2d([[1, 2]], [1, 2], 'int32')));
    expect(layer.paddedInputs).toEqual([]);
    tf.tidy(() => layer.apply(tf.tensor2d([[1, -2]], [1, 2], 'int32')));
    expect(layer.paddedInputs).toEqual([0]);
    layer.dispose();
  });
});
