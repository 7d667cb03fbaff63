/** The ids of a batch as the CSR of each stack, chip by chip. */
import type { HostBags } from '../../backends/kernel_set.js';
import { countCsr, mostCsrSlots, roundUp, type StackBatch } from '../../backends/sparse_core.js';
import { ValueError, described } from '../../base/errors.js';
import { warnOnce } from '../../base/warn_once.js';
import type { LimitsByStack, SparseCoreEmbeddingConfig } from '../config/sparse_core_embedding_config.js';
import { columnOffset } from './layouts.js';
import { partitionStack, type NamedCsrFeature, type StackLimits, type StackOnChip } from './csr/partition_stack.js';
import { PartitionedCsrFormatTensor } from './csr/partitioned_csr.js';
import type { SparseCorePlan, StackPlan } from './stack_plan.js';

/** By stack. */
export type Partitioned = Record<string, PartitionedCsrFormatTensor>;

/** Where no limit is given for a stack. */
const DEFAULT_LIMIT = 256;
const MINIBATCHES = 64;

/** The bags of some samples. */
function bagsOf({ values, rowSplits, weights }: HostBags, first: number, end: number): HostBags {
  const [from, to] = [rowSplits[first]!, rowSplits[end]!];
  return {
    values: values.subarray(from, to),
    rowSplits: rowSplits.subarray(first, end + 1).map((split) => split - from),
    weights: weights === null ? null : weights.subarray(from, to),
  };
}

/** So many bags, and empty ones up to a number that the cores divide. */
export function paddedBags(bags: number, shards: number): number {
  return Math.ceil(bags / shards) * shards;
}

/** The same bags, and empty ones behind them: a number that the cores divide. */
export function withEmptyBags({ rowSplits, ...rest }: HostBags, shards: number): HostBags {
  const bags = rowSplits.length - 1;
  const splits = new Int32Array(paddedBags(bags, shards) + 1).fill(rowSplits[bags]!);
  splits.set(rowSplits);
  return { rowSplits: splits, ...rest };
}

/** Features of a stack on `cores` of its cores, part `part` of so many; `bags` by the place of a feature. */
export function stackOnCores(
  plan: SparseCorePlan,
  stack: StackPlan,
  bags: readonly HostBags[],
  { cores, part, parts }: { cores: number; part: number; parts: number },
): StackOnChip {
  const { shards } = plan;
  const features = stack.features.map(({ feature, place, layout, sampleOffset }): NamedCsrFeature => {
    const all = bags[place]!;
    const samples = (all.rowSplits.length - 1) / parts;
    return {
      ...bagsOf(all, part * samples, (part + 1) * samples),
      argument: feature.path,
      combiner: feature.table.config.combiner,
      rows: feature.table.config.vocabularySize,
      columnOffset: columnOffset(layout),
      rotation: layout.sparseCoreShardRotation,
      sampleOffset: (sampleOffset * cores) / shards,
    };
  });
  const keepsRepeats = stack.optimizer !== null && !stack.optimizer.useGradientAccumulation;
  return { name: stack.name, features, cores, shards, samples: (stack.samples * cores) / shards, keepsRepeats };
}

/** Where there is no limit for a stack: `default` sets one, with a warning; `none` leaves it out. */
type Unlimited = 'default' | 'none';

function limitOf(limits: LimitsByStack | null, stack: string, field: string, unlimited: Unlimited): number {
  const limit = limits !== null && Object.hasOwn(limits, stack) ? limits[stack] : undefined;
  if (limit !== undefined) return limit;
  if (unlimited === 'none') return Infinity;
  warnOnce(`${field} has no limit for the stack ${stack}: ${DEFAULT_LIMIT} is used. tuneLimits proposes one.`);
  return DEFAULT_LIMIT;
}

/** Without a config there is room for all ids of the batch. */
function limitsOf(
  config: SparseCoreEmbeddingConfig | null,
  { name }: StackPlan,
  onChip: StackOnChip,
  unlimited: Unlimited,
): StackLimits {
  const { samples } = onChip;
  if (config === null) {
    const idsFullSize = mostCsrSlots({ ...onChip, capacity: Infinity });
    const none = { maxIds: Infinity, maxUniqueIds: Infinity };
    return { idsFullSize, maxMinibatchesPerSc: MINIBATCHES, allowIdDropping: false, ...none };
  }
  const slots = config.maxIdsPerChipPerSample * samples;
  return {
    // Batches of a layer have any number of samples, and slots come in eights.
    idsFullSize: unlimited === 'none' ? roundUp(slots) : slots,
    maxMinibatchesPerSc: MINIBATCHES,
    allowIdDropping: config.allowIdDropping,
    maxIds: limitOf(config.maxIdsPerTable, name, 'maxIdsPerTable', unlimited),
    maxUniqueIds: limitOf(config.maxUniqueIdsPerTable, name, 'maxUniqueIdsPerTable', unlimited),
  };
}

