/** Lookups through the public API, on every implementation, against values of TensorFlow 2.21. */
import * as tf from '@tensorflow/tfjs';
import { readFileSync } from 'node:fs';
import * as emb from 'tfjs-embeddings/node';
import type { Combiner } from '../../src/base/types.js';
import { describeForBackends } from '../helpers/backends.js';
import { expectNoLeak } from '../helpers/tensors.js';

interface GoldenIds {
  kind: 'sparse' | 'ragged';
  indices?: number[][];
  dense_shape?: number[];
  row_splits?: number[];
  values: number[];
}

interface GoldenCase {
  op: 'embedding_lookup_sparse' | 'safe_embedding_lookup_sparse';
  combiner: Combiner;
  max_norm: number | null;
  default_id?: number | null;
  case: string;
  ids: GoldenIds;
  weights: GoldenIds | null;
  output: unknown;
  grad_of_sum_y_times_1_to_n: number[][];
}

/** The plain lookup, without bags. */
interface PlainCase {
  op: 'embedding_lookup';
  max_norm: number;
  ids: number[];
  output: number[][];
}

interface Goldens {
  table: number[][];
  cases: (GoldenCase | PlainCase)[];
}

const goldens = JSON.parse(readFileSync(new URL('../goldens/lookup_sparse.json', import.meta.url), 'utf8')) as Goldens;

function idsOf(ids: GoldenIds): emb.IdsInput {
  if (ids.kind === 'ragged') return emb.RaggedTensor.fromRowSplits(Int32Array.from(ids.values), ids.row_splits!);
  return { indices: ids.indices!, values: ids.values, denseShape: ids.dense_shape! };
}

function weightsOf(ids: GoldenIds): emb.WeightsInput {
  if (ids.kind === 'ragged') return emb.RaggedTensor.fromRowSplits(Float32Array.from(ids.values), ids.row_splits!);
  return { indices: ids.indices!, values: ids.values, denseShape: ids.dense_shape! };
}

/** The golden's lookup of `table`. */
function lookUp(golden: GoldenCase, table: tf.Tensor2D): tf.Tensor {
  const options = {
    combiner: golden.combiner,
    maxNorm: golden.max_norm,
    weights: golden.weights === null ? null : weightsOf(golden.weights),
  };
  if (golden.op === 'safe_embedding_lookup_sparse') {
    return emb.safeEmbeddingLookup(table, idsOf(golden.ids), { ...options, defaultId: golden.default_id ?? null });
  }
  return emb.embeddingLookup(table, idsOf(golden.ids), options) as tf.Tensor;
}

/** Sum of y * [1..n] over all n elements, the scalar whose gradient the goldens hold. */
function weightedSum(y: tf.Tensor): tf.Scalar {
  return y
    .flatten()
    .mul(tf.range(1, y.size + 1))
    .sum();
}

