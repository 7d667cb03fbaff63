/**
 * Losses of models with several outputs. TensorFlow.js adds those of all places of all outputs before it takes their mean,
 * for which outputs must be of one shape; and of outputs with one number a row it refuses the targets.
 */
import * as tf from '@tensorflow/tfjs';
import { maskOf } from '../../tfjs/layers/masks.js';
import type { Measure } from '../../tfjs/training/masked_losses.js';
import { replace } from './call.js';

interface Compiled {
  lossFunctions: Measure[];
  feedOutputShapes: (tf.Shape | null)[];
}

/** What Keras adds to the number of steps that count, which may be none. */
const EPSILON = 1e-7;

/** Values of steps, of which the mean is that of the steps that count. */
function masked(values: tf.Tensor, mask: tf.Tensor): tf.Tensor {
  const counts = mask.cast('float32');
  return values.mul(counts.mul(tf.div(counts.size, counts.sum().add(EPSILON))));
}

/** A loss whose values are one a row, or one alone. */
function byRow(measure: Measure): Measure {
  return (y, output) => {
    const isColumn = y.rank === output.rank + 1 && y.shape.at(-1) === 1;
    const values = measure(isColumn ? y.squeeze([y.rank - 1]) : y, output);
    if (values.rank <= 1) return values;
    // Steps are weighted before they are one.
    const mask = maskOf(output);
    const isMasked = mask !== null && tf.util.arraysEqual(mask.shape, values.shape);
    return (isMasked ? masked(values, mask) : values).mean(values.shape.map((_, i) => i).slice(1));
  };
}

/** Mends a model whose outputs differ, or have one number a row. */
export function mendOutputs(model: tf.LayersModel): void {
  const shapes = model.outputs.map(({ shape }) => shape);
  const isFlat = shapes.some(({ length }) => length < 2);
  const isUneven = shapes.some(
    (shape) => JSON.stringify(shape.slice(0, -1)) !== JSON.stringify(shapes[0]!.slice(0, -1)),
  );
  if (!isFlat && !isUneven) return;
  const compile = model.compile.bind(model);
  const compiled = model as unknown as Compiled;
  const adjust = (): void => {
    compiled.lossFunctions = compiled.lossFunctions.map(byRow);
    compiled.feedOutputShapes = compiled.feedOutputShapes.map((shape) => {
      return shape?.length === 1 ? [shape[0]!, 1] : shape?.length === 0 ? null : shape;
    });
  };
  replace(model, 'compile', (args: tf.ModelCompileArgs) => {
    compile(args);
    adjust();
  });
  // A model that was saved compiled comes so.
  if ((compiled as Partial<Compiled>).lossFunctions !== undefined) adjust();
}
