/** What the addon's function for CSR says about arguments that it does not take. */
import { loadAddon, type Addon } from '../../../src/backends/native/addon.js';

const addon = loadAddon() as unknown as Record<keyof Addon, (...args: unknown[]) => unknown>;
const [CORES, SHARDS, SAMPLES, SLOTS] = [2, 4, 4, 64];

/** Two features on two tables of 5 rows; the room for slots is what 5 ids need at most, 61 slots, in eights. */
function args(changes: Readonly<Record<number, unknown>> = {}): unknown[] {
  const right: unknown[] = [
    [Int32Array.of(0, 4, 1), Int32Array.of(1, 2)],
    [Int32Array.of(0, 2, 3), Int32Array.of(0, 1, 2)],
    [new Float32Array(3).fill(1), null],
    Int32Array.of(2, 0, 5, 0, 0, 0, 2, 1, 5, 8, 1, 2),
    CORES,
    SHARDS,
    SAMPLES,
    SLOTS,
    new Int32Array(CORES * 8),
    new Int32Array(SLOTS),
    new Int32Array(SLOTS),
    new Float32Array(SLOTS),
    new Int32Array(CORES * SHARDS),
    new Int32Array(CORES * SHARDS),
  ];
  for (const [at, value] of Object.entries(changes)) right[Number(at)] = value;
  return right;
}

const NAMES = [
  'values',
  'rowSplits',
  'weights',
  'features',
  'cores',
  'shards',
  'samples',
  'capacity',
  'rowPointers',
  'sampleIds',
  'tokenIds',
  'gains',
  'idCounts',
  'uniqueIdCounts',
];

