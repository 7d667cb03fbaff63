/** What is left of a step after `fewerOps`, which gives the numbers of the step all the same. */
import { OWN_PRODUCTS } from '../../../src/capture/overrides/own_products.js';
import { withOverrides } from '../../../src/tfjs/training/substitute.js';
import * as tf from '@tensorflow/tfjs';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { asNodeBackend } from '../../../src/backends/tensorflow/node_backend.js';
import { fewerOps } from '../../../src/capture/fewer_ops/fewer_ops.js';
import { neededOps, type AttributeKinds } from '../../../src/capture/graph_def.js';
import { record } from '../../../src/capture/recorder.js';
import type { RecordedOp } from '../../../src/capture/recording.js';
import { StepGraph } from '../../../src/capture/step_graph.js';
import { Random } from '../../helpers/random.js';

export type Step = (inputs: tf.Tensor[]) => tf.Tensor[];

/** The ops that are left of a step over tensors of these shapes, which gives the same op by op and as a graph. */
export function opsOf(shapes: readonly (readonly number[])[], step: Step, seed = 3): RecordedOp[] {
  const random = new Random(seed);
  const draw = (): tf.Tensor[] => {
    return shapes.map((shape) => tf.tensor(random.floats(tf.util.sizeFromShape([...shape])), [...shape]));
  };
  const [given, others] = [draw(), draw()];
  const backend = asNodeBackend(tf.backend());
  const run = (inputs: tf.Tensor[]): tf.Tensor[] => tf.tidy(() => withOverrides([OWN_PRODUCTS], () => step(inputs)));
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
      const [ours, theirs] = [result.dataSync(), ofTensorFlow[i]!.dataSync()];
      const isClose = (k: number): boolean =>
        Math.abs(ours[k]! - theirs[k]!) < 2e-6 * Math.max(1, Math.abs(theirs[k]!));
      const far = ours.findIndex((_, k) => !isClose(k));
      expect([far, ours[far]]).withContext(`result ${i}`).toEqual([-1, undefined]);
    });
    tf.dispose([found, expected, ofTensorFlow]);
  }
  graph.release();
  tf.dispose([given, others, results]);
  return neededOps(fewer);
}

export const namesOf = (ops: readonly RecordedOp[]): string[] => ops.map(({ name }) => name);
