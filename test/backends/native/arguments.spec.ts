/** What each function of the addon says about arguments that it does not take. */
import { loadAddon, type Addon } from '../../../src/backends/native/addon.js';
import { HYPER_FIELDS } from '../../../src/rules/hyper.js';
import { UPDATE_NAMES } from '../../../src/rules/rules.js';
import { expectClose } from '../../helpers/tensors.js';

type Name = 'embeddingBag' | 'embeddingBagGrad' | 'embeddingBagWeightsGrad' | 'sparseApply';
type Args = unknown[];

const addon = loadAddon() as unknown as Record<keyof Addon, (...args: Args) => unknown>;

const [ROWS, DIM, IDS, BAGS] = [3, 2, 4, 2];
const [FLOAT32, FLOAT16, INT8] = [0, 1, 2];
const floats = (length: number): Float32Array => new Float32Array(length).fill(1);
const table = (): Args => [floats(ROWS * DIM), FLOAT32, ROWS, DIM];
/** values, rowSplits, weights, combiner, outOfRange, maxNorm */
const bags = (): Args => [Int32Array.of(0, 1, 2, 0), Int32Array.of(0, 2, 4), floats(IDS), 0, 0, 0];

/** Right calls, and at which argument table and bags begin. */
const CALLS: Readonly<Record<Name, { args: () => Args; table: number; bags: number }>> = {
  embeddingBag: { args: () => [...table(), ...bags(), floats(BAGS * DIM)], table: 0, bags: 4 },
  embeddingBagGrad: { args: () => [floats(BAGS * DIM), ...table(), ...bags()], table: 1, bags: 5 },
  embeddingBagWeightsGrad: {
    args: () => [...table(), ...bags(), floats(BAGS * DIM), floats(IDS)],
    table: 0,
    bags: 4,
  },
  sparseApply: {
    // Adam: two slots.
    args: () => [
      ...[...table(), ...bags(), 4, floats(ROWS * DIM), floats(ROWS * DIM), null, null],
      ...[floats(BAGS * DIM), floats(HYPER_FIELDS.length)],
    ],
    table: 0,
    bags: 4,
  },
};
const NAMES = Object.keys(CALLS) as Name[];

/** A call with some arguments replaced, by their positions. */
function call(name: Name, changes: Readonly<Record<number, unknown>>): () => unknown {
  const args = CALLS[name].args();
  for (const [at, value] of Object.entries(changes)) args[Number(at)] = value;
  return () => addon[name](...args);
}

