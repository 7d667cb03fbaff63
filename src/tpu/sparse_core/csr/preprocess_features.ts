/** Features as plain data to the CSR of every stack, on one chip. */
import { ArgumentTypeError, ValueError, described } from '../../../base/errors.js';
import { isRecord, readOptions } from '../../../base/options.js';
import type { Combiner } from '../../../base/types.js';
import { readCombiner } from './convert_to_coo.js';
import { listOf, readFeatureInput, type FeatureInput, type FeatureWeights } from './feature_input.js';
import { product, shardCount, textOf, wholeNumber } from '../numbers.js';
import { partitionStack, type NamedCsrFeature } from './partition_stack.js';
import type { PartitionedCsrFormatTensor } from './partitioned_csr.js';

/** A table that is part of a stack. */
export interface StackedTable {
  readonly name: string;
  readonly paddedVocab: number;
  readonly paddedDim: number;
  readonly combiner: Combiner;
}

/** A feature: its table by name, and the shape of its samples. */
export interface StackedFeature {
  readonly table: string;
  readonly outputShape: readonly number[];
}

/** Stack of a table, rows of the stack before it over all shards, and its rotation. */
export type StackedTableOffset = readonly [stackedTable: string, columnOffset: number, rotation: number];

/** Tables, features and how they are stacked. */
export interface StackedFeatures {
  readonly tables: readonly StackedTable[];
  readonly stackedTableToTables: Readonly<Record<string, readonly string[]>>;
  readonly tableToStackedTableOffset: Readonly<Record<string, StackedTableOffset>>;
  /** By the place of the feature: samples of the stack that come before its own. */
  readonly featureToSampleOffset: Readonly<Record<number, number>>;
  /** By stack: samples of all its features. */
  readonly tableToSampleCount: Readonly<Record<string, number>>;
  readonly features: readonly StackedFeature[];
}

export interface PreprocessFeaturesArgs extends StackedFeatures {
  readonly numChips: number;
  readonly numScPerChip: number;
  /** 64 by default. */
  readonly maxIdsPerChipPerSample?: number;
  /** 64 by default. */
  readonly maxMinibatchesPerSc?: number;
  readonly inputs: readonly FeatureInput[];
  readonly weights?: readonly FeatureWeights[] | null;
  /** Ids that do not fit the buffer are left out; by default they are an error. */
  readonly allowIdDropping?: boolean;
  /** By stack; no limit where absent. */
  readonly maxIdsPerTable?: Readonly<Record<string, number>> | null;
  readonly maxUniqueIdsPerTable?: Readonly<Record<string, number>> | null;
  readonly tableToPaddingRows?: Readonly<Record<string, number>>;
  readonly tableToPaddingColumns?: Readonly<Record<string, number>>;
}

/** Fields of every function over stacked features. */
export const STACKED_FIELDS = [
  'numChips',
  'numScPerChip',
  'tables',
  'stackedTableToTables',
  'tableToStackedTableOffset',
  'featureToSampleOffset',
  'tableToSampleCount',
  'features',
  'tableToPaddingRows',
  'tableToPaddingColumns',
] as const;
const FIELDS = [
  ...STACKED_FIELDS,
  'maxIdsPerChipPerSample',
  'maxMinibatchesPerSc',
  'inputs',
  'weights',
  'allowIdDropping',
  'maxIdsPerTable',
  'maxUniqueIdsPerTable',
] as const;

const MOST = 2 ** 31 - 1;
const DEFAULT_LIMIT = 64;

/** A field of a record that is read by name. */
function entryOf(record: unknown, key: string | number, argument: string): unknown {
  if (!isRecord(record)) throw new ArgumentTypeError(argument, 'an object by name', record);
  if (Object.hasOwn(record, String(key))) return record[String(key)];
  throw new ValueError(argument, `an entry ${key}`, described('none'));
}

function limitOf(limits: unknown, stack: string, argument: string): number {
  if (limits === undefined || limits === null) return Infinity;
  if (!isRecord(limits)) throw new ArgumentTypeError(argument, 'limits by stacked table', limits);
  const limit = Object.hasOwn(limits, stack) ? limits[stack] : undefined;
  return limit === undefined || limit === null ? Infinity : wholeNumber(limit, `${argument}.${stack}`, 0);
}

