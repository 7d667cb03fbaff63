/** The programs of TensorFlow's V3 kernels, run by `emb.TensorArray`. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectClose, expectNoLeak } from '../../helpers/tensors.js';
import { programs, type Answer, type Program, type Step } from './programs.js';

// What a golden file holds has no types.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Args = Record<string, any>;

/** TensorFlow's class, in ours: see "TensorArray" in the API reference. */
const CLASSES: Readonly<Record<string, string>> = {
  InvalidArgumentError: 'ValueError',
  ValueError: 'ValueError',
  UnimplementedError: 'RuntimeError',
};

function tensorOf(value: unknown, dtype: tf.DataType): tf.Tensor {
  if (dtype !== 'complex64') return tf.tensor(value as number[], undefined, dtype);
  const parts = tf.tensor(value as number[]);
  const [real, imaginary] = tf.unstack(parts, parts.rank - 1);
  return tf.complex(real!, imaginary!);
}

function answerOf(value: tf.Tensor | number | readonly number[]): Answer {
  if (typeof value === 'number') return { shape: [], values: [value] };
  if (!(value instanceof tf.Tensor)) return { shape: [value.length], values: value };
  return { shape: value.shape, values: Array.from(value.dataSync()) };
}

class Machine {
  readonly results: Record<string, Answer> = {};
  private readonly arrays = new Map<string, emb.TensorArray>();

  step([op, { array: name, ...args }]: Step): void {
    const array = this.arrays.get(name as string)!;
    const give = (value: tf.Tensor | number | readonly number[], out = args['out'] as string | null): void => {
      if (out !== null && out !== undefined) this.results[out] = answerOf(value);
    };
    const { index, value, indices, lengths, dtype, element_shape: elementShape } = args as Args;
    const given = (): tf.Tensor => tensorOf(value, (dtype ?? 'float32') as tf.DataType);
    switch (op) {
      case 'new':
        return void this.arrays.set(name as string, newArray(args as Args));
      case 'grad':
        return void this.arrays.set(name as string, this.grad(args as Args));
      case 'write':
        return void array.write(index, given());
      case 'scatter':
        return void array.scatter(indices, given());
      case 'split':
        return void array.split(given(), lengths);
      case 'read':
        return give(array.read(index, dtype === undefined ? {} : { dtype: dtype === 'float64' ? 'int32' : dtype }));
      case 'gather':
        return give(array.gather(indices, { elementShape }));
      case 'concat': {
        const joined = array.concat();
        give(joined.lengths, `${String(args['out'])}.lengths`);
        return give(joined.value);
      }
      case 'size':
        return give(array.size());
      case 'flow_value':
        return give(array.flow);
      case 'close':
        return array.close();
      default:
        throw new Error(`no step ${op}`);
    }
  }

  private grad({ of, source, prepend }: Args): emb.TensorArray {
    const forward = this.arrays.get(of)!;
    const { gradHandle } =
      prepend === undefined
        ? emb.tensorArrayGrad(forward.handle, forward.flow, source)
        : emb.tensorArrayGradWithShape(forward.handle, forward.flow, prepend, source);
    return emb.tensorArray(gradHandle);
  }
}

function newArray(args: Args): emb.TensorArray {
  const { size, dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes } = args;
  return new emb.TensorArray({
    size,
    dtype,
    elementShape: element_shape,
    dynamicSize: dynamic_size,
    clearAfterRead: clear_after_read,
    identicalElementShapes: identical_element_shapes,
    name: 'ta',
  });
}

function run({ program, results, error }: Program): void {
  const machine = new Machine();
  let thrown: Error | null = null;
  try {
    for (const step of program) machine.step(step);
  } catch (failure) {
    thrown = failure as Error;
  }
  expect(thrown?.name)
    .withContext(String(thrown?.message))
    .toBe(error === undefined ? undefined! : CLASSES[error]!);
  if (error !== undefined) return;
  expect(
    Object.keys(machine.results)
      .filter((name) => name !== 'null.lengths')
      .sort(),
  ).toEqual(Object.keys(results!).sort());
  for (const [name, { shape, values }] of Object.entries(results!)) {
    expect(machine.results[name]!.shape)
      .withContext(name)
      .toEqual([...shape]);
    expectClose(machine.results[name]!.values, values, 0, name);
  }
}

describeForBackends(
  'TensorArray as the kernels of TensorFlow',
  ({ backend }) => {
    // tfjs has no complex numbers on wasm.
    const isRun = (program: Program): boolean => backend !== 'wasm' || !JSON.stringify(program).includes('complex64');
    for (const program of programs().filter(isRun)) {
      it(program.name, () => {
        expectNoLeak(() => tf.tidy(() => run(program)));
      });
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
