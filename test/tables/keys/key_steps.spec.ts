/** The rules of open tables against a plain model, by the reference and by the C core. */
import '../../../src/node.js';
import { KeyIndex } from '../../../src/tables/keys/key_index.js';
import type { Admit, Evict } from '../../../src/tables/keys/key_rules.js';
import { readState, stateRows, writtenState } from '../../../src/tables/keys/key_state.js';
import { KeySteps } from '../../../src/tables/keys/key_steps.js';
import { keySearch, lowest, REFERENCE_SEARCH, type KeySearch } from '../../../src/tables/keys/steps/key_search.js';
import { ValueError } from '../../../src/base/errors.js';
import { bigintsOf } from '../../../src/tables/keys/read_keys.js';
import { Random } from '../../helpers/random.js';
import { PlainKeys, wordsOf } from './plain_keys.js';

const SEARCHES: readonly (readonly [string, () => KeySearch])[] = [
  ['reference', () => REFERENCE_SEARCH],
  ['C core', keySearch],
];

interface Stream {
  readonly capacity: number;
  readonly admit: Admit;
  readonly evict: Evict;
  readonly seed: number;
  readonly batches: readonly (readonly bigint[])[];
}

const POLICIES = ['lru', 'lfu', 'distanceLfu'] as const;

/** Keys of all sizes, some of them often. */
function drawnStream(number: number): Stream {
  const drawn = new Random(number);
  const random = (): number => drawn.next();
  const whole = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1));
  const isSharded = number % 40 === 7;
  const capacity = isSharded ? whole(65_536, 66_000) : whole(8, 200);
  const kinds: readonly Admit[] = [
    null,
    { after: whole(1, 4), tracked: 2 ** 16 },
    { probability: 0.2 + 0.8 * random() },
  ];
  const policy = POLICIES[whole(0, 2)]!;
  const evict: Evict = {
    policy,
    keep: random(),
    after: random() < 0.4 ? whole(1, 90) : null,
    exponent: random() < 0.5 ? 1 : 0.5 + random(),
  };
  const most = isSharded ? 200 : Math.max(1, Math.min(40, capacity));
  const space = isSharded ? 1000 : 3 * capacity;
  const keyOf = (n: number): bigint => {
    if (n === 0) return 0n;
    if (n === 1) return -1n;
    if (n === 2) return 2n ** 63n - 1n;
    if (n === 3) return -(2n ** 63n);
    return BigInt.asIntN(64, BigInt(n) * (n % 2 === 0 ? 1n : 0x9e37_79b9_7f4a_7c15n));
  };
  const batches = Array.from({ length: whole(40, 150) }, () => {
    return Array.from({ length: whole(0, most) }, () => keyOf(Math.floor(space * random() ** 2)));
  });
  return { capacity, admit: kinds[number % 3]!, evict, seed: number, batches };
}

function stepsOf({ capacity, admit, evict, seed }: Stream, search: KeySearch): KeySteps {
  const index = new KeyIndex(capacity);
  return new KeySteps(index, admit, evict, seed, () => new Float64Array(0), search, 'items');
}

function trained(steps: KeySteps, keys: readonly bigint[]): { rows: Int32Array; evicted: BigInt64Array } {
  const rows = new Int32Array(keys.length);
  steps.begin();
  const { evicted } = steps.train(wordsOf(keys), rows);
  steps.commit();
  return { rows, evicted: bigintsOf(evicted) };
}

function found(steps: KeySteps, keys: readonly bigint[]): number[] {
  const rows = new Int32Array(keys.length);
  steps.find(wordsOf(keys), rows);
  return Array.from(rows);
}

/** Jasmine takes long for arrays of a million numbers. */
function expectSame(a: Int32Array, b: Int32Array): void {
  const bytes = (words: Int32Array): Uint8Array => new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  expect(Buffer.compare(bytes(a), bytes(b))).toBe(0);
}

