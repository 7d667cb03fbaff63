/** What operations tell of their results in a graph, beside the results. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { OPERATIONS } from '../../../src/layers/operations/operation.js';
import { leakFree, take, useCpu } from '../setup.js';

const { operation } = emb.layers;
type Args = Partial<emb.OperationArgs>;

/** Settings of those that cannot do without, for inputs [2, 4]. */
const SETTINGS: Readonly<Record<string, object>> = {
  BroadcastTo: { shape: [3, 2, 4] },
  Einsum: { subscripts: 'ab,cb->ac' },
  Reshape: { newshape: [-1, 2] },
  Squeeze: { axis: [] },
  Split: { indicesOrSections: 2, axis: 1 },
  Unstack: { axis: 1 },
};
const OPERANDS: Readonly<Record<string, Args['operands']>> = {
  Where: [{ tensor: 0 }, { tensor: 1 }, 0],
  GetItem: [{ tensor: 0 }, [{}, { step: 2 }]],
  Take: [{ tensor: 0 }, [1, 0]],
};
const OF_TWO =
  /^(Add|Subtract|Multiply|Divide|TrueDivide|FloorDivide|Mod|Power|Maximum|Minimum|Einsum|Where|Matmul|Concatenate|Stack|.*Equal|Greater|Less|Logical(And|Or|Xor))$/;

function layer(name: string, more: object = {}): tf.layers.Layer {
  const operands = OPERANDS[name];
  const settings = { ...SETTINGS[name], ...more };
  return operation({ operation: name, settings, ...(operands && { operands }) } as never);
}

describe('results of Operation', () => {
  beforeAll(useCpu);

  for (const name of OPERATIONS) {
    it(
      `have the shape and the dtype that a graph tells, which leaves open what is: ${name}`,
      leakFree(() => {
        tf.tidy(() => {
          const shapes = name === 'Matmul' ? [[2, 4], [4, 3]] : OF_TWO.test(name) ? [[2, 4], [2, 4]] : [[2, 4]]; // prettier-ignore
          const inputs = shapes.map((shape, i) => tf.randomUniform(shape, 0.5, 1, 'float32', i + 1));
          const found = [layer(name).apply(inputs.length === 1 ? inputs[0]! : inputs) as tf.Tensor].flat();
          for (const isOpen of [false, true]) {
            const symbols = shapes.map(([, size]) => tf.input({ shape: [isOpen ? null : size!] }));
            let told: tf.SymbolicTensor[];
            try {
              told = [layer(name).apply(symbols.length === 1 ? symbols[0]! : symbols) as tf.SymbolicTensor].flat();
            } catch (error) {
              // Some have to know the sizes.
              expect(isOpen)
                .withContext((error as Error).message)
                .toBeTrue();
              continue;
            }
            expect(told.map(({ dtype }) => dtype)).toEqual(found.map(({ dtype }) => dtype));
            expect(told.map(({ rank }) => rank)).toEqual(found.map(({ rank }) => rank));
            const known = told.map(({ shape }, i) => shape.map((size, axis) => size ?? found[i]!.shape[axis]!));
            expect(known).toEqual(found.map(({ shape }) => shape));
          }
        });
      }),
    );
  }

  it(
    'are refused in a graph along an axis that is not there',
    leakFree(() => {
      let refused = 0;
      for (const name of OPERATIONS.filter((each) => !OF_TWO.test(each) && !OPERANDS[each])) {
        let made: tf.layers.Layer;
        try {
          made = layer(name, { axis: 7 });
        } catch {
          continue; // it has no axis
        }
        expect(() => made.apply(tf.input({ shape: [4] })))
          .withContext(name)
          .toThrowError(emb.ValueError, /axis/);
        refused += 1;
      }
      expect(refused).toBeGreaterThan(10);
    }),
  );

  it(
    'are every second place, and those from the end',
    leakFree(() => {
      const x = tf.tensor2d([1, 2, 3, 4, 5, 6], [2, 3]);
      const at = (...key: object[]): number[] =>
        take(operation({ operation: 'GetItem', operands: [{ tensor: 0 }, key] } as never).apply(x));
      expect(at({}, { step: 2 })).toEqual([1, 3, 4, 6]);
      expect(at({ step: -1 })).toEqual([4, 5, 6, 1, 2, 3]);
      expect(at({ start: 0 }, { start: 0, step: -1 })).toEqual([1, 4]);
      x.dispose();
    }),
  );

  it(
    'along the last axis are computed where they lie',
    leakFree(async () => {
      const x = tf.ones([2, 3, 4]);
      tf.engine().startScope();
      for (const name of ['Softmax', 'LogSoftmax']) {
        for (const [axis, moves] of [
          [-1, false],
          [2, false],
          [1, true],
        ] as const) {
          const { kernelNames } = await tf.profile(() => layer(name, { axis }).apply(x) as tf.Tensor);
          expect(kernelNames.includes('Transpose')).toBe(moves);
        }
      }
      tf.engine().endScope();
      x.dispose();
    }),
  );
});
