/** The layer `Operation`: dtypes, shapes, gradients, errors. What each operation computes is compared with Keras. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { OPERATIONS } from '../../../src/layers/operations/operation.js';
import { finiteDifferences } from '../../helpers/tensors.js';
import { cloneOf, expectClose, expectError, leakFree, take, useCpu } from '../setup.js';

const { operation } = emb.layers;
type Args = Omit<emb.OperationArgs, 'operation'>;

function run(name: string, inputs: tf.Tensor | tf.Tensor[], more: Args = {}): tf.Tensor {
  return [operation({ operation: name, ...more }).apply(inputs as tf.Tensor)].flat()[0] as tf.Tensor;
}

const int = (values: number[]): tf.Tensor => tf.tensor1d(values, 'int32');
const AT = [0.5, -0.25, 1.5, 0.75, -0.5, 0.125];
/** Settings of those that cannot do without, for inputs [2, 3]. */
const SETTINGS: Readonly<Record<string, object>> = {
  BroadcastTo: { shape: [2, 2, 3] },
  Einsum: { subscripts: 'ab,cb->ac' },
  Reshape: { newshape: [3, -1] },
  Squeeze: { axis: [] },
  Split: { indicesOrSections: 2 },
  Cumsum: { axis: 1 },
};
const WITHOUT_GRADIENT =
  /^(Argmax|Argmin|Any|All|OneHot|OnesLike|ZerosLike|StopGradient|Logical.*|Is.*|.*Equal|Greater|Less|Sign|Floor|Ceil|FloorDivide|Take|Mod)$/;
/** Of numbers in (-1, 1), or above 0. */
const NARROW = /^(Arcsin|Arccos|Tan)$/;
const POSITIVE = /^(Log|Log2|Log10|Sqrt|Rsqrt|Reciprocal|Power|TrueDivide|Divide)$/;

