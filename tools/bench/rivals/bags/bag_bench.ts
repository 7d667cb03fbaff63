/** Bags: our kernels, the memory's limit and the rivals, case by case in turns. */
import { mkdirSync, rmSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { SLOT_NAMES, type UpdateName } from '../../../../src/rules/rules.js';
import { agreementOf, type Agreement } from './bag_agreement.js';
import { batchesOf, drawBags, nameOf, rowsOf, type BagCase } from './bag_cases.js';
import { writeBags } from './bag_files.js';
import { MemoryPeer, compileMemoryLimit } from './memory_peer.js';
import type { Measured, Peer } from '../peer.js';
import { BASE, bagContestants } from '../peers.js';
import { isWanted, lineOf, startAll, type Options } from '../report.js';
import { takeTurns } from '../rounds.js';

const BATCH = 4096;
/** Who holds a table with slots of its own at the same time. */
const HOLDERS = 7;

/** What a line needs while all peers hold their tables. */
function bytesOf({ op, dim }: BagCase): number {
  const arrays = op === 'forward' ? 1 : 1 + SLOT_NAMES[op as UpdateName].length;
  return HOLDERS * arrays * rowsOf(dim) * dim * 4;
}

class BagBench {
  private peers: Peer[] = [];
  private threads = 0;
  /** By case of few rows and peer. */
  private readonly agreements = new Map<string, Agreement>();

  constructor(
    private readonly options: Options,
    private readonly memory: string | null,
  ) {}

  async measure(bagCase: BagCase): Promise<void> {
    const { report, folder, rounds, turnMs } = this.options;
    if (bagCase.threads !== this.threads || this.peers.some((peer) => !peer.isAlive)) await this.restart(bagCase);
    const name = nameOf(bagCase);
    if (freemem() < bytesOf(bagCase)) {
      report.notes.add(`${name}: left out, it needs ${(bytesOf(bagCase) / 1e9).toFixed(1)} GB of free memory`);
      return;
    }
    const others = new Map<string, string>(report.missing);
    const differing = new Set<string>();
    const agreeing = await this.agreeing(bagCase, others, differing);
    const at = join(folder, 'bags');
    mkdirSync(at, { recursive: true });
    const size = { rows: rowsOf(bagCase.dim), batch: BATCH, batches: batchesOf(bagCase, BATCH) };
    writeBags(at, drawBags(bagCase, size, 11));
    const open = {
      do: 'open',
      rows: size.rows,
      dim: bagCase.dim,
      table: null,
      optimizer: bagCase.op === 'forward' ? null : bagCase.op,
      learningRate: 1e-3,
    };
    const ready: Measured[] = [];
    for (const peer of agreeing) {
      for (const request of [open, { do: 'bags', folder: at, batch: BATCH, combiner: bagCase.combiner }]) {
        const { lacks, error } = await peer.ask(request);
        if (lacks !== undefined || error !== undefined) others.set(peer.name, lacks ?? error!);
      }
      if (!others.has(peer.name)) ready.push(peer);
    }
    const limit = this.memory === null || bagCase.ids === 'zipf' ? null : new MemoryPeer(this.memory, bagCase, BATCH);
    try {
      const times = await takeTurns(limit === null ? ready : [...ready, limit], { rounds, turnMs });
      for (const [peer, why] of [...times, ...others]) {
        if (typeof why === 'string' && !report.missing.has(peer)) report.notes.add(`${peer}: ${bagCase.op}: ${why}`);
      }
      report.lines.push({ ...lineOf(name, BASE, times, others), threads: bagCase.threads, differing });
    } finally {
      limit?.stop();
      for (const peer of agreeing) await peer.ask({ do: 'close' });
      rmSync(at, { recursive: true });
    }
  }

  stop(): void {
    for (const peer of this.peers) peer.stop();
  }

  private async restart({ threads }: BagCase): Promise<void> {
    this.stop();
    this.threads = threads;
    this.peers = await startAll(bagContestants(this.options.pythons), threads, this.options);
  }

  /** Peers that compute what the reference does. */
  private async agreeing(bagCase: BagCase, others: Map<string, string>, differing: Set<string>): Promise<Peer[]> {
    const { folder, report } = this.options;
    const found: Peer[] = [];
    for (const peer of this.peers) {
      const { op, combiner, isWeighted, hot, dim } = bagCase;
      const key = [peer.name, op, combiner, isWeighted, hot === 'variable', Math.min(dim, 32)].join();
      const agreement = this.agreements.get(key) ?? (await agreementOf(peer, bagCase, join(folder, 'check')));
      this.agreements.set(key, agreement);
      if (agreement === 'equal') found.push(peer);
      else if (agreement === 'every row') {
        report.notes.add(`${peer.name}: its ${op} steps every row of the table, ours those of the batch`);
        found.push(peer);
      } else if ('lacks' in agreement) others.set(peer.name, agreement.lacks);
      else if (peer.name === BASE) throw new Error(`our kernels: ${nameOf(bagCase)}: ${JSON.stringify(agreement)}`);
      else if ('fails' in agreement) {
        others.set(peer.name, agreement.fails);
        report.notes.add(`${peer.name}: ${op}, ${combiner}: left out: ${agreement.fails}`);
      } else {
        found.push(peer);
        differing.add(peer.name);
        report.notes.add(`${peer.name}: ${op}, ${combiner}: computes something else, ${agreement.differs}`);
      }
    }
    return found;
  }
}

export async function benchBags(cases: readonly BagCase[], options: Options): Promise<void> {
  const compiled = isWanted(options, 'memory') ? compileMemoryLimit(options.folder) : { program: null };
  if ('missing' in compiled) options.report.missing.set('memory', compiled.missing);
  const bench = new BagBench(options, 'program' in compiled ? compiled.program : null);
  const sorted = [...cases].sort((a, b) => b.threads - a.threads);
  try {
    for (const [done, bagCase] of sorted.entries()) {
      options.progress(done, `${nameOf(bagCase)}, ${bagCase.threads} threads`);
      await bench.measure(bagCase);
    }
  } finally {
    bench.stop();
  }
}