describe('steps of open tables', () => {
  for (const [name, search] of SEARCHES) {
    it(`give and take rows as the plain model does, and go on from a saved state [${name}]`, () => {
      for (let number = 0; number < 200; number++) {
        const stream = drawnStream(number);
        const plain = new PlainKeys(stream.capacity, stream.admit, stream.evict, stream.seed);
        let steps = stepsOf(stream, search());
        const half = Math.floor(stream.batches.length / 2);
        // One expectation for a stream: there are 20,000 batches.
        const told: string[] = [];
        const compare = (i: number, what: string, received: unknown, expected: unknown): void => {
          if (String(received) !== String(expected)) told.push(`batch ${i}: ${what} ${received}, not ${expected}`);
        };
        stream.batches.forEach((keys, i) => {
          if (i === half) {
            const state = writtenState(steps);
            expect(state.length).toBe(4 * stateRows(steps));
            steps = stepsOf(stream, search());
            readState(steps, state, 'items');
            expectSame(writtenState(steps), state);
          }
          const expected = plain.train(keys);
          const { rows, evicted } = trained(steps, keys);
          compare(i, 'rows', rows, expected.rows);
          compare(i, 'evicted', [...evicted].sort(), expected.evicted.sort());
          compare(i, 'size', steps.index.size, plain.known.size);
          if (i % 10 !== 0) return;
          const asked = stream.batches[(i * 7) % stream.batches.length]!;
          compare(
            i,
            'found',
            found(steps, asked),
            asked.map((key) => plain.rowOf(key)),
          );
        });
        expect(told).withContext(`stream ${number}`).toEqual([]);
      }
    });
  }

  it('of the reference and of the C core leave the same state, to the bit', () => {
    for (const number of [3, 7, 20, 47, 88, 127]) {
      const stream = drawnStream(number);
      const [a, b] = [stepsOf(stream, REFERENCE_SEARCH), stepsOf(stream, keySearch())];
      for (const keys of stream.batches) {
        trained(a, keys);
        trained(b, keys);
      }
      expectSame(writtenState(a), writtenState(b));
      expectSame(a.index.groups, b.index.groups);
    }
  });

  it('take back what a failed step counted, and keep the rows that it gave', () => {
    const stream: Stream = { ...drawnStream(1), capacity: 50, admit: { after: 3, tracked: 1000 } };
    const [failed, never] = [stepsOf(stream, keySearch()), stepsOf(stream, keySearch())];
    const often = [1n, 1n, 1n, 2n, 2n, 3n];
    for (const steps of [failed, never]) trained(steps, often);
    failed.begin();
    failed.train(wordsOf([1n, 2n, 3n, 3n, 4n]), new Int32Array(5));
    failed.undo();
    // 2 and 3 came often enough in the step that failed, and have their rows.
    expect(failed.index.size).toBe(3);
    expect(failed.step).toBe(never.step);
    expect(failed.tracker!.words).toEqual(never.tracker!.words);
    const [row] = found(failed, [1n]);
    expect(failed.index.entries.slice(4 * row!, 4 * row! + 4)).toEqual(
      never.index.entries.slice(4 * row!, 4 * row! + 4),
    );
  });

  it('refuse more distinct keys than there are rows, and change nothing', () => {
    for (const capacity of [1, 7]) {
      for (const evict of [{ policy: 'lru', keep: 0.98, after: null, exponent: 1 }, null] as const) {
        const steps = stepsOf({ capacity, admit: null, evict, seed: 0, batches: [] }, keySearch());
        trained(
          steps,
          Array.from({ length: capacity }, (_, i) => BigInt(i)),
        );
        const before = writtenState(steps);
        steps.begin();
        const keys = wordsOf(Array.from({ length: capacity + 1 }, (_, i) => BigInt(2 * i + 100)));
        expect(() => steps.train(keys, new Int32Array(capacity + 1))).toThrowError(ValueError, /rows/);
        steps.undo();
        expect(writtenState(steps)).toEqual(before);
      }
    }
  });

  it('evict nothing that the same step saw before, in another lookup', () => {
    const evict = { policy: 'lfu', keep: 0, after: null, exponent: 1 } as const;
    const steps = stepsOf({ capacity: 4, admit: null, evict, seed: 0, batches: [] }, keySearch());
    trained(steps, [9n, 9n, 8n, 8n, 7n, 7n]);
    steps.begin();
    const rows = new Int32Array(2);
    steps.train(wordsOf([1n, 2n]), rows);
    const { evicted } = steps.train(wordsOf([3n, 4n]), new Int32Array(2));
    expect([...bigintsOf(evicted)]).not.toContain(1n);
    expect(found(steps, [1n, 2n])).toEqual([...rows]);
    steps.commit();
  });

  it('keep one key that comes a million times, and keys whose hashes share their low bits', () => {
    const steps = stepsOf({ ...drawnStream(0), capacity: 1000, admit: null }, keySearch());
    const { rows } = trained(steps, new Array<bigint>(1e6).fill(5n));
    expect(new Set(rows).size).toBe(1);
    expect(steps.index.entries[4 * rows[0]! + 3]).toBe(1e6);
    const near = Array.from({ length: 65_536 }, (_, i) => BigInt(i) << 16n).slice(0, 900);
    expect(new Set(trained(steps, near).rows).size).toBe(900);
  });
});

describe('the lowest scores', () => {
  it('are those that sorting finds, ties by the lower row', () => {
    const drawn = new Random(5);
    const random = (): number => drawn.next();
    for (let trial = 0; trial < 300; trial++) {
      const count = Math.floor(random() * 60);
      const rows = Int32Array.from({ length: count }, (_, i) => 3 * i);
      const scores = Float64Array.from(rows, () => Math.floor(random() * (trial % 2 === 0 ? 5 : 1000)));
      const most = Math.floor(random() * (count + 3));
      const sorted = [...rows]
        .map((row, i) => [scores[i]!, row] as const)
        .sort(([a, x], [b, y]) => a - b || x - y)
        .slice(0, most)
        .map(([, row]) => row)
        .sort((a, b) => a - b);
      expect([...lowest(rows, scores, most)]).toEqual(sorted);
    }
  });
});
