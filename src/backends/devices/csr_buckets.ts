/** Reads the CSR of a stack in the exchange memory: which ids a core asks a shard for, and for which samples. */
import { CSR_ALIGNMENT, roundUp } from '../sparse_core.js';
import type { HostBags } from '../kernel_set.js';
import type { CsrAt, CsrBagsAt, ExchangeMemory } from './device.js';
import type { Scratch, UniformSplits } from './exchange_memory.js';

/** The slots of one bucket. */
interface Bucket {
  readonly start: number;
  readonly end: number;
}

export class CsrBuckets {
  private readonly tokens: Int32Array;
  private readonly samples: Int32Array;
  private readonly gains: Float32Array;
  private readonly pointers: Int32Array;

  constructor(
    { ints, floats }: Pick<ExchangeMemory, 'ints' | 'floats'>,
    private readonly at: CsrAt,
    private readonly scratch: Scratch,
  ) {
    const { rowPointers, sampleIds, tokenIds, gains, ids, cores, shards } = at;
    this.pointers = ints.subarray(rowPointers, rowPointers + cores * roundUp(shards));
    this.samples = ints.subarray(sampleIds, sampleIds + ids);
    this.tokens = ints.subarray(tokenIds, tokenIds + ids);
    this.gains = floats.subarray(gains, gains + ids);
  }

  private bucket(core: number, shard: number): Bucket {
    const place = core * roundUp(this.at.shards) + shard;
    // Behind the shards a core repeats its last pointer, so the one before a core's first is where the last core ended.
    const before = place === 0 ? 0 : this.pointers[place - 1]!;
    return { start: roundUp(before, CSR_ALIGNMENT), end: this.pointers[place]! };
  }

  /** The bags of `at`; `uniform` gives the splits of single rows. */
  bags(at: CsrBagsAt, uniform: UniformSplits): HostBags {
    if ('core' in at) return this.bagsOfCore(at.core, at.firstRows);
    if ('samplesOn' in at) return this.bagsOfShard(at.samplesOn);
    const values = this.runs(at.rowsOf);
    return { values, rowSplits: uniform.of(values.length, 1), weights: null };
  }

  /** Ids of the buckets of a shard in order, one for each run of equal ones. */
  private runs(shard: number): Int32Array {
    const { cores } = this.at;
    const buckets = Array.from({ length: cores }, (_, core) => this.bucket(core, shard));
    const runs = this.scratch.takeInts(buckets.reduce((sum, { start, end }) => sum + Math.max(0, end - start), 0));
    let count = 0;
    for (const { start, end } of buckets)
      for (let i = start; i < end; i++)
        if (i === start || this.tokens[i] !== this.tokens[i - 1]) runs[count++] = this.tokens[i]!;
    return runs.subarray(0, count);
  }

  private bagsOfCore(core: number, firstRows: readonly number[]): HostBags {
    const { shards, samples } = this.at;
    const rowSplits = this.scratch.takeInts(samples + 1).fill(0);
    this.count(core, core, 0, shards, rowSplits);
    const values = this.scratch.takeInts(rowSplits[samples]!);
    const weights = this.scratch.take(values.length);
    const next = this.scratch.takeInts(samples);
    next.set(rowSplits.subarray(0, samples));
    for (let shard = 0; shard < shards; shard++) {
      const { start, end } = this.bucket(core, shard);
      let run = firstRows[shard]! - 1;
      for (let i = start; i < end; i++) {
        if (i === start || this.tokens[i] !== this.tokens[i - 1]) run++;
        const place = next[this.samples[i]!]!++;
        values[place] = run;
        weights[place] = this.gains[i]!;
      }
    }
    return { values, rowSplits, weights };
  }

  private bagsOfShard(shard: number): HostBags {
    const { cores, samples } = this.at;
    const batch = cores * samples;
    const rowSplits = this.scratch.takeInts(batch + 1).fill(0);
    this.count(0, cores - 1, shard, shard + 1, rowSplits);
    const values = this.scratch.takeInts(rowSplits[batch]!);
    const weights = this.scratch.take(values.length);
    const next = this.scratch.takeInts(batch);
    next.set(rowSplits.subarray(0, batch));
    for (let core = 0; core < cores; core++) {
      const { start, end } = this.bucket(core, shard);
      for (let i = start; i < end; i++) {
        const place = next[core * samples + this.samples[i]!]!++;
        values[place] = this.tokens[i]!;
        weights[place] = this.gains[i]!;
      }
    }
    return { values, rowSplits, weights };
  }

  /** Row splits over the samples of some cores, from the ids that they have on some shards. */
  private count(first: number, last: number, shard: number, endShard: number, rowSplits: Int32Array): void {
    const { samples } = this.at;
    for (let core = first; core <= last; core++) {
      for (let each = shard; each < endShard; each++) {
        const { start, end } = this.bucket(core, each);
        for (let i = start; i < end; i++) rowSplits[(core - first) * samples + this.samples[i]! + 1]!++;
      }
    }
    for (let sample = 1; sample < rowSplits.length; sample++) rowSplits[sample]! += rowSplits[sample - 1]!;
  }
}