export function readTables(tables: unknown): Map<string, StackedTable> {
  if (!Array.isArray(tables)) throw new ArgumentTypeError('tables', 'a list of tables', tables);
  const fields = ['name', 'paddedVocab', 'paddedDim', 'combiner'] as const;
  return new Map(
    (tables as readonly unknown[]).map((each, i): [string, StackedTable] => {
      const at = `tables[${i}]`;
      const { name, paddedVocab, paddedDim, combiner } = readOptions<StackedTable>(each, fields, at);
      const table: StackedTable = {
        name: textOf(name, `${at}.name`),
        paddedVocab: wholeNumber(paddedVocab, `${at}.paddedVocab`, 1, MOST),
        paddedDim: wholeNumber(paddedDim, `${at}.paddedDim`, 1, MOST),
        combiner: readCombiner(combiner, `${at}.combiner`),
      };
      return [table.name, table];
    }),
  );
}

/** Features by the names of their tables; shapes are those of their samples. */
export function readStackedFeatures(features: unknown): StackedFeature[] {
  if (!Array.isArray(features)) throw new ArgumentTypeError('features', 'a list of features', features);
  return (features as readonly unknown[]).map((each, i) => {
    const at = `features[${i}]`;
    const { table, outputShape } = readOptions<StackedFeature>(each, ['table', 'outputShape'], at);
    if (!Array.isArray(outputShape)) throw new ArgumentTypeError(`${at}.outputShape`, 'a list of lengths', outputShape);
    return {
      table: textOf(table, `${at}.table`),
      outputShape: outputShape.map((length) => wholeNumber(length, `${at}.outputShape`, 0, MOST)),
    };
  });
}

interface ReadFeature extends NamedCsrFeature {
  readonly stack: string;
}

function readFeatures(given: Partial<PreprocessFeaturesArgs>, cores: number, shards: number): ReadFeature[] {
  const tables = readTables(given.tables);
  const features = readStackedFeatures(given.features);
  const inputs = listOf(given.inputs, features.length, 'inputs');
  const hasWeights = given.weights !== undefined && given.weights !== null;
  const weights = hasWeights ? listOf(given.weights, features.length, 'weights') : [];
  return features.map(({ table: name, outputShape: shape }, i): ReadFeature => {
    const at = `features[${i}]`;
    const table = tables.get(name);
    if (table === undefined) {
      const known = tables.size === 0 ? '`tables` that hold it' : `one of ${[...tables.keys()].join(', ')}`;
      throw new ValueError(`${at}.table`, known, name);
    }
    const samples = product(shape);
    checkDivisible(samples, cores, `${at}.outputShape`);
    const offset = entryOf(given.tableToStackedTableOffset, table.name, 'tableToStackedTableOffset');
    if (!Array.isArray(offset) || offset.length !== 3) {
      throw new ArgumentTypeError('tableToStackedTableOffset', '[stack, column offset, rotation] by table', offset);
    }
    const [, columnOffset, rotation] = offset as unknown[];
    const sampleOffset = entryOf(given.featureToSampleOffset, i, 'featureToSampleOffset');
    const names = { ids: `inputs[${i}]`, weights: `weights[${i}]` };
    const feature = {
      ...readFeatureInput(inputs[i], weights[i], shape, names),
      argument: names.ids,
      combiner: table.combiner,
      rows: table.paddedVocab,
      stack: stackOf(table.name, given.stackedTableToTables),
      columnOffset: wholeNumber(columnOffset, 'tableToStackedTableOffset', 0, MOST - table.paddedVocab),
      rotation: wholeNumber(rotation, 'tableToStackedTableOffset', 0, shards),
      sampleOffset: wholeNumber(sampleOffset, 'featureToSampleOffset', 0, MOST - samples),
    };
    checkDivisible(table.paddedVocab, shards, `paddedVocab of the table ${table.name}`);
    checkDivisible(feature.sampleOffset, cores, 'featureToSampleOffset');
    return feature;
  });
}

/** The stack that lists a table. */
function stackOf(table: string, stacks: unknown): string {
  const found = Object.entries(stacks ?? {}).find(([, tables]) => Array.isArray(tables) && tables.includes(table));
  if (found !== undefined) return found[0];
  throw new ValueError('stackedTableToTables', `a stack that lists the table ${table}`, described('none'));
}

function checkDivisible(number: number, by: number, argument: string): void {
  if (number % by !== 0) throw new ValueError(argument, `a multiple of ${by}, the number of SparseCores`, number);
}

