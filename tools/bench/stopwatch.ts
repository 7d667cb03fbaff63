/** Timing for the benchmarks: medians, minima, and what other processes used meanwhile. */
import { cpus } from 'node:os';

export interface Timing {
  readonly msMedian: number;
  readonly msMin: number;
  /** Share of one processor that other processes used. */
  readonly otherCpu: number;
}

export function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!;
}

/** Milliseconds that all processors spent on anything, and that this process spent. */
function processorTime(): { busy: number; own: number } {
  let busy = 0;
  for (const { times } of cpus()) busy += times.user + times.sys + times.nice + times.irq;
  const { user, system } = process.cpuUsage();
  return { busy, own: (user + system) / 1000 };
}

/** How busy the machine is from the moment that this is made. */
export class Load {
  private readonly before = processorTime();
  private readonly start = performance.now();

  /** Share of one processor that other processes have used. */
  ofOthers(): number {
    const { before, start } = this;
    const after = processorTime();
    return Math.max(0, after.busy - before.busy - (after.own - before.own)) / (performance.now() - start);
  }
}

/** Runs `warmUps` times unmeasured, then `repeats` times measured. */
export async function time(run: (n: number) => void | Promise<unknown>, repeats: number, warmUps = 5): Promise<Timing> {
  for (let n = 0; n < warmUps; n++) await run(n);
  const load = new Load();
  const taken: number[] = [];
  for (let n = 0; n < repeats; n++) {
    const from = performance.now();
    await run(n);
    taken.push(performance.now() - from);
  }
  const otherCpu = load.ofOthers();
  return { msMedian: median(taken), msMin: Math.min(...taken), otherCpu };
}

/** One JSON line, numbers to four digits. */
export function printLine(line: object): void {
  console.log(JSON.stringify(line, (_, x: unknown) => (typeof x === 'number' ? Number(x.toPrecision(4)) : x)));
}
