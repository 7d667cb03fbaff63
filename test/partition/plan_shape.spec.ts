/** Every place of a plan, with another kind of value in it. */
import { planEmbedding } from 'tfjs-embeddings';
import { shapeProblems } from '../../src/partition/plan_shape.js';

type Json = Record<string, unknown>;

const TABLES = [
  { name: 'small', inputDim: 10, outputDim: 4, combiner: 'sum' as const },
  { name: 'wide', inputDim: 100, outputDim: 16, combiner: 'mean' as const },
  { name: 'words', inputDim: 90, outputDim: 16, combiner: null },
  { name: 'long', inputDim: 100_000, outputDim: 8, combiner: 'sum' as const },
];

/** A plan that has all parts. */
function planOf(rowSharding: 'range' | 'modulo'): Json {
  const plan = planEmbedding({
    ...{ tables: TABLES, worldSize: 2, rowSharding, strategy: 'memory_balanced' },
    ...{ dataParallelThreshold: 50, rowSliceThreshold: 500_000, columnSliceThreshold: 1000 },
  });
  // readPlan looks at the version of the format.
  const { version: _version, ...stored } = JSON.parse(JSON.stringify(plan)) as { [key: string]: Json };
  return { ...stored, notes: ['cut by rows'] };
}

type Keys = readonly (string | number)[];

function pathOf(keys: Keys): string {
  return keys.map((key, i) => (typeof key === 'number' ? `[${key}]` : i === 0 ? key : `.${key}`)).join('');
}

/** The places of all values within a value. */
function placesOf(value: unknown, keys: Keys = []): Keys[] {
  if (value === null || typeof value !== 'object') return [keys];
  const inner = Array.isArray(value) ? value.map((item, i) => [i, item] as const) : Object.entries(value);
  return [keys, ...inner.flatMap(([key, item]) => placesOf(item, [...keys, key]))];
}

function at(plan: Json, keys: Keys): unknown {
  return keys.reduce<unknown>((value, key) => (value as Json)[key], plan);
}

/** What is wrong with the plan once a place of it holds another value. */
function problemsWith(plan: Json, keys: Keys, value: unknown): string[] {
  const changed = structuredClone(plan);
  (at(changed, keys.slice(0, -1)) as Json)[keys.at(-1)!] = value;
  return shapeProblems(changed);
}

const OPTIONAL = ['tableParallel', 'rowSlice', 'predicted', 'dataParallelTables', 'tableNames', 'notes'];
const NULLABLE = ['effectiveRowSliceThreshold', 'effectiveDataParallelThreshold', 'combiner'];

for (const rowSharding of ['range', 'modulo'] as const) {
  describe(`the shape of a plan, rows by ${rowSharding}`, () => {
    const plan = planOf(rowSharding);
    const places = placesOf(plan).filter((keys) => keys.length > 0);
    const keyOf = (keys: Keys): string => String(keys.filter((key) => typeof key === 'string').at(-1));

    it('fits what the planner makes, and nothing else', () => {
      expect(shapeProblems(plan)).toEqual([]);
      for (const [value, shown] of [
        [null, 'null'],
        [3, '3'],
        ['x', '"x"'],
      ] as const) {
        expect(shapeProblems(value)).toEqual([`plan: expected an object, found ${shown}`]);
      }
      expect(shapeProblems([])[0]).toMatch(/^plan: expected an object/);
      expect(places.length).toBeGreaterThan(100);
    });

    it('names each number that is none, or is below 0, or a fraction where none may be', () => {
      for (const keys of places.filter((each) => typeof at(plan, each) === 'number')) {
        const path = pathOf(keys);
        const key = keyOf(keys);
        const isAmount = ['seconds', 'lookups', 'bytesMemory', 'bytesOut'].includes(key) || key.startsWith('effective');
        const kind =
          key === 'inputOffset' ? 'a whole number' : isAmount ? 'a finite number >= 0' : 'a whole number >= 0';
        expect(problemsWith(plan, keys, 'x')).toEqual([`${path}: expected ${kind}, found "x"`]);
        expect(problemsWith(plan, keys, NaN)).toEqual([`${path}: expected ${kind}, found NaN`]);
        expect(problemsWith(plan, keys, 0.5).length).toBe(isAmount ? 0 : 1);
        expect(problemsWith(plan, keys, -1).length).toBe(key === 'inputOffset' ? 0 : 1);
        expect(problemsWith(plan, keys, 0)).toEqual([]);
      }
    });

    it('names each text, truth and choice that is none', () => {
      for (const keys of places.filter((each) => ['string', 'boolean'].includes(typeof at(plan, each)))) {
        const path = pathOf(keys);
        const kinds: Record<string, string> = {
          effectiveStrategy: 'one of basic, memory_balanced, memory_optimized, cost_balanced',
          combiner: 'one of sum, mean, sqrtn, max, null',
          cpuOffload: 'true or false',
        };
        expect(problemsWith(plan, keys, 3)).toEqual([`${path}: expected ${kinds[keyOf(keys)] ?? 'a string'}, found 3`]);
      }
    });

    it('names each list and object that is none, or has other keys', () => {
      for (const keys of places.filter((each) => typeof at(plan, each) === 'object' && at(plan, each) !== null)) {
        const path = pathOf(keys);
        const value = at(plan, keys) as unknown[] | Json;
        const key = keyOf(keys);
        const isSpan = /^(columns|rows|sliced\w+)$/.test(key) && Array.isArray(value) && typeof value[0] === 'number';
        const kind = isSpan ? 'a list of 2' : Array.isArray(value) ? 'a list' : 'an object';
        const plainKind = isSpan ? 'a list' : kind;
        expect(problemsWith(plan, keys, 3)).toEqual([`${path}: expected ${plainKind}, found 3`]);
        if (isSpan) expect(problemsWith(plan, keys, [1])[0]).toMatch(/: expected a list of 2, found /);
        if (Array.isArray(value)) {
          expect(problemsWith(plan, keys, {}).length).toBe(1);
          continue;
        }
        expect(problemsWith(plan, keys, [])[0]).toMatch(/: expected an object, found /);
        expect(problemsWith(plan, [...keys, 'other'], 1)).toEqual([`${path}.other: no such key in a plan`]);
        expect(problemsWith(plan, [...keys, 'other'], undefined)).toEqual([]);
      }
      expect(problemsWith(plan, ['other'], 1)).toEqual(['other: no such key in a plan']);
    });

    it('names each key that is missing, but for those that may be', () => {
      for (const keys of places.filter((each) => typeof each.at(-1) === 'string')) {
        const isGroup = ['tableGroups', 'inputGroups', 'mapGroups'].includes(String(keys.at(-2)));
        const mayBe = OPTIONAL.includes(String(keys.at(-1))) && !isGroup;
        const expected = mayBe ? [] : [`${pathOf(keys)}: missing`];
        // Shards by modulo are told by that key.
        if (keys.at(-1) === 'modulo') expect(problemsWith(plan, keys, undefined).length).toBeGreaterThan(0);
        else expect(problemsWith(plan, keys, undefined)).toEqual(expected);
        const isNullable = NULLABLE.includes(String(keys.at(-1)));
        expect(problemsWith(plan, keys, null).length === 0).toBe(isNullable);
      }
    });
  });
}
