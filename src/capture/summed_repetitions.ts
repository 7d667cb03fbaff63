/** The gradient of `tf.tile` as one sum. */
import type * as tf from '@tensorflow/tfjs';

/** Sizes that follow one another in memory: of repetitions, or of what is repeated. */
interface Run {
  size: number;
  readonly isRepeated: boolean;
}

/** The axes of a tiled tensor, each as its repetitions and what they repeat; neighbours of one kind are one. */
function runsOf(shape: readonly number[], reps: readonly number[]): Run[] {
  const runs: Run[] = [];
  const add = (size: number, isRepeated: boolean): void => {
    const last = runs.at(-1);
    if (size === 1) return;
    if (last?.isRepeated === isRepeated) last.size *= size;
    else runs.push({ size, isRepeated });
  };
  shape.forEach((size, axis) => {
    add(reps[axis]!, true);
    add(size, false);
  });
  return runs;
}

/** The sum of all repetitions of a tensor of `shape`, which `dy` holds side by side. */
export function summedRepetitions(dy: tf.Tensor, shape: readonly number[], reps: readonly number[]): tf.Tensor {
  const runs = runsOf(shape, reps);
  const axes = runs.flatMap(({ isRepeated }, axis) => (isRepeated ? [axis] : []));
  const all = dy.reshape(runs.map(({ size }) => size));
  return (axes.length === 0 ? all : all.sum(axes)).reshape([...shape]);
}
