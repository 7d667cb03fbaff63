/** Lines of tables of errors, as specs: each is of its class, with the path of the feature, what is expected and what came. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectError } from '../helpers/errors.js';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';

const { tpu } = emb;

export type Name = 'ValueError' | 'TypeError' | 'RuntimeError';
export type Line<T> = readonly [
  what: string,
  feature: object,
  run: (embedding: T) => unknown,
  name: Name,
  argument: string,
  expected: string,
  received: string,
];

export const tableOf = (name = 't'): emb.tpu.TableConfig =>
  new tpu.TableConfig({ vocabularySize: 8, dim: 2, name, combiner: 'sum' });
export const ragged = (rows: number[][], dtype: 'int32' | 'float32' = 'int32'): emb.RaggedTensor =>
  emb.RaggedTensor.fromRows(rows, { dtype });
export const sparse = (denseShape: number[]): object => ({
  indices: [denseShape.map(() => 0)],
  values: [1],
  denseShape,
});
export const dense = (shape: number[]): tf.Tensor => tf.zeros(shape, 'int32');

/** The error is as expected, and tells what was expected. */
export function check(run: () => unknown, name: Name, argument: string, expected: string, received: string): void {
  let told = '';
  expectError(
    () => {
      try {
        return run();
      } catch (error) {
        told = (error as { expected: string }).expected;
        throw error;
      }
    },
    name,
    argument,
    received,
  );
  expect(told).toContain(expected);
}

/** A spec for each line, on one chip of two cores; no tensor is left behind. */
export function describeLines<T extends { dispose(): void }>(
  title: string,
  all: readonly Line<T>[],
  make: (feature: emb.tpu.FeatureConfig) => T,
): void {
  describe(`${title} refuses, with the path, what is expected and what came`, () => {
    for (const [what, change, run, name, argument, expected, received] of all) {
      it(what, () =>
        withTpuEmulator({ chips: 1, coresPerChip: 2 }, () => {
          const before = tf.memory().numTensors;
          const embedding = make(new tpu.FeatureConfig({ table: tableOf(), ...change }));
          tf.tidy(() => check(() => run(embedding), name, argument, expected, received));
          embedding.dispose();
          expect(tf.memory().numTensors).toBe(before);
        }),
      );
    }
  });
}
