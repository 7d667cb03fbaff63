/** What the memory allows, measured beside the others: less than that no lookup takes, and no step after one. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { batchesOf, meanHotness, rowsOf, type BagCase } from './bag_cases.js';
import type { Measured } from '../peer.js';

/** For each distance of fetching ahead; the least of all counts. */
const REPEATS = 5;

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

  constructor(program: string, bagCase: BagCase, batch: number) {
    const { dim, op, threads } = bagCase;
    const hot = meanHotness(bagCase);
    const batches = batchesOf(bagCase, batch);
    const args = [rowsOf(dim), dim, batch * hot, hot, batches, SLOTS[op]!, threads, REPEATS].map(String);
    this.child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.child.stdout! });
  }

  run(): Promise<number> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null): void => reject(new Error(`ended with ${code}`));
      this.child.once('close', ended);
      this.lines.once('line', (line) => {
        this.child.removeListener('close', ended);
        resolve((JSON.parse(line) as { ms: number }).ms);
      });
      this.child.stdin!.write('\n');
    });
  }

  stop(): void {
    this.child.stdin!.end();
  }
}

/** Slots as large as the table; -1: there is no step. */
export const SLOTS: Readonly<Record<string, number>> = {
  forward: -1,
  sgd: 0,
  rowWiseAdagrad: 0,
  adagrad: 1,
  adam: 2,
  adagradMomentum: 2,
  ftrl: 2,
};