describe('partitionCsr of the addon', () => {
  const right = args();

  it('takes a right call', () => {
    expect(addon.partitionCsr(...right)).toBe(32);
    expect([...(right[12] as Int32Array)]).toEqual([2, 0, 1, 0, 0, 1, 0, 1]);
  });

  NAMES.forEach((name, i) => {
    it(`wants ${name} of its type`, () => {
      expect(() => addon.partitionCsr(...args({ [i]: 'text' }))).toThrowMatching(
        (error: Error) => error instanceof TypeError && error.message.includes(name),
      );
    });
  });

  ['values', 'rowSplits', 'weights'].forEach((name, i) => {
    it(`wants ${name} as a list of an array for each feature`, () => {
      const [first] = right[i] as [unknown];
      for (const wrong of [first, [first], [first, first, first], {}, null]) {
        expect(() => addon.partitionCsr(...args({ [i]: wrong }))).toThrowError(new RegExp(name));
      }
      for (const wrong of [
        [first, 'text'],
        [first, new Float64Array(2)],
        [first, new DataView(new ArrayBuffer(8))],
      ]) {
        expect(() => addon.partitionCsr(...args({ [i]: wrong }))).toThrowError(TypeError, new RegExp(name));
      }
    });

    it(`hands on what a getter of ${name} throws`, () => {
      const list = [...(right[i] as unknown[])];
      Object.defineProperty(list, 1, {
        get: () => {
          throw new RangeError('not today');
        },
      });
      expect(() => addon.partitionCsr(...args({ [i]: list }))).toThrowError(RangeError, 'not today');
    });
  });

  it('looks at arrays after the getters of lists have run', () => {
    const first = Int32Array.of(0, 4, 1);
    const list = [first, Int32Array.of(1, 2)];
    Object.defineProperty(list, 1, {
      get: () => {
        structuredClone(first.buffer, { transfer: [first.buffer] });
        return Int32Array.of(1, 2);
      },
    });
    expect(() => addon.partitionCsr(...args({ 0: list }))).toThrow();
  });

  it('wants as many weights as ids, and none is as good as all ones', () => {
    for (const count of [2, 4]) {
      const weights = [new Float32Array(count), null];
      expect(() => addon.partitionCsr(...args({ 2: weights }))).toThrowError(RangeError, /weights/);
    }
    const [ones, none] = [
      args({ 2: [new Float32Array(3).fill(1), new Float32Array(2).fill(1)] }),
      args({ 2: [null, null] }),
    ];
    addon.partitionCsr(...ones);
    addon.partitionCsr(...none);
    expect(none[11]).toEqual(ones[11]);
  });

  for (const i of [8, 9, 10, 11, 12, 13]) {
    it(`wants ${NAMES[i]!} of its length`, () => {
      const { constructor: Type, length } = right[i] as Int32Array & { constructor: new (length: number) => unknown };
      for (const wrong of [length - 1, length + 1]) {
        const change = { [i]: new Type(wrong) };
        expect(() => addon.partitionCsr(...args(change))).toThrowError(RangeError, new RegExp(NAMES[i]!));
      }
    });
  }

  it('wants whole numbers in their ranges', () => {
    for (const [at, value] of [
      [4, 0],
      [4, 4097],
      [4, 1.5],
      [5, 0],
      [5, 65537],
      [6, -1],
      [7, -8],
    ] as const) {
      expect(() => addon.partitionCsr(...args({ [at]: value }))).toThrowError(RangeError, new RegExp(NAMES[at]!));
    }
  });

  const refused: [string, Record<number, unknown>][] = [
    ['splits that fall', { 1: [Int32Array.of(0, 4, 3), Int32Array.of(0, 1, 2)] }],
    ['splits that do not begin at 0', { 1: [Int32Array.of(0, 2, 3), Int32Array.of(1, 1, 2)] }],
    ['splits that end before the ids', { 1: [Int32Array.of(0, 2, 3), Int32Array.of(0, 1, 1)] }],
    ['splits that end behind the ids', { 1: [Int32Array.of(0, 2, 4), Int32Array.of(0, 1, 2)] }],
    ['too few splits', { 1: [Int32Array.of(0, 3), Int32Array.of(0, 1, 2)] }],
    ['too many splits', { 1: [Int32Array.of(0, 2, 3), Int32Array.of(0, 1, 2, 2)] }],
    ['samples that the cores do not divide', { 3: Int32Array.of(1, 0, 5, 0, 0, 0, 3, 1, 5, 8, 1, 1) }],
    ['samples beyond those of the stack', { 6: 3 }],
    ['an unknown combiner', { 3: Int32Array.of(2, 3, 5, 0, 0, 0, 2, 1, 5, 8, 1, 2) }],
    ['a table that begins before the stack', { 3: Int32Array.of(2, 0, 5, -4, 0, 0, 2, 1, 5, 8, 1, 2) }],
    ['rows beyond int32', { 3: Int32Array.of(2, 0, 2 ** 31 - 1, 8, 0, 0, 2, 1, 5, 8, 1, 2) }],
    ['a negative rotation', { 3: Int32Array.of(2, 0, 5, 0, -1, 0, 2, 1, 5, 8, 1, 2) }],
    ['ids below 0', { 0: [Int32Array.of(0, 4, 1), Int32Array.of(1, -1)] }],
    ['ids beyond the rows', { 0: [Int32Array.of(0, 5, 1), Int32Array.of(1, 2)] }],
  ];
  for (const [what, change] of refused) {
    it(`refuses ${what}`, () => {
      expect(() => addon.partitionCsr(...args(change))).toThrow();
    });
  }

  it('refuses shards that are no power of two, and slots that are no multiple of 8', () => {
    const three = { 5: 3, 8: new Int32Array(16), 12: new Int32Array(6), 13: new Int32Array(6) };
    const slots = { 9: new Int32Array(48), 10: new Int32Array(48), 11: new Float32Array(48) };
    expect(() => addon.partitionCsr(...args({ ...three, ...slots }))).toThrow();
    const twelve = { 7: 12, 9: new Int32Array(12), 10: new Int32Array(12), 11: new Float32Array(12) };
    expect(() => addon.partitionCsr(...args(twelve))).toThrow();
  });

  it('refuses memory that is both read and written', () => {
    const memory = new Int32Array(SLOTS);
    expect(() => addon.partitionCsr(...args({ 9: memory, 10: memory }))).toThrowError(RangeError, /tokenIds|sampleIds/);
    const values = Int32Array.of(0, 4, 1, 0, 0, 0, 0, 0);
    const shared = { 0: [values.subarray(0, 3), Int32Array.of(1, 2)], 12: values };
    expect(() => addon.partitionCsr(...args(shared))).toThrowError(RangeError, /idCounts/);
  });
});
