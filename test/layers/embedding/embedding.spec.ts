import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectClose, expectError, ids, leakFree, pooled, ramp, take, useCpu, type Combiner } from '../setup.js';

const COMBINERS: Combiner[] = ['sum', 'mean', 'sqrtn'];

describe('Embedding', () => {
  beforeAll(useCpu);

  const table = ramp(12, 3);
  const layerOf = (args: Partial<emb.EmbeddingArgs> = {}): emb.Embedding =>
    emb.layers.embedding({ inputDim: 12, outputDim: 3, weights: [table], ...args });

  describe('shapes, as in NVIDIA distributed-embeddings', () => {
    const shapes: [number[], number[] | null, number[] | null][] = [
      // ids, without a combiner, with one (null: refused)
      [[], [3], null],
      [[4], [4, 3], null],
      [
        [2, 5],
        [2, 5, 3],
        [2, 3],
      ],
      [
        [2, 4, 5],
        [2, 4, 5, 3],
        [2, 4, 3],
      ],
      [
        [2, 1],
        [2, 1, 3],
        [2, 3],
      ],
      [
        [0, 5],
        [0, 5, 3],
        [0, 3],
      ],
      [
        [2, 0],
        [2, 0, 3],
        [2, 3],
      ],
    ];
    for (const [shape, plain, reduced] of shapes) {
      for (const combiner of [null, ...COMBINERS]) {
        const expected = combiner === null ? plain : reduced;
        it(
          `[${shape.join(', ')}] with ${combiner ?? 'no combiner'}`,
          leakFree(() => {
            const layer = layerOf({ combiner });
            const input = tf.zeros(shape, 'int32');
            if (expected === null) {
              expectError(() => layer.apply(input), 'ValueError', 'ids');
              expectError(() => layer.computeOutputShape(shape), 'ValueError', 'ids');
            } else {
              const output = layer.apply(input) as tf.Tensor;
              expect(output.shape).toEqual(expected);
              expect(output.dtype).toBe('float32');
              if (shape.length > 0) expect(layer.computeOutputShape(shape)).toEqual(expected);
              output.dispose();
              layer.dispose();
            }
            input.dispose();
          }),
        );
      }
    }

    it(
      'ragged ids',
      leakFree(() => {
        const ragged = emb.RaggedTensor.fromRows([[2, 7], [], [1]]);
        const plain = layerOf();
        const rows = plain.apply(ragged) as emb.RaggedTensor;
        expect(rows.shape).toEqual([3, null, 3]);
        expect(JSON.stringify(rows.toRows())).toBe(
          JSON.stringify([
            [
              [2, 2.25, 2.5],
              [7, 7.25, 7.5],
            ],
            [],
            [[1, 1.25, 1.5]],
          ]),
        );
        const layer = layerOf({ combiner: 'mean' });
        expectClose(take(layer.apply(ragged)), [4.5, 4.75, 5, 0, 0, 0, 1, 1.25, 1.5]);
        layer.dispose();
        plain.dispose();
      }),
    );

    it(
      'sparse ids',
      leakFree(() => {
        const sparse = {
          indices: [
            [0, 0],
            [2, 1],
            [2, 2],
          ],
          values: [5, 1, 3],
          denseShape: [4, 3],
        };
        const layer = layerOf({ combiner: 'sum' });
        expectClose(take(layer.apply(sparse)), [5, 5.25, 5.5, 0, 0, 0, 4, 4.5, 5, 0, 0, 0]);
        expectError(() => layer.apply({ ...sparse, values: [5, 1] }), 'ValueError', 'ids.indices');
        layer.dispose();
      }),
    );
  });

  describe('values', () => {
    const rows = [
      [3, 3, 11],
      [0, 1, 2],
      [7, 7, 7],
    ];
    for (const combiner of COMBINERS) {
      it(
        `${combiner}, plain and weighted`,
        leakFree(() => {
          const layer = layerOf({ combiner });
          const input = ids(rows);
          const weights = [
            [1, -2, 0.5],
            [0, 0, 0],
            [2, 3, 4],
          ];
          const perId = tf.tensor2d(weights);
          expectClose(take(layer.apply(input)), pooled(table, 3, rows, combiner));
          expectClose(take(layer.apply([input, perId])), pooled(table, 3, rows, combiner, weights));
          tf.dispose([input, perId]);
          layer.dispose();
        }),
      );

      it(
        `${combiner} with maskZero leaves id 0 out of sum and divisor`,
        leakFree(() => {
          const layer = layerOf({ combiner, maskZero: true });
          const input = ids([
            [0, 3, 0],
            [5, 0, 6],
            [0, 0, 0],
          ]);
          expectClose(take(layer.apply(input)), pooled(table, 3, [[3], [5, 6], []], combiner));
          const perId = tf.tensor2d([
            [9, 2, 9],
            [1, 9, 3],
            [9, 9, 9],
          ]);
          expectClose(
            take(layer.apply([input, perId])),
            pooled(table, 3, [[3], [5, 6], []], combiner, [[2], [1, 3], []]),
          );
          const ragged = emb.RaggedTensor.fromRows([[0, 3, 0], [5, 0, 6], [0]]);
          expectClose(take(layer.apply(ragged)), pooled(table, 3, [[3], [5, 6], []], combiner));
          tf.dispose([input, perId]);
          layer.dispose();
        }),
      );
    }

    it(
      'ids of rank 3 reduce the innermost axis',
      leakFree(() => {
        const layer = layerOf({ combiner: 'sum' });
        const input = tf.tensor3d(
          [
            [
              [1, 2],
              [3, 4],
            ],
            [
              [5, 6],
              [7, 8],
            ],
          ],
          [2, 2, 2],
          'int32',
        );
        expectClose(
          take(layer.apply(input)),
          pooled(
            table,
            3,
            [
              [1, 2],
              [3, 4],
              [5, 6],
              [7, 8],
            ],
            'sum',
          ),
        );
        input.dispose();
        layer.dispose();
      }),
    );

    it(
      'maxNorm scales rows, outOfRange zero keeps the divisor',
      leakFree(() => {
        const weights = [
          [
            [3, 4],
            [0.3, 0.4],
          ],
        ];
        const short = emb.layers.embedding({ inputDim: 2, outputDim: 2, combiner: 'mean', maxNorm: 1, weights });
        const input = ids([[0, 1]]);
        expectClose(take(short.apply(input)), [0.45, 0.6]);
        const loose = emb.layers.embedding({
          inputDim: 2,
          outputDim: 2,
          combiner: 'mean',
          outOfRange: 'zero',
          weights,
        });
        const beyond = ids([[0, 5]]);
        expectClose(take(loose.apply(beyond)), [1.5, 2]);
        expectError(() => short.apply(beyond), 'ValueError', 'ids', /5/);
        tf.dispose([input, beyond]);
        short.dispose();
        loose.dispose();
      }),
    );

    it(
      'gradients reach table and weights, padding left out',
      leakFree(() => {
        const layer = layerOf({ combiner: 'mean', maskZero: true });
        const input = ids([[2, 0, 5]]);
        const perId = tf.tensor2d([[1, 4, 3]]);
        const before = tf.memory().numTensors;
        const [byWeights, byTable] = tf.tidy(() => {
          layer.apply([input, perId]);
          const variable = layer.getWeights()[0] as tf.Variable;
          const f = (w: tf.Tensor): tf.Scalar => (layer.apply([input, w]) as tf.Tensor).sum();
          const { grads } = tf.variableGrads(() => f(perId), [variable]);
          return [Array.from(tf.grad(f)(perId).dataSync()), Array.from(grads[variable.name]!.dataSync())];
        });
        // d/dw_i sum_c (w . e_c / W) = (sum_c e_ic - sum_c mean_c) / W with W = 1 + 3
        const [two, five] = [6.75, 15.75];
        const mean = (two + 3 * five) / 4;
        expectClose(byWeights!, [(two - mean) / 4, 0, (five - mean) / 4]);
        const expected = new Array<number>(36).fill(0);
        for (let column = 0; column < 3; column++) {
          expected[2 * 3 + column] = 0.25;
          expected[5 * 3 + column] = 0.75;
        }
        expectClose(byTable!, expected);
        expect(tf.memory().numTensors).toBe(before + 1); // the table, made by the first call
        tf.dispose([input, perId]);
        layer.dispose();
      }),
    );
  });

  it(
    'with a combiner the mask is gone; ids of rank 3 keep one of the axis above',
    leakFree(() => {
      const layer = layerOf({ combiner: 'sum', maskZero: true });
      const flat = ids([[1, 0]]);
      expect(layer.computeMask(flat)).toBeNull();
      const deep = tf.tensor3d(
        [
          [
            [1, 0],
            [0, 0],
          ],
        ],
        [1, 2, 2],
        'int32',
      );
      expect(take(layer.computeMask(deep))).toEqual([1, 0]);
      tf.dispose([flat, deep]);
    }),
  );

  it(
    'computes ids and weights of a functional model with int32 and float32 inputs',
    leakFree(() => {
      const input = tf.input({ shape: [null], dtype: 'int32' });
      const perId = tf.input({ shape: [null] });
      const output = layerOf({ combiner: 'mean' }).apply([input, perId]) as tf.SymbolicTensor;
      expect(output.shape).toEqual([null, 3]);
      const model = tf.model({ inputs: [input, perId], outputs: output });
      const feeds = [
        ids([
          [3, 4],
          [5, 5],
        ]),
        tf.tensor2d([
          [1, 3],
          [2, 2],
        ]),
      ];
      expectClose(
        take(model.predict(feeds)),
        pooled(
          table,
          3,
          [
            [3, 4],
            [5, 5],
          ],
          'mean',
          [
            [1, 3],
            [2, 2],
          ],
        ),
      );
      tf.dispose(feeds);
      model.dispose();
    }),
  );

  it(
    'calls the hook of setCallHook',
    leakFree(() => {
      const layer = layerOf();
      let calls = 0;
      layer.setCallHook(() => void calls++);
      const input = ids([[1]]);
      tf.dispose(layer.apply(input) as tf.Tensor);
      expect(calls).toBe(1);
      input.dispose();
      layer.dispose();
    }),
  );

  it(
    'takes weights by name, also of ids in arrays, and in a model',
    leakFree(() => {
      const layer = layerOf({ combiner: 'mean' });
      const [rows, weights] = [[[1, 2], [11, 0]], [[1, 3], [2, 0.5]]]; // prettier-ignore
      const expected = pooled(table, 3, rows, 'mean', weights);
      const [given, perId] = [tf.tensor2d(rows, [2, 2], 'int32'), tf.tensor2d(weights)];
      expectClose(take(layer.apply(given, { weights: perId })), expected);
      expectClose(take(layer.apply(rows, { weights })), expected);
      expectClose(take(layer.apply(rows, { weights: null })), pooled(table, 3, rows, 'mean'));
      const inputs = [tf.input({ shape: [2], dtype: 'int32' }), tf.input({ shape: [2] })] as const;
      const outputs = layerOf({ combiner: 'mean' }).apply(inputs[0], { weights: inputs[1] });
      const model = tf.model({ inputs: [...inputs], outputs });
      expectClose(take(model.predict([given, perId])), expected);
      expectError(() => layer.apply([given, perId], { weights: perId }), 'ValueError', 'weights', 'both');
      expectError(() => layer.apply(rows, { weights: [[1, 3], [2]] }), 'ValueError', 'weights'); // prettier-ignore
      tf.dispose([given, perId]);
      model.dispose();
      layer.dispose();
    }),
  );
});
