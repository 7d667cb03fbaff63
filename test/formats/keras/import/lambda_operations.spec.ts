/** Functions of TensorFlow in files of Keras 2: where their arguments go, and which are refused. */
import { asOperation } from '../../../../src/formats/keras/import/lambda_operations.js';
import type { LayerJson } from '../../../../src/formats/keras/import/topology.js';
import { expectError } from '../../../helpers/errors.js';

const layerOf = (name: unknown): LayerJson =>
  ({ name: 'here', className: 'TFOpLambda', config: { function: name } }) as unknown as LayerJson;

type Translated = ReturnType<typeof asOperation>;

function translated(name: unknown, kwargs: Record<string, unknown> = {}, args: unknown[] = ['x']): Translated {
  return asOperation(layerOf(name), { args, kwargs, tellsMask: false } as never);
}

describe('functions of TensorFlow in models of Keras 2', () => {
  it('have their operands by place or by name', () => {
    expect(translated('math.subtract', {}, ['x', 'y']).call.args).toEqual(['x', 'y']);
    expect(translated('math.subtract', { y: 'z' }).call.args).toEqual(['x', 'z']);
    expect(translated('where', { y: 'b', x: 'a' }).call.args).toEqual(['x', 'a', 'b']);
    expect(translated('math.add', { y: 2 })).toEqual(
      jasmine.objectContaining({ call: { args: ['x', 2], kwargs: {}, tellsMask: false }, turned: [] }),
    );
  });

  it('have lists of numbers as constants, whole numbers as such', () => {
    for (const [value, dtype] of [
      [[1, 2], 'int32'],
      [[[1, 2.5]], 'float32'],
      [[true, false], 'bool'],
    ] as const) {
      const constant = { class_name: '__tensor__', config: { value, dtype } };
      expect(translated('math.add', { y: value }).call.args[1]).toEqual(constant);
    }
    for (const value of [[], ['a'], [['layer', 0, 0]]]) {
      expect(translated('math.add', { y: value }).call.args[1]).toEqual(value);
    }
  });

  it('have slices, alone, in lists, and those that mean all further axes', () => {
    const slice = { start: 1, stop: null, step: null };
    const made = { class_name: '__slice__', config: slice };
    const sliced = (given: unknown): unknown => translated('__operators__.getitem', { slice_spec: given }).call.args[1];
    expect(sliced(slice)).toEqual(made);
    expect(sliced(['...', slice, 3])).toEqual([{ class_name: '__ellipsis__', config: {} }, made, 3]);
    expect(sliced({ class_name: 'other' })).toEqual({ class_name: 'other' });
  });

  it('have settings under the names of Keras 3, and the defaults of TensorFlow', () => {
    const settings = (name: string, kwargs = {}): unknown => translated(name, kwargs).layer.config;
    expect(settings('concat')).toEqual({ name: 'here', axis: 0 });
    expect(settings('concat', { axis: 1 })).toEqual({ name: 'here', axis: 1 });
    expect(settings('one_hot', { depth: 3 })).toEqual({ name: 'here', num_classes: 3 });
    expect(settings('clip_by_value', { clip_value_min: 0, clip_value_max: 6 })).toEqual({
      name: 'here',
      x_min: 0,
      x_max: 6,
    });
    expect(settings('math.l2_normalize', { axis: -1 })).toEqual({ name: 'here', epsilon: 1e-6, axis: -1 });
    expect(settings('tanh')).toEqual({ name: 'here' });
    expect(translated('concat').layer).toEqual(
      jasmine.objectContaining({ name: 'here', className: 'Concatenate', module: 'keras.src.ops' }),
    );
  });

  it('are the operations of Keras 3 that compute the same', () => {
    const known: Readonly<Record<string, string>> = {
      ...{ '__operators__.add': 'Add', '__operators__.getitem': 'GetItem', 'math.truediv': 'TrueDivide' },
      ...{ 'math.divide': 'TrueDivide', 'math.floordiv': 'FloorDivide', 'compat.v1.floor_div': 'FloorDivide' },
      ...{
        'math.floormod': 'Mod',
        'math.pow': 'Power',
        'math.l2_normalize': 'Normalize',
        'linalg.l2_normalize': 'Normalize',
      },
      ...{ clip_by_value: 'Clip', concat: 'Concatenate', 'compat.v1.gather': 'Take', gather: 'Take', identity: 'Copy' },
      ...{ reverse: 'Flip', 'math.reduce_variance': 'Var' },
    };
    const math =
      'add subtract multiply maximum minimum equal not_equal greater greater_equal less less_equal negative abs';
    const more =
      'logical_and logical_or logical_not sign square sqrt rsqrt reciprocal exp log log1p sin cos tanh sigmoid';
    const reduced = 'sum mean max min prod std any all logsumexp'.split(' ').map((name) => `math.reduce_${name}`);
    const plain = [
      ...`${math} ${more} softplus erf floor ceil cumsum`.split(' ').map((name) => `math.${name}`),
      ...'relu relu6 elu selu gelu softmax log_softmax'.split(' ').map((name) => `nn.${name}`),
      ...'cast expand_dims one_hot ones_like repeat reshape squeeze stack stop_gradient tanh tile transpose where'.split(
        ' ',
      ),
      ...['zeros_like', 'linalg.matmul', 'compat.v1.squeeze', 'compat.v1.transpose', ...reduced],
    ];
    const camel = (name: string): string => name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
    for (const name of [...Object.keys(known), ...plain]) {
      const expected = known[name] ?? camel(name.replace(/^.*\./, '').replace(/^reduce_/, ''));
      expect(translated(name).layer.className).withContext(name).toBe(expected);
    }
  });

  it('tell which matrices are transposed before they are multiplied', () => {
    const turned = (kwargs: object): unknown => translated('linalg.matmul', { b: 'y', ...kwargs }).turned;
    expect(turned({})).toEqual([]);
    expect(turned({ transpose_a: false, transpose_b: false })).toEqual([]);
    expect(turned({ transpose_a: true })).toEqual([0]);
    expect(turned({ transpose_b: true, transpose_a: false })).toEqual([1]);
    expect(turned({ transpose_a: true, transpose_b: true })).toEqual([0, 1]);
  });

  it('may have arguments that say nothing, and no others', () => {
    const nothing = { name: 'tf.math.add', adjoint: false, sparse: null, batch_dims: 0 };
    expect(translated('math.add', { y: 1, ...nothing }).call.args).toEqual(['x', 1]);
    for (const value of [true, 1, '', 'name']) {
      expectError(() => translated('math.add', { y: 1, extra: value }), 'ValueError', 'here.inbound_nodes.extra', String(value)); // prettier-ignore
    }
  });

  it('are refused by name where they are not known', () => {
    for (const name of ['math.unknown', 'toString', '__proto__']) {
      expectError(() => translated(name), 'ValueError', 'here.function', name);
    }
    expectError(() => translated(undefined), 'ValueError', 'here.function', 'none');
    expectError(() => translated(['concat']), 'ValueError', 'here.function', 'concat');
  });
});
