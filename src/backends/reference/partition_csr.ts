/** From features to the buckets of SparseCores, step by step. */
import type { Combiner } from '../../base/types.js';
import {
  CsrIdOutOfRange,
  CSR_ALIGNMENT,
  CSR_PADDING,
  roundUp,
  type CsrFeature,
  type CsrParts,
  type CsrRequest,
} from '../sparse_core.js';
import { strayPosition } from '../../ids/id_out_of_range.js';
import type { HostBags } from '../kernel_set.js';

/** One id of one sample: sample, id, and the factor of its row. */
export interface CooEntry {
  readonly row: number;
  readonly id: number;
  readonly gain: number;
}

/** What rows of a sample are multiplied with; 0 where a sum of weights is 0. All in float32, like the numbers. */
function scaleOf(combiner: Combiner, weights: readonly number[]): number {
  if (combiner === 'sum') return 1;
  let sum = 0;
  for (const weight of weights) {
    sum = Math.fround(sum + (combiner === 'mean' ? weight : Math.fround(weight * weight)));
  }
  if (sum === 0) return 0;
  return Math.fround(1 / (combiner === 'mean' ? sum : Math.fround(Math.sqrt(sum))));
}

/** The entries of a batch. Unless all are kept, an id that repeats the one before it in its sample adds its weight to it. */
export function cooEntries(
  { values, rowSplits, weights }: HostBags,
  combiner: Combiner,
  keepsRepeats = false,
): CooEntry[] {
  const entries: CooEntry[] = [];
  for (let row = 0; row + 1 < rowSplits.length; row++) {
    const [start, end] = [rowSplits[row]!, rowSplits[row + 1]!];
    const ofRow = Array.from({ length: end - start }, (_, i) => weights?.[start + i] ?? 1);
    const scale = scaleOf(combiner, ofRow);
    const kept: { id: number; weight: number }[] = [];
    ofRow.forEach((weight, i) => {
      const id = values[start + i]!;
      const last = kept.at(-1);
      if (last?.id === id && !keepsRepeats) last.weight = Math.fround(last.weight + weight);
      else kept.push({ id, weight });
    });
    for (const { id, weight } of kept) entries.push({ row, id, gain: Math.fround(weight * scale) });
  }
  return entries;
}

interface Token {
  readonly sample: number;
  readonly column: number;
  gain: number;
}

/** Tokens of one feature for each core. */
function tokensOf(feature: CsrFeature, place: number, { cores, shards, keepsRepeats }: CsrRequest): Token[][] {
  const { values, rowSplits, rows, columnOffset, rotation, sampleOffset } = feature;
  const wrong = strayPosition(values, rows);
  if (wrong >= 0) throw new CsrIdOutOfRange(place, values[wrong]!, wrong, rows);
  const perCore = (rowSplits.length - 1) / cores;
  const lists = Array.from({ length: cores }, (): Token[] => []);
  for (const { row, id, gain } of cooEntries(feature, feature.combiner, keepsRepeats)) {
    const turned = ((id + rotation) & (shards - 1)) + (id - (id & (shards - 1)));
    const sample = (row % perCore) + sampleOffset / cores;
    lists[Math.floor(row / perCore)]!.push({ sample, column: turned + columnOffset, gain });
  }
  return lists;
}

/** Tokens in the order of their columns. */
function sorted(tokens: readonly Token[]): Token[] {
  return [...tokens].sort((a, b) => a.column - b.column);
}

/** Of sorted tokens, those of one sample and column become one. */
function merged(tokens: readonly Token[]): Token[] {
  const result: Token[] = [];
  for (const token of tokens) {
    const last = result.at(-1);
    if (last?.column === token.column && last.sample === token.sample) last.gain = Math.fround(last.gain + token.gain);
    else result.push({ ...token });
  }
  return result;
}

/** The kernel of `PartitionCsr` in plain TypeScript. */
export function partitionCsr(request: CsrRequest): CsrParts {
  const { features, cores, shards, capacity, keepsRepeats } = request;
  const pointersPerCore = roundUp(shards);
  const rowPointers: number[] = [];
  const [samples, tokens, gains]: [number[], number[], number[]] = [[], [], []];
  const idCounts = new Int32Array(cores * shards);
  const uniqueIdCounts = new Int32Array(cores * shards);
  const pad = (end: number): void => {
    while (tokens.length < end) {
      samples.push(CSR_PADDING);
      tokens.push(CSR_PADDING);
      gains.push(CSR_PADDING);
    }
  };
  const lists = features.map((feature, place) => tokensOf(feature, place, request));
  for (let core = 0; core < cores; core++) {
    // Columns of tables do not overlap, so one sort of all is a sort of each table.
    const all = sorted(lists.flatMap((list) => list[core]!));
    const ofCore = keepsRepeats === true ? all : merged(all);
    for (let shard = 0; shard < shards; shard++) {
      const bucket = ofCore.filter(({ column }) => (column & (shards - 1)) === shard);
      const place = core * shards + shard;
      idCounts[place] = bucket.length;
      uniqueIdCounts[place] = new Set(bucket.map(({ column }) => column)).size;
      const fits = bucket.slice(0, capacity - tokens.length);
      for (const { sample, column, gain } of fits) {
        samples.push(sample);
        tokens.push(Math.floor(column / shards));
        gains.push(gain);
      }
      if (fits.length < bucket.length) pad(capacity);
      rowPointers.push(tokens.length);
      pad(roundUp(tokens.length, CSR_ALIGNMENT));
    }
    while (rowPointers.length < (core + 1) * pointersPerCore) rowPointers.push(tokens.length);
  }
  return {
    rowPointers: Int32Array.from(rowPointers),
    sampleIds: Int32Array.from(samples),
    tokenIds: Int32Array.from(tokens),
    gains: Float32Array.from(gains),
    idCounts,
    uniqueIdCounts,
  };
}