describeForBackends('embeddingLookup and safeEmbeddingLookup', () => {
  for (const golden of goldens.cases) {
    if (golden.op === 'embedding_lookup') {
      it('leaves ids of weight 0 out, and gives their bag the default row', () => {
        tf.tidy(() => {
          const table = tf.tensor2d([[1, 2], [3, 4], [5, 6]]); // prettier-ignore
          const ids = [[1, 2], [1, 2], [2, 1]]; // prettier-ignore
          const weights = [[0, 0], [0, 2], [-0, -3]]; // prettier-ignore
          const rowsOf = (combiner: emb.Combiner, defaultId: number | null): unknown =>
            emb.safeEmbeddingLookup(table, ids, { combiner, weights, defaultId }).arraySync();
          for (const combiner of ['mean', 'sqrtn'] as const) {
            expect(rowsOf(combiner, 0)).withContext(combiner).toEqual([[1, 2], [5, 6], [1, 2]]); // prettier-ignore
            expect(rowsOf(combiner, null)).withContext(combiner).toEqual([[0, 0], [5, 6], [0, 0]]); // prettier-ignore
          }
          // A sum takes all weights as they are, so no bag is empty.
          expect(rowsOf('sum', 0)).toEqual([[0, 0], [10, 12], [-9, -12]]); // prettier-ignore
        });
      });

      it(`equals TensorFlow: ${golden.op} maxNorm ${golden.max_norm}`, () => {
        expectNoLeak(() => {
          tf.tidy(() => {
            const rows = emb.embeddingLookup(tf.tensor2d(goldens.table), golden.ids, { maxNorm: golden.max_norm });
            expectClose(rows as tf.Tensor, tf.tensor2d(golden.output));
          });
        });
      });
      continue;
    }
    const title = `${golden.op} ${golden.combiner} ${golden.case} maxNorm ${golden.max_norm} default ${golden.default_id}`;
    it(`equals TensorFlow: ${title}`, () => {
      expectNoLeak(() => {
        tf.tidy(() => {
          const table = tf.tensor2d(goldens.table);
          const pooled = lookUp(golden, table);
          const expected = tf.tensor(golden.output as number[]);
          // Upstream drops trailing empty rows from the plain lookup; ours are zeros.
          const { shape } = expected;
          const shown = pooled.slice(0, [shape[0]!, ...shape.slice(1)]);
          expect(pooled.shape.slice(1)).toEqual(shape.slice(1));
          expectClose(shown, expected);
          expectClose(pooled.slice(shape[0]!).sum(), tf.scalar(0));
          const gradient = tf.grad((x) => weightedSum(lookUp(golden, x as tf.Tensor2D)))(table);
          expectClose(gradient, tf.tensor2d(golden.grad_of_sum_y_times_1_to_n), 1e-5);
        });
      });
    });
  }

  it('takes ids at both ends of the table and refuses the ones beyond, with position and rows', () => {
    expectNoLeak(() => {
      tf.tidy(() => {
        const table = tf.tensor2d([
          [1, 2],
          [3, 4],
          [5, 6],
        ]);
        expectClose(
          emb.embeddingLookup(table, [0, 2]) as tf.Tensor,
          tf.tensor2d([
            [1, 2],
            [5, 6],
          ]),
        );
        for (const bad of [3, -1, 2147483647, -2147483648]) {
          expect(() =>
            emb.embeddingLookup(
              table,
              [
                [0, 1],
                [1, bad],
              ],
              { combiner: 'sum' },
            ),
          ).toThrowMatching(
            (error: Error) =>
              error instanceof emb.ValueError &&
              error.argument === 'ids' &&
              error.message.includes(String(bad)) &&
              error.message.includes('[1, 1]') &&
              error.message.includes('3 rows'),
          );
        }
      });
    });
  });

  it("takes ids outside as zeros that stay in the divisor under outOfRange 'zero', without a gradient", () => {
    expectNoLeak(() => {
      tf.tidy(() => {
        const table = tf.tensor2d([
          [2, 4],
          [6, 8],
        ]);
        const look = (x: tf.Tensor): tf.Tensor =>
          emb.embeddingLookup(x as tf.Tensor2D, [[0, -5, 1, 9]], { combiner: 'mean', outOfRange: 'zero' }) as tf.Tensor;
        expectClose(look(table), tf.tensor2d([[2, 3]]));
        expectClose(tf.grad((x) => look(x).sum())(table), tf.fill([2, 2], 0.25));
      });
    });
  });

  it('keeps empty batches, empty first and last rows and zero-width ids', () => {
    expectNoLeak(() => {
      tf.tidy(() => {
        const table = tf.tensor2d([
          [1, 2],
          [3, 4],
        ]);
        const pool = (ids: emb.IdsInput): tf.Tensor =>
          emb.embeddingLookup(table, ids, { combiner: 'mean' }) as tf.Tensor;
        expectClose(
          pool(emb.RaggedTensor.fromRows([[], [1, 0], []])),
          tf.tensor2d([
            [0, 0],
            [2, 3],
            [0, 0],
          ]),
        );
        expect(pool(tf.zeros([0, 3], 'int32')).shape).toEqual([0, 2]);
        expectClose(pool(tf.zeros([2, 0], 'int32')), tf.zeros([2, 2]));
        expect((emb.embeddingLookup(table, tf.zeros([0], 'int32')) as tf.Tensor).shape).toEqual([0, 2]);
      });
    });
  });

  it('reduces the last axis of ids of any rank', () => {
    expectNoLeak(() => {
      tf.tidy(() => {
        const table = tf.tensor2d([[1], [10], [100]]);
        const ids = tf.tensor3d(
          [
            [
              [0, 1],
              [2, 2],
            ],
            [
              [1, 1],
              [0, 0],
            ],
          ],
          [2, 2, 2],
          'int32',
        );
        const pooled = emb.embeddingLookup(table, ids, { combiner: 'sum' }) as tf.Tensor;
        expectClose(
          pooled,
          tf.tensor3d([
            [[11], [200]],
            [[20], [2]],
          ]),
        );
        expect((emb.embeddingLookup(table, ids) as tf.Tensor).shape).toEqual([2, 2, 2, 1]);
      });
    });
  });

  it('gives a ragged result for ragged ids without a combiner', () => {
    expectNoLeak(() => {
      const table = tf.tensor2d([
        [1, 2],
        [3, 4],
      ]);
      const rows = emb.embeddingLookup(table, emb.RaggedTensor.fromRows([[1, 0], [], [1]])) as emb.RaggedTensor;
      expect<unknown>(rows.toRows()).toEqual([
        [
          [3, 4],
          [1, 2],
        ],
        [],
        [[3, 4]],
      ]);
      table.dispose();
    });
  });

  it('gives gradients to weights, as finite differences do', () => {
    const table = tf.tensor2d([
      [0.5, -1],
      [2, 0.25],
      [-0.75, 1.5],
    ]);
    const ids = tf.tensor2d(
      [
        [0, 1, 1],
        [2, 2, 0],
      ],
      [2, 3],
      'int32',
    );
    const start = [0.5, 1.5, -0.25, 2, 0.75, 1.25];
    for (const combiner of ['sum', 'mean', 'sqrtn'] as const) {
      for (const maxNorm of [null, 1.2]) {
        expectNoLeak(() => {
          const score = (w: tf.Tensor): tf.Scalar =>
            weightedSum(emb.embeddingLookup(table, ids, { combiner, weights: w, maxNorm }) as tf.Tensor);
          const weights = tf.tensor2d(start, [2, 3]);
          const gradient = tf.tidy(() => tf.grad(score)(weights));
          start.forEach((value, i) => {
            const at = (x: number): number =>
              tf.tidy(
                () =>
                  score(
                    tf.tensor2d(
                      start.map((w, j) => (j === i ? x : w)),
                      [2, 3],
                    ),
                  ).dataSync()[0]!,
              );
            const difference = (at(value + 1e-2) - at(value - 1e-2)) / 2e-2;
            expect(Math.abs(gradient.dataSync()[i]! - difference)).toBeLessThan(5e-3);
          });
          tf.dispose([weights, gradient]);
        });
      }
    }
    tf.dispose([table, ids]);
  });

  it('gives weights their gradient without one of the table, where nothing trains the table', () => {
    const table = tf.variable(
      tf.tensor2d([
        [1, 2],
        [3, 4],
      ]),
      false,
    );
    const weights = tf.variable(tf.tensor1d([1, 2]));
    const kernels: string[] = [];
    const run = tf.engine().runKernel.bind(tf.engine());
    spyOn(tf.engine(), 'runKernel').and.callFake(((name: string, ...rest: never[]) => {
      kernels.push(name);
      return run(name, ...(rest as unknown as [never]));
    }) as never);
    tf.tidy(() => {
      const score = (): tf.Scalar => emb.ops.embeddingBag(table, [0, 1], [0, 2], { combiner: 'sum', weights }).sum();
      const { grads } = tf.variableGrads(score, [weights]);
      expect(Array.from(Object.values(grads)[0]!.dataSync())).toEqual([3, 7]);
    });
    expect(kernels).toContain('EmbeddingBagWeightsGrad');
    expect(kernels).not.toContain('EmbeddingBagGrad');
    tf.dispose([table, weights]);
  });

  it('looks up in row partitions by mod and by div as in the whole table, gradients included', () => {
    expectNoLeak(() => {
      tf.tidy(() => {
        const whole = tf.range(0, 14).reshape([7, 2]) as tf.Tensor2D;
        const rows = (list: number[]): tf.Tensor2D => tf.gather(whole, tf.tensor1d(list, 'int32'));
        const parts = {
          mod: [rows([0, 3, 6]), rows([1, 4]), rows([2, 5])],
          div: [rows([0, 1, 2]), rows([3, 4]), rows([5, 6])],
        };
        const ids = [
          [0, 6],
          [3, 3],
          [5, 1],
        ];
        for (const combiner of ['sum', 'mean', 'sqrtn'] as const) {
          const expected = emb.embeddingLookup(whole, ids, { combiner }) as tf.Tensor;
          for (const partitionStrategy of ['mod', 'div'] as const) {
            const table = parts[partitionStrategy];
            expectClose(emb.embeddingLookup(table, ids, { combiner, partitionStrategy }) as tf.Tensor, expected);
          }
        }
        const gradients = tf.grads((...tables: tf.Tensor[]) =>
          (emb.embeddingLookup(tables as tf.Tensor2D[], ids, { combiner: 'sum' }) as tf.Tensor).sum(),
        )(parts.mod);
        expectClose(
          gradients[0]!,
          tf.tensor2d([
            [1, 1],
            [2, 2],
            [1, 1],
          ]),
        );
        expect(() => emb.embeddingLookup(parts.div, [[7]], { combiner: 'sum', partitionStrategy: 'div' })).toThrowError(
          emb.ValueError,
          /7 at \[0, 0\] \(the table has 7 rows\)/,
        );
        for (const partitionStrategy of ['mod', 'div'] as const) {
          const options = { combiner: 'sum', partitionStrategy, outOfRange: 'zero' } as const;
          const found = emb.embeddingLookup(parts[partitionStrategy], [[7, 1], [-1, 7]], options) as tf.Tensor; // prettier-ignore
          expectClose(found, tf.tensor2d([[2, 3], [0, 0]])); // prettier-ignore
        }
      });
    });
  });

  it('looks up safely in row partitions as in the whole table, defaults and gradients included', () => {
    expectNoLeak(() => {
      tf.tidy(() => {
        const whole = tf.range(0, 14).reshape([7, 2]) as tf.Tensor2D;
        const rows = (list: number[]): tf.Tensor2D => tf.gather(whole, tf.tensor1d(list, 'int32'));
        const parts = {
          mod: [rows([0, 3, 6]), rows([1, 4]), rows([2, 5])],
          div: [rows([0, 1, 2]), rows([3, 4]), rows([5, 6])],
        };
        const ids = emb.RaggedTensor.fromRows([[6, -1, 2], [-3], [], [4, 4, 5, 0]]);
        const weights = [[1, 1, 0], [2], [], [1, -1, 3, 0.5]];
        for (const combiner of ['sum', 'mean', 'sqrtn', 'max'] as const) {
          for (const options of [{}, { defaultId: 5 }, { weights, defaultId: 0 }, { maxNorm: 3 }]) {
            if (combiner === 'max' && 'weights' in options) continue;
            const expected = emb.safeEmbeddingLookup(whole, ids, { combiner, ...options } as never);
            for (const partitionStrategy of ['mod', 'div'] as const) {
              const all = { combiner, partitionStrategy, ...options } as never;
              expectClose(emb.safeEmbeddingLookup(parts[partitionStrategy], ids, all), expected);
            }
          }
        }
        const gradients = tf.grads((...tables: tf.Tensor[]) =>
          emb.safeEmbeddingLookup(tables as tf.Tensor2D[], ids, { combiner: 'sum', defaultId: 3 }).sum(),
        )(parts.mod);
        expectClose(gradients[0]!, tf.tensor2d([[1, 1], [2, 2], [1, 1]])); // prettier-ignore
        expect(() => emb.safeEmbeddingLookup(parts.div, [[7]], { partitionStrategy: 'div' })).toThrowError(
          emb.ValueError,
          /7 at \[0, 0\] \(the table has 7 rows\)/,
        );
        expect(() => emb.safeEmbeddingLookup(parts.mod, [[1]], { defaultId: 7 })).toThrowError(
          emb.ValueError,
          /defaultId/,
        );
        expect(() => emb.safeEmbeddingLookup([], [[1]])).toThrowError(emb.ValueError, /table/);
      });
    });
  });
});

function expectClose(actual: tf.Tensor, expected: tf.Tensor, tolerance = 2e-6): void {
  expect(actual.shape).toEqual(expected.shape);
  const wanted = expected.dataSync<'float32'>();
  const worst = actual.dataSync<'float32'>().reduce((most, value, i) => {
    const error = Math.abs(value - wanted[i]!) / (1 + Math.abs(wanted[i]!));
    return Number.isNaN(error) ? Infinity : Math.max(most, error);
  }, 0);
  expect(worst).toBeLessThanOrEqual(tolerance);
}
