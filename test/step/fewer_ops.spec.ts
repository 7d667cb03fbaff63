/** Products and sums of a recorded step in ops of ours and fewer of them: the same numbers, on other inputs too. */
import * as tf from '@tensorflow/tfjs';
import { loadAddon } from '../../src/backends/native/addon.js';
import { asNodeBackend } from '../../src/backends/tensorflow/node_backend.js';
import { fewerOps } from '../../src/step/fewer_ops.js';
import { neededOps, type AttributeKinds } from '../../src/step/graph_def.js';
import { withOwnProducts } from '../../src/step/own_products.js';
import { record } from '../../src/step/recorder.js';
import type { RecordedOp } from '../../src/step/recording.js';
import { StepGraph } from '../../src/step/step_graph.js';
import { Random } from '../helpers/random.js';
import { describeSteps } from './training.js';

type Step = (inputs: tf.Tensor[]) => tf.Tensor[];

/** The ops that are left of a step over tensors of these shapes, which gives the same op by op and as a graph. */
function opsOf(shapes: readonly (readonly number[])[], step: Step, seed = 3): RecordedOp[] {
  const random = new Random(seed);
  const draw = (): tf.Tensor[] => {
    return shapes.map((shape) => tf.tensor(random.floats(tf.util.sizeFromShape([...shape])), [...shape]));
  };
  const [given, others] = [draw(), draw()];
  const backend = asNodeBackend(tf.backend());
  const run = (inputs: tf.Tensor[]): tf.Tensor[] => tf.tidy(() => withOwnProducts(backend, () => step(inputs)));
  const { results, recording } = record(backend, given, () => run(given) as tf.Scalar[]);
  expect(recording.problem).toBeNull();
  const fewer = fewerOps(recording, backend.binding as unknown as AttributeKinds);
  const graph = new StepGraph(loadAddon(), fewer);
  for (const inputs of [given, others]) {
    const found = graph.run(inputs);
    const [expected, ofTensorFlow] = [run(inputs), tf.tidy(() => step(inputs))];
    found.forEach((result, i) => {
      expect(result.shape as number[]).toEqual(expected[i]!.shape);
      // As the step gives it while it is captured, to the bit; and TensorFlow, which rounds otherwise.
      expect(result.dataSync()).toEqual(expected[i]!.dataSync() as Float32Array);
      const numbers = ofTensorFlow[i]!.dataSync();
      result.dataSync().forEach((number, k) => {
        const tolerance = 2e-6 * Math.max(1, Math.abs(numbers[k]!));
        expect(Math.abs(number - numbers[k]!))
          .withContext(`number ${k} of result ${i}`)
          .toBeLessThan(tolerance);
      });
    });
    tf.dispose([found, expected, ofTensorFlow]);
  }
  graph.release();
  tf.dispose([given, others, results]);
  return neededOps(fewer);
}

const namesOf = (ops: readonly RecordedOp[]): string[] => ops.map(({ name }) => name);

