/** The results of all features as one tensor: `output: 'concat'`. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { closestName } from '../../base/closest_name.js';
import type { SymbolicShape } from '../../base/layer_arguments.js';

export type OutputForm = 'structure' | 'concat';

const FORMS: readonly OutputForm[] = ['structure', 'concat'];

export function checkOutput(value: unknown): OutputForm {
  if (value === undefined || value === null) return 'structure';
  const expected = `one of ${FORMS.join(', ')}`;
  if (typeof value !== 'string') throw new ArgumentTypeError('output', expected, value);
  const form = FORMS.find((name) => name === value);
  if (form !== undefined) return form;
  const meant = closestName(value, FORMS);
  throw new ValueError('output', expected, value, meant === undefined ? undefined : `Did you mean ${meant}?`);
}

function textOf(shape: SymbolicShape): string {
  return `[${shape.map((size) => size ?? 'null').join(', ')}]`;
}

/** All axes but the last are those of the first feature; sizes that are not known yet fit. */
function checkSideBySide(shapes: readonly SymbolicShape[], paths: readonly string[]): void {
  const [first] = shapes;
  shapes.forEach((shape, i) => {
    const fits = shape.slice(0, -1).every((size, axis) => {
      const other = first![axis] ?? null;
      return size === null || other === null || size === other;
    });
    if (fits && shape.length === first!.length) return;
    const expected = `rows of shape [${[...first!.slice(0, -1).map((size) => size ?? 'null'), 'dim'].join(', ')}]`;
    const note = `With output: 'concat' results lie side by side, so they must agree in all axes but the last.`;
    throw new ValueError(paths[i]!, `${expected}, as ${paths[0]} has`, described(textOf(shape)), note);
  });
}

/** The shape of `joined` of tensors of these shapes. `paths`: what features are called in errors. */
export function joinedShape(shapes: readonly SymbolicShape[], paths: readonly string[]): SymbolicShape {
  checkSideBySide(shapes, paths);
  const axes = shapes[0]!.slice(0, -1).map((_, axis) => {
    return shapes.map((shape) => shape[axis] ?? null).find((size) => size !== null) ?? null;
  });
  return [...axes, shapes.reduce((sum, shape) => sum + shape.at(-1)!, 0)];
}

function checkJoinable(results: readonly unknown[], paths: readonly string[]): asserts results is readonly tf.Tensor[] {
  results.forEach((result, i) => {
    if (result instanceof tf.Tensor) return;
    const note = `Ragged rows without a combiner have no place beside others: give the feature a combiner.`;
    throw new ValueError(paths[i]!, `a dense result, for output: 'concat'`, result, note);
  });
  checkSideBySide(
    (results as readonly tf.Tensor[]).map(({ shape }) => shape),
    paths,
  );
}

/** The results of all features side by side along their last axis, in place of them: they are disposed. */
export function joined(results: readonly unknown[], paths: readonly string[]): tf.Tensor {
  if (results.length === 1 && results[0] instanceof tf.Tensor) return results[0];
  try {
    checkJoinable(results, paths);
    return tf.concat([...results], -1);
  } finally {
    tf.dispose([...results] as tf.Tensor[]);
  }
}
