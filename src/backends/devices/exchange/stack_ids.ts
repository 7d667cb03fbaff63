/** The ids of stacks on SparseCores: devices read their CSR as it is; and what they cost on the links. */
import type { BagOptions } from '../../kernel_set.js';
import type { HostCsr, StackBatch } from '../../sparse_core.js';
import type { CsrAt } from '../device.js';
import type { DeviceTable } from '../machine/device_table.js';
import type { Machine } from '../machine/machine.js';
import type { ExchangeLayout } from './place_ids.js';

const BYTES = 4;
/** Words of an id in the CSR: sample, row, gain. */
const ID_WORDS = 3;

/** The divisors of samples are in the gains of their ids. */
export const SUM_OF_SAMPLE: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };

export function placeCsr(exchange: ExchangeLayout, csr: HostCsr): CsrAt {
  const { cores, shards, samples } = csr;
  return {
    rowPointers: exchange.ints(csr.rowPointers),
    sampleIds: exchange.ints(csr.sampleIds),
    tokenIds: exchange.ints(csr.tokenIds),
    gains: exchange.floats(csr.gains),
    ids: csr.tokenIds.length,
    cores,
    shards,
    samples,
  };
}

/** What a lookup or a step of a stack moves between devices: shard s of its table lies on device s, with core s. */
export class StackTraffic {
  private readonly columns: number;

  constructor(
    private readonly machine: Machine,
    private readonly table: DeviceTable,
    private readonly batch: StackBatch,
  ) {
    this.columns = table.layout.columns;
  }

  /** Adds the words that each device exchanges: ids of its samples, rows that come and go, rows of its samples. */
  book(words: number[]): void {
    const { columns } = this;
    const { cores, samples } = this.batch.csr;
    for (let core = 0; core < cores; core++) words[core]! += samples * columns;
    this.eachBucket((core, shard, ids, runs) => {
      words[core]! += ids * ID_WORDS + runs * columns;
      if (shard !== core) words[shard]! += runs * (1 + columns);
    });
  }

  lookedUp(): void {
    const { machine, table, batch, columns } = this;
    const { csr, counts, buffers } = batch;
    const { counters } = machine;
    let all = 0;
    this.eachBucket((core, shard, ids, runs) => {
      counters.read(shard, ids, columns);
      counters.unique(shard, runs);
      counters.send(table.owner, core, shard, BYTES * runs, runs);
      counters.send(table.owner, shard, core, BYTES * runs * columns);
      all += ids;
    });
    counters.lookedUp(table.owner, all);
    counters.stacks.lookedUp({
      name: table.name,
      columns,
      samples: csr.cores * csr.samples,
      ids: counts.ids,
      rows: counts.runs,
      slotsUsed: csr.tokenIds.length,
      ...buffers,
    });
  }

  /** Each core sends the gradients of the rows that it looked up. */
  gradients(): void {
    const { machine, table, columns } = this;
    this.eachBucket((core, shard, _ids, runs) => {
      machine.counters.send(table.owner, core, shard, BYTES * runs * (1 + columns));
    });
  }

  private eachBucket(visit: (core: number, shard: number, ids: number, runs: number) => void): void {
    const { csr, counts } = this.batch;
    for (let core = 0; core < csr.cores; core++) {
      for (let shard = 0; shard < csr.shards; shard++) {
        const place = core * csr.shards + shard;
        visit(core, shard, counts.ids[place]!, counts.runs[place]!);
      }
    }
  }
}
