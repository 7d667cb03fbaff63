/** Limits of SparseCore buffers from a data set. */
import { running } from '../../backends/emulator/register.js';
import { roundUp } from '../../backends/sparse_core.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { readOptions } from '../../base/options.js';
import { truth } from '../config/fields.js';
import type { BucketMaxima } from './csr/partition_stack.js';
import { BatchStats, largest, MACHINE_FIELDS, type SparseCoreMachineArgs } from './sparse_core_stats.js';

export interface TuneLimitsArgs extends Omit<SparseCoreMachineArgs, 'numTpuChips'> {
  /** Whole batches, each in the structure of `featureConfig`: a list, or anything else that can be gone over. */
  features: Iterable<unknown>;
  /** By default the chips, and the cores of each, of the running emulator; else 4 cores. */
  numTpuChips?: number | undefined;
  /**
   * Whether batches are those of `emb.layers.tpuEmbedding`: dense ids are [batch, ids], negative ones stand for nothing,
   * features may have a `maxSequenceLength`, and the cores need not divide the samples. false by default.
   */
  paddedIds?: boolean | undefined;
  /** Room above the largest number seen, as a fraction of it; 0.1 by default. */
  margin?: number | undefined;
}

/** Fields of `SparseCoreEmbeddingConfig`, and what they were made from. */
export interface TunedLimits {
  /** By stack. */
  readonly maxIdsPerTable: Record<string, number>;
  readonly maxUniqueIdsPerTable: Record<string, number>;
  /** For all stacks. */
  readonly maxIdsPerChipPerSample: number;
  readonly margin: number;
  readonly batches: number;
  /** The largest numbers of all batches, by stack. */
  readonly seen: { readonly maxIds: Record<string, number>; readonly maxUniqueIds: Record<string, number> };
}

const DEFAULT_MARGIN = 0.1;

function readMargin(value: unknown): number {
  if (value === undefined || value === null) return DEFAULT_MARGIN;
  if (typeof value !== 'number') throw new ArgumentTypeError('margin', 'a number >= 0', value);
  if (!(value >= 0 && value <= 100)) throw new ValueError('margin', 'a number from 0 to 100', value);
  return value;
}

function machineOf({ paddedIds: _none, ...given }: Partial<TuneLimitsArgs>): SparseCoreMachineArgs {
  const settings = running()?.settings;
  const numTpuChips = given.numTpuChips ?? settings?.chips;
  const numScPerChip = given.numScPerChip ?? (given.numTpuChips === undefined ? settings?.coresPerChip : undefined);
  return { ...given, numTpuChips: numTpuChips!, numScPerChip, featureConfig: given.featureConfig };
}

/**
 * Returns limits for `SparseCoreEmbeddingConfig` from the batches of a data set: for each stack the largest number of ids,
 * and of different ids, that one SparseCore asks of another in any batch, and the slots that ids take on a chip for each
 * sample. `margin` is added to each, and the result rounded up to a multiple of 8. Tables that share a stack share its
 * limits, which are the largest over all of them. Batches are those of `TPUEmbeddingV2`, or with `paddedIds` those of the
 * layer `tpuEmbedding`. `seen` holds the numbers without margin.
 *
 * @param args - The batches, the features and the margin; see `TuneLimitsArgs`.
 * @returns The limits of each stack.
 * @throws as `computeSparseCoreStats` does; ValueError where there is no batch.
 *
 * @example
 * const {maxIdsPerTable, maxUniqueIdsPerTable} = emb.tpu.tuneLimits({features: batches, featureConfig, numTpuChips: 2});
 * const sparseCoreEmbeddingConfig = new emb.tpu.SparseCoreEmbeddingConfig({maxIdsPerTable, maxUniqueIdsPerTable});
 */
export function tuneLimits(args: TuneLimitsArgs): TunedLimits {
  const given = readOptions<TuneLimitsArgs>(args, [...MACHINE_FIELDS, 'features', 'paddedIds', 'margin'], 'args');
  const margin = readMargin(given.margin);
  const isPadded = truth(given.paddedIds, 'paddedIds', false);
  const { features } = given;
  if (typeof features !== 'object' || features === null || typeof features[Symbol.iterator] !== 'function') {
    throw new ArgumentTypeError('features', 'a list of batches', features);
  }
  const stats = new BatchStats(machineOf(given), isPadded);
  const seen = new Map<string, BucketMaxima>();
  let batches = 0;
  for (const batch of features) {
    batches++;
    for (const [stack, maxima] of stats.maxima(batch)) {
      const before = seen.get(stack);
      seen.set(stack, before === undefined ? maxima : largest(before, maxima));
    }
  }
  if (batches === 0) throw new ValueError('features', 'at least one batch', described('none'));
  const limit = (count: number): number => Math.max(8, roundUp(Math.ceil(count * (1 + margin) - 1e-9)));
  const byStack = (of: (maxima: BucketMaxima) => number): Record<string, number> =>
    Object.fromEntries([...seen].map(([stack, maxima]) => [stack, of(maxima)]));
  return {
    maxIdsPerTable: byStack(({ maxIds }) => limit(maxIds)),
    maxUniqueIdsPerTable: byStack(({ maxUniqueIds }) => limit(maxUniqueIds)),
    maxIdsPerChipPerSample: limit(Math.max(...[...seen.values()].map(({ slotsPerSample }) => slotsPerSample))),
    margin,
    batches,
    seen: { maxIds: byStack(({ maxIds }) => maxIds), maxUniqueIds: byStack(({ maxUniqueIds }) => maxUniqueIds) },
  };
}
