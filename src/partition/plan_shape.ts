/** The shape of a plan: which keys it has and what kind of value each holds. */
import { describe } from '../base/errors.js';
import { COMBINERS } from '../base/types.js';
import { CLUSTER_RESOURCES } from './cluster/cluster_data.js';
import { EXCHANGES } from './cluster/network.js';
import { PLAN_VERSION, STRATEGY_NAMES } from './plan.js';

/** Says what is wrong with a value, one line each, naming where it is. */
export type Shape = (value: unknown, path: string, problems: string[]) => void;

function complain(problems: string[], path: string, expected: string, found: unknown): void {
  problems.push(`${path}: expected ${expected}, found ${describe(found)}`);
}

function satisfying(expected: string, test: (value: unknown) => boolean): Shape {
  return (value, path, problems) => {
    if (!test(value)) complain(problems, path, expected, value);
  };
}

const whole = satisfying('a whole number >= 0', (value) => Number.isSafeInteger(value) && (value as number) >= 0);
const integer = satisfying('a whole number', (value) => Number.isSafeInteger(value));
const amount = satisfying('a finite number >= 0', (value) => Number.isFinite(value) && (value as number) >= 0);
const text = satisfying('a string', (value) => typeof value === 'string');
const flag = satisfying('true or false', (value) => typeof value === 'boolean');

function oneOf(known: readonly unknown[]): Shape {
  return satisfying(`one of ${known.map(String).join(', ')}`, (value) => known.includes(value));
}

function orNull(shape: Shape): Shape {
  return (value, path, problems) => {
    if (value !== null) shape(value, path, problems);
  };
}

function list(shape: Shape, length?: number): Shape {
  return (value, path, problems) => {
    if (!Array.isArray(value)) return complain(problems, path, 'a list', value);
    if (length !== undefined && value.length !== length) {
      return complain(problems, path, `a list of ${length}`, value);
    }
    Array.from(value as unknown[]).forEach((item, place) => shape(item, `${path}[${place}]`, problems));
  };
}

/** An object with these keys and no others; those with a question mark may be missing. */
function record(fields: Readonly<Record<string, Shape>>): Shape {
  const shapes = new Map(Object.entries(fields).map(([key, shape]) => [key.replace('?', ''), shape]));
  return (value, path, problems) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      return complain(problems, path || 'plan', 'an object', value);
    }
    const found = value as Record<string, unknown>;
    const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
    for (const [key, shape] of shapes) {
      if (found[key] !== undefined) shape(found[key], at(key), problems);
      else if (!(`${key}?` in fields)) problems.push(`${at(key)}: missing`);
    }
    for (const key of Object.keys(found)) {
      if (!shapes.has(key) && found[key] !== undefined) problems.push(`${at(key)}: no such key in a plan`);
    }
  };
}

const numbers = list(whole);
const span = list(whole, 2);
const groups = record({ dataParallel: numbers, tableParallel: numbers, rowSlice: numbers });

const rowRange = record({ table: whole, rows: span, inputOffset: integer, inputDim: whole, outputDim: whole });
const rowModulo = record({
  table: whole,
  modulo: record({ divisor: whole, remainder: whole }),
  inputDim: whole,
  outputDim: whole,
});

const rowShardShape: Shape = (value, path, problems) => {
  const modulo = value !== null && typeof value === 'object' && 'modulo' in value;
  (modulo ? rowModulo : rowRange)(value, path, problems);
};

const physicalTable = record({
  inputDim: whole,
  outputDim: whole,
  combiner: oneOf([...COMBINERS, null]),
  cpuOffload: flag,
});

const rank = record({
  'tableParallel?': record({
    tableIds: numbers,
    shards: list(record({ table: whole, columns: span })),
    inputIds: numbers,
    inputIdsGlobal: numbers,
    localMap: numbers,
    inputOffsets: numbers,
    physicalTables: list(physicalTable),
    concatGroups: list(numbers),
    weightOffsets: list(numbers),
    elements: whole,
  }),
  'rowSlice?': list(rowShardShape),
  'predicted?': record({ seconds: amount, lookups: amount, bytesMemory: amount, bytesOut: amount }),
});

const calls = {
  calls: whole,
  ids: amount,
  rowSplits: amount,
  weights: amount,
  bytesIn: amount,
  bytesOut: amount,
  seconds: amount,
};

const server = record({
  lookup: record({ ...calls, pooledRows: amount }),
  update: record({ ...calls, gradients: amount }),
  memory: record({ tables: amount, slots: amount, exchange: amount }),
  workSeconds: amount,
  linkSeconds: amount,
});

const cluster = record({
  network: record({
    bandwidth: amount,
    latency: amount,
    clients: whole,
    exchange: oneOf(EXCHANGES),
    slots: amount,
    denseSeconds: amount,
    messageBandwidth: amount,
  }),
  servers: list(server),
  bytesToServers: amount,
  bytesFromServers: amount,
  calls: whole,
  lookupSeconds: amount,
  updateSeconds: amount,
  stepSeconds: amount,
  slowest: whole,
  stepsPerSecond: amount,
  limit: record({ resource: oneOf(CLUSTER_RESOURCES), server: orNull(whole) }),
});

export const PLAN_SHAPE: Shape = record({
  'version?': oneOf([PLAN_VERSION]),
  effectiveStrategy: oneOf(STRATEGY_NAMES),
  effectiveRowSliceThreshold: orNull(amount),
  effectiveDataParallelThreshold: orNull(amount),
  tableGroups: groups,
  inputGroups: groups,
  mapGroups: groups,
  revGroupIds: numbers,
  'tableParallel?': record({
    sliceWidthsPerTable: list(numbers),
    dividedIds: list(numbers),
    slicedOutRangesBeforeMerge: list(span),
    slicedOutRanges: list(span),
    widthsListFlat: numbers,
    revTpIds: numbers,
  }),
  'dataParallelTables?': list(record({ table: whole, inputDim: whole, outputDim: whole })),
  ranks: list(rank),
  'predictedFor?': record({
    batchSize: whole,
    machine: record({ memoryBandwidth: amount, hostBandwidth: amount, linkBandwidth: amount }),
  }),
  'cluster?': cluster,
  'tableNames?': list(text),
  'notes?': list(text),
});

/** Everything that is wrong with the shape of a value that should be a plan. */
export function shapeProblems(value: unknown): string[] {
  const problems: string[] = [];
  PLAN_SHAPE(value, '', problems);
  return problems;
}
