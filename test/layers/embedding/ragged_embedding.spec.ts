import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { cloneOf, expectClose, expectError, ids, leakFree, ramp, take, useCpu } from '../setup.js';

describe('RaggedEmbedding', () => {
  beforeAll(useCpu);

  const weights = [ramp(12, 2)];
  const layerOf = (args: Partial<emb.RaggedEmbeddingArgs> = {}): emb.RaggedEmbedding =>
    emb.layers.raggedEmbedding({ inputDim: 12, outputDim: 2, weights, ...args });
  const values = Int32Array.of(3, 1, 4);
  const rowSplits = Int32Array.of(0, 2, 2, 3);
  const ragged = (): emb.RaggedTensor => emb.RaggedTensor.fromRowSplits(values, rowSplits);
  const means = [2, 2.25, 0, 0, 4, 4.25];

  describe('applied directly, with a combiner', () => {
    const forms: [string, () => { ids: unknown; tensors: tf.Tensor[] }][] = [
      ['a RaggedTensor', () => ({ ids: ragged(), tensors: [] })],
      ['{values, rowSplits} as typed arrays', () => ({ ids: { values, rowSplits }, tensors: [] })],
      ['{values, rowSplits} as arrays', () => ({ ids: { values: [3, 1, 4], rowSplits: [0, 2, 2, 3] }, tensors: [] })],
      [
        '{values, rowSplits} as tensors',
        () => {
          const tensors = [tf.tensor1d(values, 'int32'), tf.tensor1d(rowSplits, 'int32')];
          return { ids: { values: tensors[0], rowSplits: tensors[1] }, tensors };
        },
      ],
      [
        '[values, rowSplits] as tensors',
        () => {
          const tensors = [tf.tensor1d(values, 'int32'), tf.tensor1d(rowSplits, 'int32')];
          return { ids: tensors, tensors };
        },
      ],
      [
        'sparse ids',
        () => ({
          ids: {
            indices: [
              [0, 0],
              [0, 1],
              [2, 0],
            ],
            values: [3, 1, 4],
            denseShape: [3, 2],
          },
          tensors: [],
        }),
      ],
      [
        'a padded tensor',
        () => {
          const tensors = [
            ids([
              [3, 1],
              [-1, -1],
              [-7, 4],
            ]),
          ];
          return { ids: tensors[0], tensors };
        },
      ],
    ];
    for (const [name, make] of forms) {
      it(
        name,
        leakFree(() => {
          const layer = layerOf({ combiner: 'mean' });
          const { ids: given, tensors } = make();
          expectClose(take(layer.apply(given as tf.Tensor)), means);
          tf.dispose(tensors);
          layer.dispose();
        }),
      );
    }

    it(
      'weights follow in the form of the ids',
      leakFree(() => {
        const layer = layerOf({ combiner: 'mean' });
        const perId = Float32Array.of(3, 1, 2);
        const wanted = [2.5, 2.75, 0, 0, 4, 4.25];
        expectClose(take(layer.apply([ragged(), emb.RaggedTensor.fromRowSplits(perId, rowSplits)])), wanted);
        expectClose(take(layer.apply([{ values, rowSplits }, perId])), wanted);
        expectClose(
          take(
            layer.apply([
              { values, rowSplits },
              { values: perId, rowSplits },
            ]),
          ),
          wanted,
        );
        const flat = tf.tensor1d(perId);
        const pair = [tf.tensor1d(values, 'int32'), tf.tensor1d(rowSplits, 'int32')] as [tf.Tensor, tf.Tensor];
        expectClose(take(layer.apply([...pair, flat])), wanted);
        expectClose(take(layer.apply([pair, perId])), wanted);
        const padded = ids([
          [3, 1],
          [-1, -1],
          [4, -1],
        ]);
        const paddedWeights = tf.tensor2d([
          [3, 1],
          [8, 8],
          [2, 8],
        ]);
        expectClose(take(layer.apply([padded, paddedWeights])), wanted);
        tf.dispose([flat, ...pair, padded, paddedWeights]);
        layer.dispose();
      }),
    );

    it(
      'maskZero leaves out id 0 too',
      leakFree(() => {
        const layer = layerOf({ combiner: 'mean', maskZero: true });
        const padded = ids([
          [0, 3, 1],
          [0, 0, -1],
          [4, -1, 0],
        ]);
        expectClose(take(layer.apply(padded)), means);
        expectClose(take(layer.apply(emb.RaggedTensor.fromRows([[0, 3, 1], [0], [4, 0, 0]]))), means);
        expectClose(take(layer.apply({ values: [0, 3, 1, 0, 4], rowSplits: [0, 3, 4, 5] })), means);
        padded.dispose();
        layer.dispose();
      }),
    );

    it(
      'nothing but empty rows, and no rows',
      leakFree(() => {
        const layer = layerOf({ combiner: 'sqrtn' });
        expect(take(layer.apply({ values: [], rowSplits: [0, 0, 0] }))).toEqual([0, 0, 0, 0]);
        const none = layer.apply({ values: [], rowSplits: [0] }) as tf.Tensor;
        expect(none.shape).toEqual([0, 2]);
        none.dispose();
        layer.dispose();
      }),
    );
  });

  describe('applied directly, without a combiner', () => {
    const rows = JSON.stringify([
      [
        [3, 3.25],
        [1, 1.25],
      ],
      [],
      [[4, 4.25]],
    ]);
    it(
      'ragged ids give a RaggedTensor of rows',
      leakFree(() => {
        const layer = layerOf();
        const pair = [tf.tensor1d(values, 'int32'), tf.tensor1d(rowSplits, 'int32')];
        for (const given of [ragged(), { values, rowSplits }, pair] as emb.RaggedTensor[]) {
          const result = layer.apply(given) as emb.RaggedTensor;
          expect(result instanceof emb.RaggedTensor).toBeTrue();
          expect(result.shape).toEqual([3, null, 2]);
          expect(JSON.stringify(result.toRows())).toBe(rows);
        }
        tf.dispose(pair);
        layer.dispose();
      }),
    );

    it(
      'a padded tensor gives zeros and a mask at absent places',
      leakFree(() => {
        const layer = layerOf();
        const padded = ids([
          [3, 1],
          [-1, -1],
          [4, -1],
        ]);
        const result = tf.tidy(() => {
          const output = layer.apply(padded) as tf.Tensor;
          expect(output.shape).toEqual([3, 2, 2]);
          return Array.from(output.dataSync());
        });
        expect(result).toEqual([3, 3.25, 1, 1.25, 0, 0, 0, 0, 4, 4.25, 0, 0]);
        expect(take(layer.computeMask(padded))).toEqual([1, 1, 0, 0, 1, 0]);
        padded.dispose();
        layer.dispose();
      }),
    );
  });

  describe('in a model', () => {
    it(
      'trains on padded ids in fit; absent ids touch no row',
      leakFree(async () => {
        const layer = layerOf({ combiner: 'sum' });
        const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 1 })] });
        expect(model.inputs[0]!.dtype).toBe('int32');
        expect(model.inputs[0]!.shape).toEqual([null, null]);
        const optimizer = emb.train.adagrad({ learningRate: 0.5 });
        model.compile({ optimizer, loss: 'meanSquaredError' });
        const x = ragged().toPadded({ defaultValue: -1 });
        const y = tf.tensor2d([[50], [50], [-50]]);
        const first = await model.fit(x, y, { epochs: 4, verbose: 0 });
        const losses = first.history['loss'] as number[];
        expect(losses[3]).toBeLessThan(losses[0]!);
        const table = layer.getWeights()[0]!.dataSync();
        const start = ramp(12, 2);
        const moved = Array.from({ length: 12 }, (_, row) => table[row * 2] !== start[row * 2]);
        expect(moved.flatMap((is, row) => (is ? [row] : []))).toEqual([1, 3, 4]);
        const [direct, predicted] = [layer.apply(ragged()), (model.layers[0] as tf.layers.Layer).apply(x)].map(take);
        expect(predicted).toEqual(direct!);
        const clone = await cloneOf(model);
        expect(take(clone.predict(x))).toEqual(take(model.predict(x)));
        tf.dispose([x, y]);
        optimizer.dispose();
        clone.dispose();
        model.dispose();
      }),
    );

    it(
      'without a combiner hands a mask on',
      leakFree(() => {
        const lstm = (): tf.layers.Layer =>
          tf.layers.lstm({ units: 2, kernelInitializer: 'ones', recurrentInitializer: 'ones' });
        const model = tf.sequential({ layers: [layerOf({ inputLength: 4 }), lstm()] });
        expect(model.layers[0]!.outputShape).toEqual([null, 4, 2]);
        const plain = tf.sequential({ layers: [layerOf({ inputLength: 2 }), lstm()] });
        const [long, short] = [ids([[4, 2, -1, -1]]), ids([[4, 2]])];
        expectClose(take(model.predict(long)), take(plain.predict(short)));
        tf.dispose([long, short]);
        model.dispose();
        plain.dispose();
      }),
    );

    for (const combiner of ['mean', null] as const) {
      it(
        `takes values and row splits in apply and minimize, ${combiner ?? 'no combiner'}`,
        leakFree(async () => {
          const [flat, splits] = [1, 2].map(() => tf.input({ batchShape: [null], dtype: 'int32' }));
          // Small values: a saturated gate has no gradient.
          const small = { weights: [ramp(12, 2).map((value) => value / 16)] };
          const layer = layerOf({ combiner, ...small });
          const pooled = layer.apply([flat!, splits!]) as tf.SymbolicTensor;
          expect(pooled.shape).toEqual(combiner === null ? [null, null, 2] : [null, 2]);
          const top =
            combiner === null
              ? tf.layers.lstm({ units: 1, kernelInitializer: 'ones' })
              : tf.layers.dense({ units: 1, kernelInitializer: 'ones' });
          const model = tf.model({ inputs: [flat!, splits!], outputs: top.apply(pooled) as tf.SymbolicTensor });
          const pair = [tf.tensor1d(values, 'int32'), tf.tensor1d(rowSplits, 'int32')];
          const padded = ragged().toPadded({ defaultValue: -1 }) as tf.Tensor2D;
          const twin = layerOf({ combiner, weights: [layer.getWeights()[0]!] });
          const reference = tf.sequential({ layers: [twin, cloneTop(top)] });
          reference.layers[1]!.setWeights(top.getWeights());
          expectClose(take(model.apply(pair)), take(reference.predict(padded)));

          const optimizer = emb.train.sgd({ learningRate: 0.1 });
          const start = layer.getWeights()[0]!.dataSync().slice();
          for (let step = 0; step < 3; step++) {
            optimizer.minimize(() => (model.apply(pair) as tf.Tensor).square().sum() as tf.Scalar);
          }
          const table = layer.getWeights()[0]!.dataSync();
          const moved = Array.from({ length: 12 }, (_, row) => table[row * 2] !== start[row * 2]);
          expect(moved.flatMap((is, row) => (is ? [row] : []))).toEqual([1, 3, 4]);

          const again = await cloneOf(model);
          expect(take(again.apply(pair))).toEqual(take(model.apply(pair)));
          tf.dispose([...pair, padded]);
          optimizer.dispose();
          [model, again, reference].forEach((each) => each.dispose());
        }),
      );
    }

    it(
      'takes a RaggedTensor, or values and row splits, in apply',
      leakFree(() => {
        for (const combiner of ['sum', null] as const) {
          const layer = layerOf({ combiner });
          const model = tf.sequential({ layers: [layer, tf.layers.activation({ activation: 'linear' })] });
          const padded = ragged().toPadded({ defaultValue: -1 });
          const wanted = take(model.predict(padded));
          for (const given of [ragged(), { values, rowSplits }]) {
            expect(take(model.apply(given as unknown as tf.Tensor))).toEqual(wanted);
          }
          padded.dispose();
          model.dispose();
        }
      }),
    );
  });

  it(
    'refuses forms that it does not know',
    leakFree(() => {
      const layer = layerOf({ combiner: 'sum' });
      expectError(() => layer.apply(undefined as never), 'TypeError', 'inputs');
      expectError(() => layer.apply('ids' as never), 'TypeError', 'ids');
      expectError(() => layer.apply({ values, rowSplits: [0, 2] }), 'ValueError', 'ids.rowSplits');
      expectError(() => layer.apply({ values, rowSplits: [0, 2, 1, 3] }), 'ValueError', 'ids.rowSplits');
      expectError(() => layer.apply([]), 'ValueError', 'inputs');
      const flat = tf.tensor1d(values, 'int32');
      // Two of them may be rows as well as values and splits, so none of these is taken.
      const [plain, splits] = [Array.from(values), Array.from(rowSplits)];
      for (const arrays of [
        [values],
        [values, rowSplits],
        [values, rowSplits, Float32Array.of(3, 1, 2)],
        [[values, rowSplits], Float32Array.of(3, 1, 2)],
        [plain, splits],
        [plain, splits, plain],
        [plain, plain, plain],
      ]) {
        const error = expectError(() => layer.apply(arrays as never), 'TypeError', 'inputs');
        expect(error?.message).toContain('{values, rowSplits}');
        expect(error?.message).toContain('RaggedTensor.fromRows');
      }
      const mixed = expectError(() => layer.apply([flat, rowSplits]), 'ValueError', 'inputs');
      expect(mixed?.message).toContain('{values, rowSplits}');
      expectError(() => layer.apply(flat), 'ValueError', 'ids', /\[3\]/);
      expectError(() => layer.apply([flat]), 'ValueError', 'inputs');
      expectError(() => layer.computeOutputShape([null]), 'ValueError', 'inputs');
      expectError(() => layer.computeOutputShape([[null], [null, 2]]), 'ValueError', 'inputs');
      const padded = ids([[1, 2]]);
      const wrong = tf.tensor2d([[1, 2, 3]]);
      expectError(() => layer.apply([padded, wrong]), 'ValueError', 'weights');
      expectError(() => layer.apply([padded, padded]), 'TypeError', 'weights');
      expectError(() => layerOf().apply([padded, wrong]), 'ValueError', 'combiner');
      tf.dispose([flat, padded, wrong]);
      layer.dispose();
    }),
  );

  function cloneTop(top: tf.layers.Layer): tf.layers.Layer {
    const { name: _name, ...config } = top.getConfig();
    const cls = top.constructor as unknown as { new (args: object): tf.layers.Layer };
    return new cls(config);
  }

  it(
    'in a model, takes values, row splits and weights as three inputs',
    leakFree(() => {
      const [ids, splits] = [1, 2].map(() => tf.input({ batchShape: [null], dtype: 'int32' }));
      const weighted = tf.input({ batchShape: [null] });
      const layer = layerOf({ combiner: 'sum' });
      const inputs = [ids!, splits!, weighted];
      const model = tf.model({ inputs, outputs: layer.apply(inputs) as tf.SymbolicTensor });
      const given = [tf.tensor1d(values, 'int32'), tf.tensor1d(rowSplits, 'int32'), tf.tensor1d([2, 1, 3])];
      const alone = layerOf({ combiner: 'sum' });
      const expected = take(alone.apply(ragged(), { weights: emb.RaggedTensor.fromRowSplits(Float32Array.of(2, 1, 3), rowSplits) })); // prettier-ignore
      expectClose(take(model.apply(given)), expected);
      expectError(() => layerOf({ combiner: 'sum' }).apply([...inputs, weighted]), 'ValueError', 'inputs');
      tf.dispose(given);
      model.dispose();
      alone.dispose();
    }),
  );

  it(
    'takes weights by name too',
    leakFree(() => {
      const layer = layerOf({ combiner: 'mean' });
      const flat = Float32Array.of(2, 1, 3);
      const beside = emb.RaggedTensor.fromRowSplits(flat, rowSplits);
      const expected = take(layer.apply([ragged(), beside]));
      const [ids, splits, tensor] = [tf.tensor1d(values, 'int32'), tf.tensor1d(rowSplits, 'int32'), tf.tensor1d(flat)];
      expectClose(take(layer.apply(ragged(), { weights: beside })), expected);
      expectClose(take(layer.apply([ids, splits], { weights: tensor })), expected);
      expectError(() => layer.apply([ragged(), beside], { weights: beside }), 'ValueError', 'weights', 'both');
      expectError(() => layerOf().apply(ragged(), { weights: beside }), 'ValueError', 'combiner');
      tf.dispose([ids, splits, tensor]);
      layer.dispose();
    }),
  );

  it(
    'applied directly gives ragged rows, with or without arguments of the call',
    leakFree(() => {
      const layer = layerOf();
      const [ids, splits] = [tf.tensor1d(values, 'int32'), tf.tensor1d(rowSplits, 'int32')];
      for (const kwargs of [undefined, {}, { training: false }]) {
        const rows: unknown = layer.apply([ids, splits], kwargs);
        expect(rows).toBeInstanceOf(emb.RaggedTensor);
        expect((rows as emb.RaggedTensor).rowSplits).toEqual(rowSplits);
      }
      tf.dispose([ids, splits]);
      layer.dispose();
    }),
  );
});
