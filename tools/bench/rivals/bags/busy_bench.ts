/** Two threads of ours beside a process that keeps a core busy: what they lose in waiting for one another. */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../../stopwatch.js';
import { batchesOf, drawBags, nameOf, rowsOf, type BagCase } from './bag_cases.js';
import { writeBags } from './bag_files.js';
import type { Peer } from '../peer.js';
import { BASE, bagContestants } from '../peers.js';
import { startAll, type Options } from '../report.js';
import { ratioOf, takeTurns } from '../rounds.js';

const BATCH = 4096;

export interface BusyLine {
  readonly name: string;
  readonly isBusy: boolean;
  readonly msOfOne: number;
  readonly msOfTwo: number;
  /** Speed of two threads: 1 is that of one. */
  readonly speed: number;
}

async function open(peer: Peer, bagCase: BagCase, folder: string): Promise<void> {
  const { dim, op, combiner } = bagCase;
  const optimizer = op === 'forward' ? null : op;
  const requests = [
    { do: 'open', rows: rowsOf(dim), dim, table: null, optimizer, learningRate: 1e-3 },
    { do: 'bags', folder, batch: BATCH, combiner },
  ];
  for (const request of requests) {
    const { error, lacks } = await peer.ask(request);
    if (error !== undefined || lacks !== undefined) throw new Error(`${peer.name}: ${error ?? lacks}`);
  }
}

export async function benchBusy(bagCase: BagCase, options: Options): Promise<BusyLine[]> {
  const { rounds, turnMs } = options;
  const folder = join(options.folder, 'busy');
  mkdirSync(folder, { recursive: true });
  const size = { rows: rowsOf(bagCase.dim), batch: BATCH, batches: batchesOf(bagCase, BATCH) };
  writeBags(folder, drawBags(bagCase, size, 11));
  const contestants = bagContestants([]).filter(({ name }) => name === BASE);
  const peers: Peer[] = [];
  const lines: BusyLine[] = [];
  try {
    for (const threads of [1, 2]) peers.push(...(await startAll(contestants, threads, options)));
    for (const peer of peers) await open(peer, bagCase, folder);
    const named = peers.map((peer, i) => ({ name: `${i + 1}`, run: (steps: number) => peer.run(steps) }));
    for (const isBusy of [false, true]) {
      const busy = isBusy ? spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }) : null;
      try {
        const times = await takeTurns(named, { rounds, turnMs: 5 * turnMs });
        const [one, two] = [times.get('1') as number[], times.get('2') as number[]];
        const speed = 1 / ratioOf(two, one);
        lines.push({ name: nameOf(bagCase), isBusy, msOfOne: median(one), msOfTwo: median(two), speed });
      } finally {
        busy?.kill('SIGKILL');
      }
    }
  } finally {
    for (const peer of peers) peer.stop();
    rmSync(folder, { recursive: true });
  }
  return lines;
}
