/** Batches that are enqueued core by core: kept until every core has its part. */
import { RuntimeError, described } from '../../base/errors.js';
import { joined, type Partitioned } from './csr_batches.js';
import type { PartitionedCsrFormatTensor } from './csr/partitioned_csr.js';

/** One batch, by core. */
class Batch {
  readonly parts: (Partitioned | undefined)[];
  constructor(cores: number) {
    this.parts = new Array<Partitioned | undefined>(cores).fill(undefined);
  }
}

export class DeviceParts {
  /** Batches that some core still lacks, oldest first. */
  private waiting: Batch[] = [];
  private readonly batches = new WeakMap<PartitionedCsrFormatTensor, Batch>();

  constructor(private readonly cores: number) {}

  /** The part of a core goes to the first batch that lacks it. */
  add(core: number, part: Partitioned): void {
    let batch = this.waiting.find(({ parts }) => parts[core] === undefined);
    if (batch === undefined) this.waiting.push((batch = new Batch(this.cores)));
    batch.parts[core] = part;
    for (const csr of Object.values(part)) this.batches.set(csr, batch);
    this.waiting = this.waiting.filter(({ parts }) => parts.includes(undefined));
  }

  /** The whole batch that a part belongs to; what is no part comes back as it is. RuntimeError while a core lacks its own. */
  whole(partitioned: Partitioned): Partitioned {
    const batch = Object.values(partitioned)
      .map((csr) => this.batches.get(csr))
      .find((found) => found !== undefined);
    if (batch === undefined) return partitioned;
    const missing = batch.parts.flatMap((part, core) => (part === undefined ? [`/device:TPU:${core}`] : []));
    if (missing.length > 0) {
      const note = `enqueue(features, weights, {device}) is missing for ${missing.join(', ')}.`;
      throw new RuntimeError('dequeue', 'a batch of which every core has its part', described('one without'), note);
    }
    const parts = batch.parts as Partitioned[];
    return Object.fromEntries(
      Object.keys(partitioned).map((stack) => [stack, joined(parts.map((part) => part[stack]!))]),
    );
  }
}