describeSteps('fewerOps', () => {
  it('multiplies small matrices of any sizes, transposed or not, as TensorFlow does', () => {
    const random = new Random(8);
    const sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 65];
    const draw = (): number => sizes[random.whole(0, sizes.length)]!;
    for (let round = 0; round < 60; round++) {
      const [m, k, n] = [draw(), draw(), draw()];
      const [isA, isB] = [round % 2 === 1, round % 4 > 1];
      const shapes = [isA ? [k, m] : [m, k], isB ? [n, k] : [k, n]];
      const names = namesOf(opsOf(shapes, ([a, b]) => [a!.matMul(b!, isA, isB)], round));
      expect(names).withContext(`[${m}, ${k}] [${k}, ${n}]`).toEqual(['EmbeddingProducts']);
    }
  });

  it('leaves large products, products of several matrices and those of empty ones to TensorFlow or gives them', () => {
    expect(
      namesOf(
        opsOf(
          [
            [128, 128],
            [128, 128],
          ],
          ([a, b]) => [a!.matMul(b!).neg()],
        ),
      ),
    ).toContain('BatchMatMulV2');
    const batches = opsOf(
      [
        [2, 3, 4],
        [2, 4, 5],
      ],
      ([a, b]) => [a!.matMul(b!).neg()],
    );
    expect(namesOf(batches)).toEqual(['BatchMatMulV2', 'Neg']);
    expect(
      namesOf(
        opsOf(
          [
            [3, 0],
            [0, 2],
          ],
          ([a, b]) => [a!.matMul(b!).neg()],
        ),
      ),
    ).toContain('Neg');
  });

  it('runs products that do not wait for one another as one op, and others apart', () => {
    const shapes = [
      [4, 4],
      [4, 4],
      [4, 4],
    ];
    const apart = opsOf(shapes, ([a, b, c]) => [a!.matMul(b!), a!.matMul(c!), b!.matMul(c!)]);
    expect(namesOf(apart)).toEqual(['EmbeddingProducts']);
    const chain = opsOf(shapes, ([a, b, c]) => [a!.matMul(b!).matMul(c!)]);
    expect(namesOf(chain)).toEqual(['EmbeddingProducts', 'EmbeddingProducts']);
    const turned = opsOf(shapes, ([a, b]) => [a!.matMul(b!), a!.matMul(b!, true), a!.matMul(b!, true, true)]);
    expect(namesOf(turned)).toEqual(['EmbeddingProducts', 'EmbeddingProducts', 'EmbeddingProducts']);
    // Taken before the last of its group is made, and by one that a later member needs.
    const mixed = opsOf(shapes, ([a, b, c]) => [a!.matMul(b!).square(), b!.square().matMul(c!), a!.matMul(c!).neg()]);
    expect(namesOf(mixed).filter((name) => name === 'EmbeddingProducts').length).toBe(1);
  });

  it('sums products as they are made, and other tensors together, in their order', () => {
    const pairs = [
      [3, 4],
      [4, 5],
      [3, 2],
      [2, 5],
      [3, 5],
      [3, 5],
    ];
    const sum = opsOf(pairs, ([a, b, c, d]) => [a!.matMul(b!).add(c!.matMul(d!))]);
    expect(namesOf(sum)).toEqual(['EmbeddingProductSum']);
    const more = opsOf(pairs, ([a, b, c, d, e, f]) => [e!.add(a!.matMul(b!)).add(f!).add(c!.matMul(d!)).neg()]);
    expect(namesOf(more)).toEqual(['EmbeddingProductSum', 'Add', 'EmbeddingProductSum', 'Neg']);
    const two = opsOf(pairs, ([a, b, c, d, e]) => [a!.matMul(b!).add(e!).add(c!.matMul(d!)).neg()]);
    expect(namesOf(two)).toEqual(['EmbeddingProducts', 'Add', 'EmbeddingProductSum', 'Neg']);
    const square = [...Array<number[]>(5)].map(() => [3, 3]);
    const kinds = opsOf(square, ([a, b, c, d, e]) => {
      return [
        a!
          .matMul(b!)
          .add(c!.matMul(d!, false, true))
          .add(d!.matMul(e!, false, true)),
      ];
    });
    expect(namesOf(kinds)).toEqual(['EmbeddingProducts', 'EmbeddingProductSum']);
  });

  it('keeps a product or a sum that somebody else takes too, and sums of tensors of several shapes', () => {
    const shapes = [
      [3, 3],
      [3, 3],
      [3, 3],
      [1, 3],
    ];
    const product = opsOf(shapes, ([a, b, c]) => {
      const both = a!.matMul(b!);
      return [both.add(a!.matMul(c!)), both.square()];
    });
    expect(namesOf(product).sort()).toEqual(['EmbeddingProductSum', 'EmbeddingProducts', 'Square']);
    const sum = opsOf(shapes, ([a, b, c]) => {
      const both = a!.add(b!);
      return [both.add(c!), both.square()];
    });
    expect(namesOf(sum).sort()).toEqual(['Add', 'Add', 'Square']);
    const large = [
      [400, 400],
      [400, 400],
      [400, 400],
    ];
    expect(namesOf(opsOf(large, ([a, b, c]) => [a!.add(b!).add(c!)]))).toEqual(['Add', 'Add']);
    const nested = opsOf(shapes, ([a, b, c]) => [a!.add(b!.add(c!))]);
    expect(namesOf(nested)).toEqual(['Add', 'Add']);
    const row = opsOf(shapes, ([a, b, c, d]) => [a!.add(b!).add(d!).add(c!)]);
    expect(namesOf(row)).toEqual(['Add', 'Add', 'Add']);
    expect(namesOf(opsOf(shapes, ([a, b]) => [a!.add(a!).add(b!).add(a!)]))).toEqual(['EmbeddingSum']);
  });
});