/** The CSR of every stack for a whole batch; `config`: null for buffers as large as the batch asks for. */
export function partitionBatch(
  plan: SparseCorePlan,
  bags: readonly HostBags[],
  config: SparseCoreEmbeddingConfig | null,
  unlimited: Unlimited = 'default',
): Partitioned {
  const { chips, coresPerChip } = plan.cores;
  const ofStack = (stack: StackPlan): PartitionedCsrFormatTensor => {
    const parts = Array.from({ length: chips }, (_, part) => {
      const onChip = stackOnCores(plan, stack, bags, { cores: coresPerChip, part, parts: chips });
      return partitionStack(onChip, limitsOf(config, stack, onChip, unlimited));
    });
    const whole = joined(parts);
    for (const part of parts) if (part !== whole) part.dispose();
    return whole;
  };
  return Object.fromEntries(plan.stacks.map((stack) => [stack.name, ofStack(stack)]));
}

/** The CSR of every stack for the samples of one core. */
export function partitionCore(
  plan: SparseCorePlan,
  bags: readonly HostBags[],
  config: SparseCoreEmbeddingConfig,
): Partitioned {
  const ofStack = (stack: StackPlan): PartitionedCsrFormatTensor => {
    const onCore = stackOnCores(plan, stack, bags, { cores: 1, part: 0, parts: 1 });
    return partitionStack(onCore, limitsOf(config, stack, onCore, 'default'));
  };
  return Object.fromEntries(plan.stacks.map((stack) => [stack.name, ofStack(stack)]));
}

/** CSRs of neighbouring cores as one: slots and pointers one after another. */
export function joined(parts: readonly PartitionedCsrFormatTensor[]): PartitionedCsrFormatTensor {
  if (parts.length === 1) return parts[0]!;
  const sum = (of: (part: PartitionedCsrFormatTensor) => number): number =>
    parts.reduce((total, part) => total + of(part), 0);
  const [pointers, ids] = [sum((part) => part.rowPointers.length), sum((part) => part.sortedTokenIds.length)];
  const rowPointers = new Int32Array(pointers);
  const [sortedSampleIds, sortedTokenIds] = [new Int32Array(ids), new Int32Array(ids)];
  const sortedGains = new Float32Array(ids);
  let [pointer, id] = [0, 0];
  for (const part of parts) {
    for (const end of part.rowPointers) rowPointers[pointer++] = id + end;
    sortedSampleIds.set(part.sortedSampleIds, id);
    sortedTokenIds.set(part.sortedTokenIds, id);
    sortedGains.set(part.sortedGains, id);
    id += part.sortedTokenIds.length;
  }
  return new PartitionedCsrFormatTensor({
    rowPointers,
    sortedSampleIds,
    sortedTokenIds,
    sortedGains,
    sampleCount: sum((part) => part.sampleCount),
    numMinibatchesPerPhysicalSparseCore: parts[0]!.numMinibatchesPerPhysicalSparseCore,
    rowPointersUnpaddedSize: pointers,
    idsUnpaddedSize: ids,
    rowPointersFullSize: sum((part) => part.rowPointersFullSize),
    idsFullSize: sum((part) => part.idsFullSize),
    droppedIds: sum((part) => part.droppedIds),
  });
}

/** The CSR of a stack as devices take it, checked: nothing is read outside of what is there, even if users made it. */
export function stackBatch(
  partitioned: PartitionedCsrFormatTensor,
  { shards }: SparseCorePlan,
  stack: StackPlan,
  argument: string,
): StackBatch {
  const { rowPointers, sortedSampleIds, sortedTokenIds, sortedGains, sampleCount } = partitioned;
  const cores = rowPointers.length / roundUp(shards);
  if (sampleCount !== stack.samples || cores !== shards) {
    const expected = `the CSR of ${stack.samples} samples on ${shards} SparseCores`;
    throw new ValueError(argument, expected, described(`that of ${sampleCount} on ${cores}`));
  }
  const samples = stack.samples / shards;
  const arrays = { rowPointers, sampleIds: sortedSampleIds, tokenIds: sortedTokenIds, gains: sortedGains };
  const csr = { ...arrays, cores: shards, shards, samples };
  const counts = countCsr(csr, stack.rowsPerShard);
  const { droppedIds, idsFullSize: slots, numMinibatchesPerPhysicalSparseCore: minibatches } = partitioned;
  if (counts !== null) return { csr, counts, buffers: { droppedIds, slots, minibatches } };
  const expected = `pointers, samples and rows within the stack ${stack.name}`;
  throw new ValueError(argument, expected, described('others'));
}
