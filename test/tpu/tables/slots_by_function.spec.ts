import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { slotsByFunction } from '../../../src/tpu/tables/slots_by_function.js';
import { expectError } from '../../helpers/errors.js';
import { expectNoLeak } from '../../helpers/tensors.js';

const { tpu } = emb;

const variable = (shape: number[], dtype: 'float32' | 'int32' = 'float32'): tf.Variable =>
  tf.tidy(() => tf.variable(tf.zeros(shape, dtype), false));

describe('slots that a function makes', () => {
  let table: tf.Variable;
  beforeAll(() => tf.setBackend('cpu'));
  beforeEach(() => (table = variable([6, 4])));
  afterEach(() => table.dispose());

  const slotsOf = (slotVariableCreationFn: unknown): tf.Variable[] =>
    slotsByFunction(table, new tpu.Adam({ slotVariableCreationFn: slotVariableCreationFn as never }), 'users');

  it('come in the order of the optimizer', () => {
    expectNoLeak(() => {
      const [momenta, velocities] = [variable([6, 4]), variable([6, 4])];
      expect(slotsOf(() => ({ velocities, momenta }))).toEqual([momenta, velocities]);
      tf.dispose([momenta, velocities]);
    });
  });

  it('are asked for with the table, the names and initializers of the slots', () => {
    expectNoLeak(() => {
      const made = slotsOf((...args: unknown[]) => {
        const [given, names, initializers] = args as Parameters<emb.tpu.SlotVariableCreationFn>;
        expect(given).toBe(table as never);
        expect(names).toEqual(['momenta', 'velocities']);
        const zeros = tf.tidy(() => initializers.map((each) => each.apply([2]).dataSync()[0]));
        expect(zeros).toEqual([0, 0]);
        return { momenta: variable([6, 4]), velocities: variable([6, 4]) };
      });
      tf.dispose(made);
    });
  });

  it('are all there, of the shape of the table, or none is kept', () => {
    const momenta = (): tf.Variable => variable([6, 4]);
    const bad: [() => unknown, 'TypeError' | 'ValueError', string][] = [
      [() => undefined, 'TypeError', 'undefined'],
      [() => 3, 'TypeError', '3'],
      [() => ({}), 'TypeError', 'undefined'],
      [() => ({ momenta: momenta() }), 'TypeError', 'undefined'],
      [() => ({ momenta: momenta(), velocities: [1] }), 'TypeError', '1'],
      [() => ({ momenta: momenta(), velocities: variable([6, 4], 'int32') }), 'TypeError', 'int32'],
      [() => ({ momenta: momenta(), velocities: variable([4, 6]) }), 'ValueError', '4, 6'],
    ];
    for (const [make, type, received] of bad) {
      expectNoLeak(() => expectError(() => slotsOf(make), type, 'slotVariableCreationFn', received));
      expectNoLeak(() => expect(() => slotsOf(make)).toThrowError(/(momenta|velocities) of table users/));
    }
  });
});
