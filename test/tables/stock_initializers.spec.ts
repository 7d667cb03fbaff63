import * as tf from '@tensorflow/tfjs';
import { isIdentity, isOrthogonal, stockValues } from '../../src/tables/stock_initializers.js';
import { expectError } from '../helpers/errors.js';

const TABLE = { name: 'words', rows: 6, columns: 3 } as never;

/** An initializer of tfjs with another config. */
function withConfig<T extends object>(initializer: T, changes: object): T {
  const config = { ...(initializer as unknown as { getConfig(): object }).getConfig(), ...changes };
  return Object.assign(initializer, { getConfig: () => config });
}

const valuesOf = (initializer: unknown): unknown => stockValues(initializer as never, TABLE)?.values ?? null;

describe('values of stock initializers', () => {
  const { initializers } = tf;

  it('are those of their configs', () => {
    expect(valuesOf(initializers.zeros())).toEqual({ kind: 'constant', value: 0 });
    expect(valuesOf(initializers.ones())).toEqual({ kind: 'constant', value: 1 });
    expect(valuesOf(initializers.constant({ value: 2.5 }))).toEqual({ kind: 'constant', value: 2.5 });
    expect(valuesOf(initializers.randomUniform({ minval: -2, maxval: 3 }))).toEqual({
      kind: 'uniform',
      from: -2,
      to: 3,
    });
    expect(valuesOf(initializers.randomNormal({ mean: 1, stddev: 2 }))).toEqual({
      kind: 'normal',
      mean: 1,
      deviation: 2,
    });
    expect(valuesOf(initializers.truncatedNormal({ mean: 1, stddev: 2 }))).toEqual({ kind: 'truncatedNormal', mean: 1, deviation: 2 }); // prettier-ignore
  });

  it('have the variance of rows, columns or both', () => {
    const limit = (variance: number): unknown => ({ kind: 'uniform', from: -Math.sqrt(3 * variance), to: Math.sqrt(3 * variance) }); // prettier-ignore
    const scaled = (config: object): unknown => valuesOf(initializers.varianceScaling(config as never));
    expect(scaled({ scale: 2, mode: 'fanIn', distribution: 'uniform' })).toEqual(limit(2 / 6));
    expect(scaled({ scale: 2, mode: 'fanOut', distribution: 'uniform' })).toEqual(limit(2 / 3));
    expect(scaled({ scale: 2, mode: 'fanAvg', distribution: 'uniform' })).toEqual(limit(2 / 4.5));
    expect(scaled({ scale: 2, mode: 'fanOut', distribution: 'normal' })).toEqual({ kind: 'truncatedNormal', mean: 0, deviation: Math.sqrt(2 / 3) }); // prettier-ignore
    const empty = stockValues(initializers.glorotUniform({}), { name: 'a', rows: 0, columns: 0 } as never)!;
    expect(empty.values).toEqual(limit(1) as never);
  });

  it('tell their seed, and whether tfjs gives what the config says', () => {
    const facts = (initializer: unknown): unknown => {
      const { seed, isAsInTfjs } = stockValues(initializer as never, TABLE)!;
      return [seed, isAsInTfjs];
    };
    expect(facts(initializers.randomUniform({ seed: 7 }))).toEqual([7, true]);
    expect(facts(initializers.zeros())).toEqual([null, true]);
    expect(facts(initializers.varianceScaling({ scale: 1, mode: 'fanIn', distribution: 'truncatedNormal' } as never))).toEqual([null, false]); // prettier-ignore
  });

  it('are refused where the config has no numbers for them', () => {
    const read =
      (initializer: unknown, table: object = {}) =>
      () =>
        stockValues(initializer as never, { ...(TABLE as object), ...table } as never);
    const made = initializers;
    const wrong: readonly (readonly [object, string])[] = [
      [made.constant({ value: 1 }), 'value'],
      [made.randomUniform({}), 'minval'],
      [made.randomUniform({}), 'maxval'],
      [made.randomNormal({}), 'mean'],
      [made.randomNormal({}), 'stddev'],
      [made.truncatedNormal({}), 'stddev'],
    ];
    for (const [initializer, field] of wrong) {
      expectError(read(withConfig(initializer, { [field]: 1e39 })), 'ValueError', 'embeddingsInitializer', '1e+39');
      expectError(read(withConfig(initializer, { [field]: 'x' })), 'TypeError', 'embeddingsInitializer', 'x');
      expect(read(initializer)).toThrowError(new RegExp(`a number in ${field} that fits float32, for table words`));
      expectError(read(initializer, { argument: 'own' }), 'TypeError', 'own', 'x');
    }
    expectError(read(withConfig(made.randomNormal({}), { seed: '7' })), 'TypeError', 'embeddingsInitializer', '7');
  });

  it('are not known of others', () => {
    const { identity, orthogonal, zeros } = initializers;
    expect([valuesOf(identity({})), valuesOf(orthogonal({} as never))]).toEqual([null, null]);
    expect([identity({}), orthogonal({} as never), zeros()].map((each) => isIdentity(each))).toEqual([true, false, false]); // prettier-ignore
    expect([identity({}), orthogonal({} as never), zeros()].map((each) => isOrthogonal(each))).toEqual([false, true, false]); // prettier-ignore
    const own = { apply: () => null, getConfig: () => ({}), getClassName: () => 'Zeros' };
    expect(valuesOf(own)).toBeNull();
  });
});
