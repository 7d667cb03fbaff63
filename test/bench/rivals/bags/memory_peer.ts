/** What the memory allows, measured beside the others: random rows read, and read and written back. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { meanHotness, rowsOf, type BagCase } from './bag_cases.js';
import type { Measured } from '../peer.js';

/** For each distance of fetching ahead. */
const REPEATS = 3;

/** The compiled program, or why there is none. */
export function compileMemoryLimit(folder: string): { program: string } | { missing: string } {
  const source = fileURLToPath(new URL('../../memory_limit.c', import.meta.url));
  const program = join(folder, 'memory_limit');
  const args = ['-O3', '-march=native', '-pthread', source, '-o', program];
  const { status, stderr, error } = spawnSync('cc', args, { encoding: 'utf8' });
  return status === 0 ? { program } : { missing: error?.message ?? stderr };
}

export class MemoryPeer implements Measured {
  readonly name = 'memory';
  private readonly child: ChildProcess;
  private readonly lines: Interface;
  /** How often rows are read and written back: those of the table, and of a slot for each weight. */
  private readonly rewrites: number;

  constructor(program: string, bagCase: BagCase, batch: number) {
    const { dim, op, threads } = bagCase;
    const hot = meanHotness(bagCase);
    const args = [rowsOf(dim), dim, batch * hot, hot, threads, REPEATS].map(String);
    this.child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.child.stdout! });
    this.rewrites = REWRITES[op]!;
  }

  run(): Promise<number> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null): void => reject(new Error(`ended with ${code}`));
      this.child.once('close', ended);
      this.lines.once('line', (line) => {
        this.child.removeListener('close', ended);
        const { gatherMs, rewriteMs } = JSON.parse(line) as { gatherMs: number; rewriteMs: number };
        resolve(gatherMs + this.rewrites * rewriteMs);
      });
      this.child.stdin!.write('\n');
    });
  }

  stop(): void {
    this.child.stdin!.end();
  }
}

const REWRITES: Readonly<Record<string, number>> = {
  forward: 0,
  sgd: 1,
  rowWiseAdagrad: 1,
  adagrad: 2,
  adam: 3,
  adagradMomentum: 3,
  ftrl: 3,
};
