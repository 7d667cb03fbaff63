/** The CSR of one stack on one chip, within its limits. */
import { ValueError, described } from '../../../base/errors.js';
import { CsrIdOutOfRange, giveMemory, roundUp, type CsrFeature, type CsrParts } from '../../../backends/sparse_core.js';
import { partitionCsr } from '../../../backends/reference/partition_csr.js';
import { offers } from '../../../backends/model_kernels.js';
import { kernelSet } from '../../../backends/registry.js';
import { PartitionedCsrFormatTensor } from './partitioned_csr.js';

/** A feature, and what it is called in errors. */
export interface NamedCsrFeature extends CsrFeature {
  readonly argument: string;
}

/** Buffers and limits of a stack on one chip. */
export interface StackLimits {
  /** Slots for ids: a multiple of 8. */
  readonly idsFullSize: number;
  readonly maxMinibatchesPerSc: number;
  readonly allowIdDropping: boolean;
  /** Most ids, and most different ids, that a core may ask of one shard. */
  readonly maxIds: number;
  readonly maxUniqueIds: number;
}

/** A stack on one chip. */
export interface StackOnChip {
  readonly name: string;
  readonly features: readonly NamedCsrFeature[];
  readonly cores: number;
  readonly shards: number;
  /** Of all its features. */
  readonly samples: number;
  /** true: repeated ids are not merged, for steps that are not accumulated. */
  readonly keepsRepeats?: boolean;
}

/** Ids that one core asks of one shard, at most. */
export interface BucketMaxima {
  readonly maxIds: number;
  readonly maxUniqueIds: number;
  /** Slots that the ids take on a chip, for each sample of it. */
  readonly slotsPerSample: number;
}

function partsOf({ features, cores, shards, samples, keepsRepeats }: StackOnChip, capacity: number): CsrParts {
  try {
    const request = { features, cores, shards, samples, capacity };
    // The kernels merge. What is stepped occurrence by occurrence takes its time in TypeScript anyway.
    if (keepsRepeats === true) return partitionCsr({ ...request, keepsRepeats });
    const kernels = kernelSet();
    return offers(kernels, 'partitionCsr') ? kernels.partitionCsr(request) : partitionCsr(request);
  } catch (error) {
    if (!(error instanceof CsrIdOutOfRange)) throw error;
    const { feature, id, position, rows } = error;
    throw new ValueError(
      features[feature]!.argument,
      `ids in [0, ${rows}), the rows of the table`,
      described(`${id} at position ${position}`),
    );
  }
}

/** The most ids and different ids of a bucket, whatever the limits. */
export function bucketMaxima(stack: StackOnChip): BucketMaxima {
  const most = (counts: Int32Array): number => counts.reduce((max, count) => Math.max(max, count), 0);
  const { idCounts, uniqueIdCounts, tokenIds, memory } = partsOf(stack, 2 ** 31 - 8);
  const slotsPerSample = stack.samples === 0 ? 0 : tokenIds.length / stack.samples;
  if (memory !== undefined) giveMemory(memory);
  return { maxIds: most(idCounts), maxUniqueIds: most(uniqueIdCounts), slotsPerSample };
}

function checkBuckets({ name, cores, shards }: StackOnChip, parts: CsrParts, limits: StackLimits): void {
  for (let core = 0; core < cores; core++) {
    for (let shard = 0; shard < shards; shard++) {
      const place = core * shards + shard;
      const who = `core ${core} asks SparseCore ${shard} for`;
      const [ids, unique] = [parts.idCounts[place]!, parts.uniqueIdCounts[place]!];
      if (ids > limits.maxIds) {
        const expected = `at most ${limits.maxIds} ids of one SparseCore for the stack ${name}`;
        throw new ValueError('maxIdsPerTable', expected, described(`${ids}, which ${who}`));
      }
      if (unique > limits.maxUniqueIds) {
        const expected = `at most ${limits.maxUniqueIds} unique ids of one SparseCore for the stack ${name}`;
        throw new ValueError('maxUniqueIdsPerTable', expected, described(`${unique}, which ${who}`));
      }
    }
  }
}

/**
 * The CSR of a stack. ValueError where a bucket exceeds its limit, and where ids do not fit the buffer and may not be
 * dropped.
 */
export function partitionStack(stack: StackOnChip, limits: StackLimits): PartitionedCsrFormatTensor {
  const { idsFullSize, maxMinibatchesPerSc, allowIdDropping } = limits;
  if (idsFullSize % 8 !== 0) {
    const received = described(`${idsFullSize} for the stack ${stack.name}`);
    throw new ValueError(
      'maxIdsPerChipPerSample',
      'slots of a chip (maxIdsPerChipPerSample x samples) in eights',
      received,
    );
  }
  const parts = partsOf(stack, idsFullSize);
  checkBuckets(stack, parts, limits);
  const droppedIds = dropped(stack, parts);
  if (droppedIds > 0 && !allowIdDropping) {
    const expected = `ids of the stack ${stack.name} that fit the ${idsFullSize} slots of a chip`;
    const note = 'A larger maxIdsPerChipPerSample makes room; with allowIdDropping they are left out.';
    throw new ValueError('maxIdsPerChipPerSample', expected, described(`${droppedIds} ids more`), note);
  }
  const fields = {
    rowPointers: parts.rowPointers,
    sortedSampleIds: parts.sampleIds,
    sortedTokenIds: parts.tokenIds,
    sortedGains: parts.gains,
    sampleCount: stack.samples,
    numMinibatchesPerPhysicalSparseCore: 1,
    rowPointersUnpaddedSize: parts.rowPointers.length,
    idsUnpaddedSize: parts.tokenIds.length,
    rowPointersFullSize: maxMinibatchesPerSc * stack.cores * roundUp(stack.shards),
    idsFullSize,
    droppedIds,
  };
  return PartitionedCsrFormatTensor.inMemory(fields, parts.memory ?? null);
}

/** Ids that found no slot: those counted, less those between the starts and the ends of buckets. */
function dropped({ cores, shards }: StackOnChip, { idCounts, rowPointers }: CsrParts): number {
  const pointersPerCore = roundUp(shards);
  let [kept, end] = [0, 0];
  for (let core = 0; core < cores; core++) {
    for (let shard = 0; shard < shards; shard++) {
      const start = roundUp(end);
      end = rowPointers[core * pointersPerCore + shard]!;
      kept += Math.min(Math.max(0, end - start), idCounts[core * shards + shard]!);
    }
  }
  return idCounts.reduce((sum, count) => sum + count, 0) - kept;
}
