/** Bags: our kernels, the memory's limit and the rivals, case by case in turns. */
import { mkdirSync, rmSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { SLOT_NAMES, type OptimizerName } from '../../../src/types.js';
import { median } from '../stopwatch.js';
import { agreementOf, type Agreement } from './bag_agreement.js';
import { batchesOf, drawBags, nameOf, rowsOf, type BagCase } from './bag_cases.js';
import { writeBags } from './bag_files.js';
import { MemoryPeer, compileMemoryLimit } from './memory_peer.js';
import type { Measured, Peer } from './peer.js';
import { BASE, bagContestants, start } from './peers.js';
import { ratioOf, takeTurns, type RoundOptions, type Rounds } from './rounds.js';

/** One line of the table. */
export interface Line {
  readonly name: string;
  readonly threads: number;
  /** Median milliseconds of ours. */
  readonly ms: number;
  /** By peer: how many times as long as ours, or why there is no number. */
  readonly ratios: ReadonlyMap<string, number | string>;
}

export interface Report {
  readonly lines: Line[];
  readonly versions: Map<string, string>;
  /** By peer: why it could not start. */
  readonly missing: Map<string, string>;
  /** What differed from the reference, and what was refused. */
  readonly notes: Set<string>;
}

export const newReport = (): Report => ({ lines: [], versions: new Map(), missing: new Map(), notes: new Set() });

const BATCH = 4096;
/** Who holds a table with slots of its own at the same time. */
const HOLDERS = 7;

interface Options extends RoundOptions {
  readonly pythons: readonly string[];
  readonly folder: string;
  readonly report: Report;
  readonly progress: (done: number, what: string) => void;
}

/** Peers that could start. */
async function startAll(threads: number, { pythons, report }: Options): Promise<Peer[]> {
  const started: Peer[] = [];
  for (const contestant of bagContestants(pythons)) {
    const peer = await start(contestant, threads);
    if (typeof peer === 'string') report.missing.set(contestant.name, peer);
    else {
      report.versions.set(peer.name, peer.version);
      started.push(peer);
    }
  }
  return started;
}

/** What a line needs while all peers hold their tables. */
function bytesOf({ op, dim }: BagCase): number {
  const arrays = op === 'forward' ? 1 : 1 + SLOT_NAMES[op as OptimizerName].length;
  return HOLDERS * arrays * rowsOf(dim) * dim * 4;
}

export function lineOf(name: string, threads: number, times: Rounds, others: ReadonlyMap<string, string>): Line {
  const base = times.get(BASE);
  if (base === undefined || typeof base === 'string') throw new Error(`${name}: ours failed: ${base}`);
  const ratios = new Map<string, number | string>(others);
  for (const [peer, found] of times) {
    if (peer !== BASE) ratios.set(peer, typeof found === 'string' ? found : ratioOf(found, base));
  }
  return { name, threads, ms: median(base), ratios };
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
    const agreeing = await this.agreeing(bagCase, others);
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
      report.lines.push(lineOf(name, bagCase.threads, times, others));
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
    this.peers = await startAll(threads, this.options);
  }

  /** Peers that compute what the reference does. */
  private async agreeing(bagCase: BagCase, others: Map<string, string>): Promise<Peer[]> {
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
      else if (peer.name === BASE) throw new Error(`our kernels: ${nameOf(bagCase)}: ${agreement.differs}`);
      else {
        others.set(peer.name, 'differs');
        report.notes.add(`${peer.name}: ${op}, ${combiner}: left out, ${agreement.differs}`);
      }
    }
    return found;
  }
}

export async function benchBags(cases: readonly BagCase[], options: Options): Promise<void> {
  const compiled = compileMemoryLimit(options.folder);
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
