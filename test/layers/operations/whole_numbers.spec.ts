/** Operations of whole numbers are exact to 32 bits, as in Keras, where floats would end at 2^24. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { expectError } from '../../helpers/errors.js';
import { Random } from '../../helpers/random.js';

function run(name: string, inputs: tf.Tensor | tf.Tensor[], more: Omit<emb.OperationArgs, 'operation'> = {}): number[] {
  return tf.tidy(() => {
    const layer = emb.layers.operation({ operation: name, ...more });
    const result = [layer.apply(inputs as tf.Tensor)].flat()[0] as tf.Tensor;
    return Array.from(result.dataSync());
  });
}

const power = (a: number, b: number): number => {
  let result = 1;
  for (let i = 0; i < b; i++) result = Math.imul(result, a);
  return result;
};
const rest = (a: number, b: number): number => ((a % b) + b) % b;

const WHOLE: Readonly<Record<string, (a: number, b: number) => number>> = {
  Mod: rest,
  FloorDivide: (a, b) => Math.floor(a / b),
  Power: (a, b) => power(a, b % 40),
  Maximum: Math.max,
  Minimum: Math.min,
  Add: (a, b) => (a + b) | 0,
  Subtract: (a, b) => (a - b) | 0,
  Multiply: Math.imul,
};

describeForBackends(
  'Operations of whole numbers',
  () => {
    for (const [name, compute] of Object.entries(WHOLE)) {
      it(`are exact: ${name}, of two tensors and of a number`, () => {
        const before = tf.memory().numTensors;
        const random = new Random(7);
        for (let trial = 0; trial < 6; trial++) {
          const a = Array.from({ length: 40 }, () => random.whole(-(2 ** 31) + 1, 2 ** 31));
          a.push(2 ** 24 + 1, 2 ** 31 - 1, 0, 1, -1, 16_777_834);
          const most = random.pick([40, 1000, 2 ** 20, 2 ** 30]);
          const b = a.map(() => (name === 'Power' ? random.whole(0, 40) : random.whole(1, most)));
          tf.tidy(() => {
            const [x, y] = [tf.tensor1d(a, 'int32'), tf.tensor1d(b, 'int32')];
            expect(run(name, [x, y])).toEqual(a.map((each, i) => compute(each, b[i]!)));
            const operands = [{ tensor: 0 }, b[0]!];
            expect(run(name, x, { operands })).toEqual(a.map((each) => compute(each, b[0]!)));
          });
        }
        expect(tf.memory().numTensors).toBe(before);
      });
    }

    it('are exact: Clip, with bounds of floats too', () => {
      tf.tidy(() => {
        const x = tf.tensor1d([2 ** 24 + 1, 2 ** 31 - 1, -(2 ** 31), -5, 3], 'int32');
        expect(run('Clip', x, { settings: { xMin: -4, xMax: 2 ** 24 + 3 } })).toEqual([16777217, 16777219, -4, -4, 3]);
        expect(run('Clip', x, { settings: { xMin: -4.5, xMax: 2.5 } })).toEqual([2, 2, -4, -4, 2]);
        expect(run('Clip', x, { settings: { xMin: 0 } })).toEqual([16777217, 2147483647, 0, 0, 3]);
      });
    });

    it('have no powers below 0, but as floats', () => {
      tf.tidy(() => {
        const x = tf.tensor1d([2, 4], 'int32');
        expectError(() => run('Power', x, { operands: [{ tensor: 0 }, -1] }), 'ValueError', 'x2');
        expect(run('Power', x, { operands: [{ tensor: 0 }, { value: -1, dtype: 'float32' }] })).toEqual([0.5, 0.25]);
      });
    });

    it('are repeated as often as each place says', () => {
      tf.tidy(() => {
        const x = tf.tensor2d([
          [1, 2],
          [3, 4],
        ]);
        const of = (repeats: unknown, axis: number | null): number[] =>
          run('Repeat', x, { settings: { repeats, axis } });
        expect(of([1, 3], 0)).toEqual([1, 2, 3, 4, 3, 4, 3, 4]);
        expect(of([1, 3], 1)).toEqual([1, 2, 2, 2, 3, 4, 4, 4]);
        expect(of([0, 2, 1, 1], null)).toEqual([2, 2, 3, 4]);
        expect(of([2], 0)).toEqual(of(2, 0));
        expectError(() => of([1, 2, 3], 0), 'ValueError', 'repeats');
      });
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
