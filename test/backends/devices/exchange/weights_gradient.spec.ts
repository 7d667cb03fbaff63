/** Gradients with respect to weights, from tables that lie on devices. */
import * as tf from '@tensorflow/tfjs';
import { kernelSet } from '../../../../src/backends/registry.js';
import * as emb from '../../../../src/index.js';
import { WEIGHING } from '../../../../src/base/types.js';
import { bagCases, type BagCase } from '../../../helpers/bag_cases.js';
import { weightsGradientMagnitude } from '../../../helpers/magnitudes.js';
import { Random } from '../../../helpers/random.js';
import { expectClose } from '../../../helpers/tensors.js';
import { HOSTS, describeEmulator, emulator } from '../../emulator/describe_emulator.js';
import { LAYOUT_NAMES, numbersOf, placeTable } from '../../emulator/tables.js';
import { floatTable } from '../../../../src/backends/kernel_set.js';

const weighted = bagCases(300, 9000).filter(({ bags }) => bags.weights !== null);

function expectedOf({ table, bags, options, gradient }: BagCase): Float32Array {
  const expected = new Float32Array(bags.values.length);
  kernelSet().weightsGradient(table, gradient, bags, options, expected);
  return expected;
}

describeEmulator(
  'gradients with respect to weights',
  { chips: 3, coresPerChip: 1 },
  (host) => {
    for (const layout of LAYOUT_NAMES) {
      it(`of generated batches: ${layout}`, () => {
        for (const example of weighted.slice(0, host === 'cpu' ? 100 : 25)) {
          tf.tidy(() => {
            const { bags, gradient, table } = example;
            const { combiner, outOfRange, maxNorm } = example.options;
            const placed = placeTable(layout, table, new Random(1));
            const batch = bags.rowSplits.length - 1;
            const ofWeights = (weights: tf.Tensor): tf.Scalar => {
              const options = {
                combiner,
                outOfRange,
                maxNorm: maxNorm === 0 ? null : maxNorm,
                weights: weights as tf.Tensor1D,
              };
              const pooled = emb.ops.embeddingBag(placed, bags.values, bags.rowSplits, options);
              return pooled.mul(tf.tensor2d(gradient, [batch, table.dim])).sum();
            };
            const result = tf.grad(ofWeights)(tf.tensor1d(bags.weights!));
            const what = `${layout} ${example.name}`;
            const values = result.dataSync();
            const expected = expectedOf(example);
            const { kind, shards } = emulator().layoutOf(placed)!;
            if (kind === 'replicated' || (kind === 'columns' && shards.length === 1)) {
              expect(expected.findIndex((value, i) => !Object.is(value + 0, values[i]! + 0)))
                .withContext(`${what}: place of the first value that differs in a bit`)
                .toBe(-1);
            } else expectClose(values, expected, weightsGradientMagnitude(example), what);
            placed.dispose();
          });
        }
      });

      it(`are zeros where the divisor is zero: ${layout}`, () => {
        for (const combiner of WEIGHING) {
          tf.tidy(() => {
            const table = floatTable(new Random(2).floats(20), 5, 4);
            const placed = placeTable(layout, table, new Random(3));
            const ofWeights = (weights: tf.Tensor): tf.Scalar =>
              emb.ops
                .embeddingBag(placed, [0, 1, 4, 2], [0, 2, 2, 4], { combiner, weights: weights as tf.Tensor1D })
                .sum();
            const [a, b, c, d] = numbersOf(
              tf.grad(ofWeights)(tf.tensor1d(combiner === 'mean' ? [1.5, -1.5, 1, 2] : [0, 0, 1, 2])),
            );
            const sumOf = (row: number): number => table.data.slice(4 * row, 4 * row + 4).reduce((x, y) => x + y, 0);
            if (combiner === 'sum') {
              expect(a).toBeCloseTo(sumOf(0), 5);
              expect(b).toBeCloseTo(sumOf(1), 5);
            } else expect([a, b]).toEqual([0, 0]);
            if (combiner === 'mean') {
              const mean = (sumOf(4) + 2 * sumOf(2)) / 3;
              expect(c).toBeCloseTo((sumOf(4) - mean) / 3, 5);
              expect(d).toBeCloseTo((sumOf(2) - mean) / 3, 5);
            }
            placed.dispose();
          });
        }
      });
    }
  },
  HOSTS,
);