describe('Operation', () => {
  beforeAll(useCpu);

  for (const name of OPERATIONS.filter((each) => !WITHOUT_GRADIENT.test(each))) {
    it(
      `has the gradient of what it computes: ${name}`,
      leakFree(() => {
        const at = AT.map((x) => (NARROW.test(name) ? x / 2 : POSITIVE.test(name) ? Math.abs(x) + 0.5 : x));
        const second = tf.tensor2d([0.75, 0.5, 0.25, 1.25, 1, 1.75], [2, 3]);
        const f = (flat: tf.Tensor): tf.Scalar => {
          const x = flat.reshape([2, 3]);
          const operands = {
            Where: [true, { tensor: 0 }, { tensor: 1 }],
            GetItem: [{ tensor: 0 }, [{ step: -1 }, { start: 1 }]],
          }[name];
          const two = /^(Add|Subtract|Multiply|Divide|TrueDivide|Power|Maximum|Minimum|Einsum|Where|Matmul)$/.test(
            name,
          );
          const other = name === 'Matmul' ? second.transpose() : second;
          const inputs = two || /^(Concatenate|Stack)$/.test(name) ? [x, other] : x;
          const more = { ...(operands && { operands }), ...(SETTINGS[name] && { settings: SETTINGS[name] }) };
          const result = run(name, inputs, more as Args);
          return result
            .square()
            .mul(tf.range(1, result.size + 1).reshape(result.shape))
            .sum();
        };
        const wanted = finiteDifferences((x) => tf.tidy(() => take(f(tf.tensor1d([...x])))[0]!), at, 1e-2);
        const found = tf.tidy(() => take(tf.grad(f)(tf.tensor1d(at))));
        found.forEach((each, i) => expect(Math.abs(each - wanted[i]!)).toBeLessThan(2e-2 * (1 + Math.abs(each))));
        second.dispose();
      }),
    );
  }

  for (const [name, settings] of [
    ['Split', { indicesOrSections: 1 }],
    ['Split', { indicesOrSections: 1, axis: 1 }],
    ['Unstack', { axis: 0 }],
    ['Unstack', { axis: 1 }],
  ] as const) {
    it(
      `has the gradient of one piece: ${name} ${JSON.stringify(settings)}`,
      leakFree(() => {
        const x = tf.ones(name === 'Unstack' && settings.axis === 1 ? [2, 1] : [1, 2]);
        const found = tf.tidy(() => take(tf.grad((each) => run(name, each, { settings }).square().sum())(x)));
        expect([...found]).toEqual([2, 2]);
        x.dispose();
      }),
    );
  }

  it(
    'has dtypes as Keras: numbers of a program make no floats of whole numbers, divisions do',
    leakFree(() => {
      tf.tidy(() => {
        const [n, x] = [int([7, -7]), tf.tensor1d([0.5, 2])];
        const number = (value: number): Args => ({ operands: [{ tensor: 0 }, value] });
        expect(run('Add', n, number(1)).dtype).toBe('int32');
        expect(run('Add', n, number(0.5)).dtype).toBe('float32');
        expect(run('Multiply', [n, x]).dtype).toBe('float32');
        expect(run('TrueDivide', n, number(2)).dtype).toBe('float32');
        expect(run('Mean', n).dtype).toBe('float32');
        expect(run('Sum', run('Greater', n, number(0))).dtype).toBe('int32');
        expect(take(run('FloorDivide', n, number(2)))).toEqual([3, -4]);
        expect(take(run('Cast', x, { settings: { dtype: 'int64' } }))).toEqual([0, 2]);
      });
    }),
  );

  it(
    'tells shape and dtype in a graph, unknown sizes too',
    leakFree(() => {
      const x = tf.input({ shape: [null, 4] });
      const shapeOf = (name: string, more: Args = {}): unknown => {
        return (operation({ operation: name, ...more }).apply(x) as tf.SymbolicTensor).shape;
      };
      expect(shapeOf('GetItem', { operands: [{ tensor: 0 }, [{}, -1]] })).toEqual([null, 4]);
      expect(shapeOf('GetItem', { operands: [{ tensor: 0 }, [{ ellipsis: true }, null, { stop: 2 }]] })).toEqual([
        null,
        null,
        1,
        2,
      ]);
      expect(shapeOf('Reshape', { settings: { newshape: [-1, 2, 2] } })).toEqual([null, 2, 2]);
      expect(shapeOf('Sum', { settings: { axis: [0, 2], keepdims: true } })).toEqual([1, null, 1]);
      expect(shapeOf('Transpose')).toEqual([4, null, null]);
      const kept = operation({ operation: 'Equal' }).apply([x, x]) as tf.SymbolicTensor;
      expect([kept.dtype, kept.shape]).toEqual(['bool', [null, null, 4]]);
    }),
  );

  it(
    'comes back with its model',
    leakFree(async () => {
      const x = tf.input({ shape: [4] });
      const operands = [{ tensor: 0 }, { value: [1, 2, 3, 4], dtype: 'float32' }];
      const sum = operation({ operation: 'Add', operands, name: 'sum' }).apply(x);
      const parts = operation({ operation: 'Split', settings: { indicesOrSections: 2, axis: 1 } }).apply(sum);
      const model = tf.model({ inputs: x, outputs: parts });
      const clone = await cloneOf(model);
      const given = tf.ones([2, 4]);
      const [a, b] = [model, clone].map((each) => (each.predict(given) as tf.Tensor[]).map(take));
      expect(a).toEqual([
        [2, 3, 2, 3],
        [4, 5, 4, 5],
      ]);
      expect(b).toEqual(a);
      given.dispose();
      model.dispose();
      clone.dispose();
    }),
  );

  it(
    'passes no gradient through comparisons, and the step goes on',
    leakFree(() => {
      tf.tidy(() => {
        const f = (x: tf.Tensor): tf.Scalar =>
          run('Where', [run('Greater', x, { operands: [{ tensor: 0 }, 0] }), x, x.mul(3)]).sum();
        expectClose(take(tf.grad(f)(tf.tensor1d([1, -1]))), [1, 3]);
      });
    }),
  );

  const x = (): tf.SymbolicTensor => tf.input({ shape: [2, 3] });
  const on =
    (name: string, more: Args = {}) =>
    (): unknown =>
      operation({ operation: name, ...more }).apply(x());
  const errors: readonly (readonly [string, 'TypeError' | 'ValueError', string, () => unknown])[] = [
    ['nothing', 'TypeError', 'args', () => operation(undefined as never)],
    ['a number', 'TypeError', 'operation', () => operation({ operation: 3 as never })],
    ['another name', 'ValueError', 'operation', () => operation({ operation: 'Addd' })],
    [
      'settings that are no object',
      'TypeError',
      'settings',
      () => operation({ operation: 'Sum', settings: 3 as never }),
    ],
    ['another setting', 'ValueError', 'settings.axes', () => operation({ operation: 'Sum', settings: { axes: 1 } })],
    ['operands that are no list', 'TypeError', 'operands', () => operation({ operation: 'Add', operands: 3 as never })],
    ['one tensor of two', 'ValueError', 'inputs', on('Add')],
    [
      'a number of tensors that are not there',
      'ValueError',
      'inputs',
      on('Add', { operands: [{ tensor: 0 }, { tensor: 1 }] }),
    ],
    ['what is no tensor', 'TypeError', 'inputs', () => operation({ operation: 'Sqrt' }).apply([3] as never)],
    [
      'shapes that do not broadcast',
      'ValueError',
      'inputs',
      () => operation({ operation: 'Add' }).apply([x(), tf.input({ shape: [4] })]),
    ],
    ['an axis that is not there', 'ValueError', 'axis', on('Sum', { settings: { axis: 3 } })],
    ['an axis twice', 'ValueError', 'axis', on('Mean', { settings: { axis: [1, -2] } })],
    ['two sizes that remain', 'ValueError', 'newshape', on('Reshape', { settings: { newshape: [-1, -1] } })],
    ['a place that is not there', 'ValueError', 'key', on('GetItem', { operands: [{ tensor: 0 }, [{}, 2]] })],
    ['a step of 0', 'ValueError', 'key', on('GetItem', { operands: [{ tensor: 0 }, { step: 0 }] })],
    ['a word as a place', 'ValueError', 'key', on('GetItem', { operands: [{ tensor: 0 }, 'a' as never] })],
    ['an unknown dtype', 'ValueError', 'dtype', on('Cast', { settings: { dtype: 'complex64' } })],
    [
      'parts that are not equal',
      'ValueError',
      'indicesOrSections',
      on('Split', { settings: { indicesOrSections: 2, axis: 2 } }),
    ],
    ['matrices that do not fit', 'ValueError', 'inputs', () => operation({ operation: 'Matmul' }).apply([x(), x()])],
    [
      'a sum of one operand',
      'ValueError',
      'subscripts',
      on('Einsum', { settings: { subscripts: 'ab->b' }, operands: [{ tensor: 0 }, 1] }),
    ],
    ['an axis longer than 1 to drop', 'ValueError', 'axis', on('Squeeze', { settings: { axis: 1 } })],
    ['another norm', 'ValueError', 'order', on('Normalize', { settings: { order: 1 } })],
  ];
  for (const [what, name, argument, make] of errors) {
    it(`refuses ${what}: ${argument}`, () => expectError(make, name, argument));
  }
});