/**
 * Returns for each stack, by its name, the ids of a batch as the SparseCores of one chip take them.
 *
 * Samples of every feature are dealt out evenly over the cores of the chip, in order; ids of a core are sorted by table
 * and row and put into one bucket for each shard. `inputs` are dense (one id for each sample), sparse (samples along
 * all axes but the last, or all along the first) or ragged; `weights` come in the same form, or null. Gains are as
 * `convertToCoo` tells. There is one minibatch. Ids beyond `maxIdsPerChipPerSample` x samples are an error, or left out
 * with `allowIdDropping`.
 * Source: `TPUEmbeddingV2.preprocess_features` of TensorFlow 2.20, equal to the bit.
 *
 * @param args - Features, weights, layouts and cores; see `PreprocessFeaturesArgs`.
 * @returns The CSR of each stack.
 * @throws ValueError for ids of unknown type, weights of another type than their ids, other numbers of samples, ids
 * outside their table, buckets beyond `maxIdsPerTable` or `maxUniqueIdsPerTable`, a number of cores that is no power of
 * two, and for slots that are no multiple of 8; TypeError where an argument is missing or of another type.
 *
 * @example
 * const tables = [{name: 'a', paddedVocab: 64, paddedDim: 8, combiner: 'sum' as const}];
 * const csr = emb.tpu.preprocessFeatures({
 *   numChips: 1,
 *   numScPerChip: 4,
 *   tables,
 *   stackedTableToTables: {a: ['a']},
 *   tableToStackedTableOffset: {a: ['a', 0, 0]},
 *   featureToSampleOffset: {0: 0},
 *   tableToSampleCount: {a: 4},
 *   features: [{table: 'a', outputShape: [4]}],
 *   inputs: [[3, 0, 63, 3]],
 * });
 * csr['a']!.rowPointers.slice(0, 4); // Int32Array [0, 0, 0, 1]: core 0 has one id, on shard 3
 */
export function preprocessFeatures(args: PreprocessFeaturesArgs): Record<string, PartitionedCsrFormatTensor> {
  const given = readOptions<PreprocessFeaturesArgs>(args, FIELDS, 'args');
  const cores = wholeNumber(given.numScPerChip, 'numScPerChip', 1);
  const shards = shardCount(wholeNumber(given.numChips, 'numChips', 1), cores, 'numChips');
  const perSample = wholeNumber(given.maxIdsPerChipPerSample ?? DEFAULT_LIMIT, 'maxIdsPerChipPerSample', 0);
  const maxMinibatchesPerSc = wholeNumber(given.maxMinibatchesPerSc ?? DEFAULT_LIMIT, 'maxMinibatchesPerSc', 1);
  const features = readFeatures(given, cores, shards);
  const { stackedTableToTables: stacks } = given;
  if (!isRecord(stacks)) throw new ArgumentTypeError('stackedTableToTables', 'tables by stack', stacks);
  const results = Object.keys(stacks).map((name): [string, PartitionedCsrFormatTensor] => {
    const ofStack = features.filter(({ stack }) => stack === name);
    const samples = wholeNumber(
      entryOf(given.tableToSampleCount, name, 'tableToSampleCount'),
      `tableToSampleCount.${name}`,
      0,
      MOST,
    );
    checkSamples(ofStack, samples, name);
    const limits = {
      idsFullSize: perSample * samples,
      maxMinibatchesPerSc,
      allowIdDropping: given.allowIdDropping === true,
      maxIds: limitOf(given.maxIdsPerTable, name, 'maxIdsPerTable'),
      maxUniqueIds: limitOf(given.maxUniqueIdsPerTable, name, 'maxUniqueIdsPerTable'),
    };
    return [name, partitionStack({ name, features: ofStack, cores, shards, samples }, limits)];
  });
  return Object.fromEntries(results);
}

/** Samples of features lie side by side in those of the stack, so that no two of them meet. */
function checkSamples(features: readonly ReadFeature[], samples: number, name: string): void {
  const spans = features
    .map(({ sampleOffset, rowSplits }) => ({ from: sampleOffset, to: sampleOffset + rowSplits.length - 1 }))
    .sort((a, b) => a.from - b.from);
  let end = 0;
  for (const { from, to } of spans) {
    if (from < end) throw new ValueError('featureToSampleOffset', 'samples of features that do not overlap', from);
    end = to;
  }
  if (end > samples) throw new ValueError(`tableToSampleCount.${name}`, `at least ${end} samples`, samples);
}