describe('arguments of the addon', () => {
  for (const name of NAMES) {
    const { table: t, bags: b, args } = CALLS[name];

    it(`are of their types: ${name}`, () => {
      expect(call(name, {})).not.toThrow();
      const wrong = [undefined, 'x', [1, 2], {}, new Float64Array(4), new DataView(new ArrayBuffer(8))];
      args().forEach((right, at) => {
        if (right === null) return;
        const isOptional = at === b + 2 || (name === 'embeddingBagGrad' && at === t);
        const others = right instanceof Float32Array ? [Int32Array.of(1)] : [Float32Array.of(1)];
        for (const value of [...wrong, ...others].filter((each) => !(isOptional && each === undefined))) {
          expect(call(name, { [at]: value }))
            .withContext(`argument ${at}: ${String(value)}`)
            .toThrowError(TypeError, /^`\w+`: (expected a number|expected an Int32Array|expected a Float32Array)$/);
        }
      });
    });

    it(`are of their lengths: ${name}`, () => {
      args().forEach((right, at) => {
        if (!(right instanceof Float32Array)) return;
        for (const length of [right.length - 1, right.length + 1]) {
          expect(call(name, { [at]: floats(length) }))
            .withContext(`argument ${at}`)
            .toThrowError(RangeError, new RegExp(`^\`\\w+\`: expected ${right.length} numbers, received ${length}$`));
        }
      });
    });

    it(`are in their ranges: ${name}`, () => {
      for (const [at, values, text] of [
        [
          t + 2,
          [-1, 0.5, NaN, Infinity, 2 ** 53],
          /^`rows`: expected a whole number from 0 to 9007199254740991, received/,
        ],
        [t + 1, [-1, 3, 0.5, NaN], /^`codec`: expected a whole number from 0 to 2, received/],
        [t + 3, [0, -1, 0.5, NaN, 2 ** 53], /^`dim`: expected a whole number from 1 to 9007199254740991, received/],
        [b + 3, [-1, 3, 0.5, NaN], /^`combiner`: expected a whole number from 0 to 2, received/],
        [b + 4, [-1, 2, 0.5, NaN], /^`outOfRange`: expected a whole number from 0 to 1, received/],
        [b + 5, [-1, NaN, -Infinity], /^`maxNorm`: expected a number of at least 0, received/],
        [b + 1, [new Int32Array(0)], /^`rowSplits`: expected at least one split, received none$/],
      ] as const) {
        for (const value of values) {
          expect(call(name, { [at]: value }))
            .withContext(`argument ${at}: ${String(value)}`)
            .toThrowError(RangeError, text);
        }
      }
      const huge = { [t]: name === 'embeddingBagGrad' ? null : floats(0), [t + 2]: 2 ** 52, [t + 3]: 2 ** 52 };
      expect(call(name, huge)).toThrowError(RangeError, /^`rows`: expected a size that can be addressed, received/);
    });

    it(`have splits that begin at 0, never fall and end at the number of ids: ${name}`, () => {
      for (const [splits, position] of [
        [[1, 2, 4], 0],
        [[-1, 2, 4], 0],
        [[0, 5, 4], 2],
        [[0, -1, 4], 1],
        [[0, 2, 3], 2],
        [[0, 2, 5], 2],
      ] as const) {
        let thrown: { status?: number; position?: number } = {};
        try {
          call(name, { [b + 1]: Int32Array.from(splits) })();
        } catch (error) {
          thrown = error as typeof thrown;
        }
        expect([thrown.status, thrown.position]).withContext(splits.join()).toEqual([2, position]);
      }
      expect(call(name, { [b + 1]: Int32Array.of(0, 4, 4) })).not.toThrow();
    });
  }

  it('include a table where a gradient goes through maxNorm, and weights where they get one', () => {
    expect(call('embeddingBagGrad', { 1: null, 10: 1 })).toThrowError(TypeError, '`table`: is needed for maxNorm');
    expect(call('embeddingBagGrad', { 1: null })).not.toThrow();
    expect(call('embeddingBagWeightsGrad', { 6: null })).toThrowError(TypeError, '`weights`: expected a Float32Array');
  });

  it('include a table of words where its codec has them, of a codec that the function takes', () => {
    const [halves, codes] = [new Int32Array(ROWS), new Int32Array(3 * ROWS)];
    expect(call('embeddingBag', { 0: halves, 1: FLOAT16 })).not.toThrow();
    expect(call('embeddingBag', { 0: codes, 1: INT8 })).not.toThrow();
    expect(call('embeddingBag', { 1: FLOAT16 })).toThrowError(TypeError, '`table`: expected an Int32Array');
    expect(call('embeddingBag', { 0: codes, 1: FLOAT16 })).toThrowError(RangeError, /`table`: expected 3 numbers/);
    expect(call('sparseApply', { 0: halves, 1: FLOAT16 })).not.toThrow();
    expect(call('sparseApply', { 0: codes, 1: INT8 })).toThrowError(RangeError, /`codec`: expected one that trains/);
    for (const table of [halves, null]) {
      for (const maxNorm of [0, 1]) {
        expect(call('embeddingBagGrad', { 1: table, 2: FLOAT16, 10: maxNorm })).toThrow();
      }
    }
  });

  it('include no slot that the optimizer lacks', () => {
    const MORE = '`slots`: expected as many as the optimizer has, received more';
    for (const changes of [{ 10: 0 }, { 10: 0, 12: null }, { 10: 1 }, { 10: 2, 11: floats(ROWS) }]) {
      expect(call('sparseApply', changes)).toThrowError(RangeError, MORE);
    }
    expect(call('sparseApply', { 10: 2, 11: floats(ROWS), 12: null })).not.toThrow();
    expect(call('sparseApply', { 10: 2, 12: null })).toThrowError(
      RangeError,
      '`slots`: expected 3 numbers, received 6',
    );
    expect(call('sparseApply', { 10: 1, 11: floats(ROWS), 12: null })).toThrowError(RangeError, /expected 6 numbers/);
    const counted = { 10: UPDATE_NAMES.indexOf('adamByRow') };
    expect(call('sparseApply', { ...counted, 13: floats(ROWS) })).not.toThrow();
    expect(call('sparseApply', { ...counted, 13: floats(ROWS * DIM) })).toThrowError(
      RangeError,
      '`slots`: expected 3 numbers, received 6',
    );
    expect(call('sparseApply', { 10: UPDATE_NAMES.length })).toThrowError(
      RangeError,
      new RegExp(`^\`optimizer\`: expected a whole number from 0 to ${UPDATE_NAMES.length - 1}`),
    );
  });

  it('may name more rows than an id can', () => {
    for (const rows of [2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 40]) {
      const ids = Int32Array.of(0, 2 ** 31 - 1, 7, 0);
      const [unique] = call('embeddingBagGrad', { 1: null, 3: rows, 5: ids })() as [Int32Array];
      expect([...unique])
        .withContext(`${rows} rows`)
        .toEqual([0, 7, 2 ** 31 - 1]);
    }
  });

  it('limit norms even where the limit is too small for a float', () => {
    for (const maxNorm of [1e-40, 1e-60, Number.MIN_VALUE]) {
      const pooled = floats(BAGS * DIM);
      call('embeddingBag', { 9: maxNorm, 10: pooled })();
      expectClose(pooled, [0, 0, 0, 0], 0, `${maxNorm}`);
    }
  });
});
