/** What a recording loses where it becomes a graph, and that the rest gives the same. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend } from '../../../src/backends/tensorflow/node_backend.js';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { neededOps } from '../../../src/capture/graph_def.js';
import { record } from '../../../src/capture/recorder.js';
import type { RecordedOp, Recording } from '../../../src/capture/recording.js';
import { simplified } from '../../../src/capture/fewer_ops/simplified.js';
import { StepGraph } from '../../../src/capture/step_graph.js';
import { Random } from '../../helpers/random.js';
import { takeAllForExact } from './all_exact.js';
import { describeSteps } from '../training.js';

type Step = (x: tf.Tensor2D) => tf.Tensor[];

function recordingOf(x: tf.Tensor2D, step: Step): Recording {
  const { results, recording } = record(asNodeBackend(tf.backend()), [x], () => tf.tidy(() => step(x)) as tf.Scalar[]);
  tf.dispose(results);
  expect(recording.problem).toBeNull();
  return simplified(recording);
}

/** The names of the ops that are left; the step gives the same op by op and as a graph, on other numbers too. */
function namesOf(step: Step): string[] {
  const random = new Random(3);
  const draw = (): tf.Tensor2D => tf.tensor2d(random.floats(6), [2, 3]);
  const [x, other] = [draw(), draw()];
  const recording = recordingOf(x, step);
  const graph = new StepGraph(loadAddon(), recording);
  const given = graph.run([other]);
  const expected = tf.tidy(() => step(other));
  given.forEach((result, i) => {
    expect(result.shape as number[]).toEqual(expected[i]!.shape);
    expect(result.dataSync()).toEqual(expected[i]!.dataSync() as Float32Array);
  });
  graph.release();
  tf.dispose([x, other, given, expected]);
  return neededOps(recording).map(({ name }) => name);
}

describeSteps('simplified', () => {
  takeAllForExact();
  it('leaves out reshapes to the same shape, and all but the last of several', () => {
    expect(namesOf((x) => [x.square().reshape([2, 3]).neg()])).toEqual(['Square', 'Neg']);
    expect(namesOf((x) => [x.square().reshape([6]).reshape([3, 2]).neg()])).toEqual(['Square', 'Reshape', 'Neg']);
    expect(namesOf((x) => [x.square().reshape([6]).reshape([2, 3]).neg()])).toEqual(['Square', 'Neg']);
    expect(namesOf((x) => [x.square().reshape([3, 2]).neg()])).toEqual(['Square', 'Reshape', 'Neg']);
  });

  it('leaves out casts to the same type and sums over nothing, and no others', () => {
    expect(namesOf((x) => [x.sum().mean().neg()])).toEqual(['Sum', 'Neg']);
    expect(namesOf((x) => [x.sum([0], true).mean().neg()])).toEqual(['Sum', 'Mean', 'Neg']);
    expect(namesOf((x) => [x.greater(0).toFloat().neg()])).toEqual(['Greater', 'Cast', 'Neg']);
  });

  it('runs an op once for the same tensors, and again for others', () => {
    expect(namesOf((x) => [x.square().add(x.square())])).toEqual(['Square', 'Add']);
    expect(namesOf((x) => [x.square().add(x.neg().square())])).toEqual(['Square', 'Neg', 'Square', 'Add']);
    expect(namesOf((x) => [x.square(), x.square()])).toEqual(['Square']);
    // Shapes are constants of their own each time.
    expect(namesOf((x) => [x.reshape([6]).neg(), x.reshape([6]).abs()])).toEqual(['Reshape', 'Neg', 'Abs']);
    expect(namesOf((x) => [x.reshape([6]).neg(), x.reshape([3, 2]).abs()])).toEqual([
      'Reshape',
      'Neg',
      'Reshape',
      'Abs',
    ]);
    // Attributes count.
    expect(namesOf((x) => [x.transpose().matMul(x.square()), x.square().toInt().toFloat()]).length).toBeGreaterThan(4);
  });

  it('runs ops on the same tensors apart where they differ in attributes alone', () => {
    const pairs = (node: string, value: number): RecordedOp => ({
      node,
      name: 'EmbeddingPairDots',
      attributes: [{ name: 'self', type: 0, value }],
      inputs: ['x'],
      inputTypes: [1],
      outputs: [{ type: 1, shape: [2, 3] }],
    });
    const left = (...values: number[]): string[] => {
      const ops = values.map((value, i) => pairs(`op${i}`, value));
      const feeds = [{ name: 'x', kind: 'data', place: 0, type: 1, shape: [2, 2, 2] }] as const;
      const results = ops.map(({ node }) => node);
      return simplified({
        ops,
        feeds,
        constants: [],
        made: [],
        rebound: [],
        stepped: [],
        results,
        problem: null,
        isTypical: true,
        makesVariables: false,
      }).results as string[];
    };
    expect(left(1, 1)).toEqual(['op0', 'op0']);
    expect(left(1, 0)).toEqual(['op0', 'op1']);
    expect(left(1, 0, 1)).toEqual(['op0', 'op1', 'op0']);
  });

  it('takes for a constant what is made of constants, until it is large', () => {
    const two = (): tf.Tensor => tf.scalar(2).add(tf.scalar(1)).square();
    expect(namesOf((x) => [x.mul(two())])).toEqual(['Mul']);
    expect(namesOf((x) => [x.mul(tf.fill([2, 3], 5).add(two()))])).toEqual(['Mul']);
    const large = (): tf.Tensor => tf.fill([600, 500], 5).square().sum();
    expect(namesOf((x) => [x.mul(large())])).toContain('Square');
  });
});
