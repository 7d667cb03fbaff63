/** Whole steps of two builds in turn, in one run: ratios of medians. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./programs/bench.mjs', import.meta.url));
const MOST = 1.05;

/** What one step took: time, and time of all processors, which says more where others work beside. */
interface Took {
  readonly ms: number;
  readonly processorMs: number;
}

type Answer = { readonly names: string[] } | Took | { readonly error: string };

class Side {
  readonly #child: ChildProcess;

  constructor(root: string) {
    this.#child = fork(PROGRAM, [root], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  }

  /** Sends what to do and waits for the answer. */
  ask(request: object): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null): void => reject(new Error(`a side of the bench ended with ${code}`));
      this.#child.once('exit', ended);
      this.#child.once('message', (answer: Answer) => {
        this.#child.off('exit', ended);
        if ('error' in answer) reject(new Error(answer.error));
        else resolve(answer);
      });
      this.#child.send(request);
    });
  }

  end(): void {
    this.#child.kill();
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Prints a line for each step; returns 1 where one is slower than allowed, else 0. */
export async function bench(old: string, now: string, rounds: number, say: (line: string) => void): Promise<number> {
  const sides = [new Side(old), new Side(now)];
  const slower: string[] = [];
  try {
    const { names } = (await sides[1]!.ask({ list: true })) as { names: string[] };
    for (const name of names) {
      const took: [Took[], Took[]] = [[], []];
      for (const side of sides) await side.ask({ open: name });
      for (let round = 0; round < rounds; round++) {
        // Who begins changes, so that what one leaves behind in caches favours neither.
        for (const i of round % 2 === 0 ? [0, 1] : [1, 0]) {
          took[i]!.push((await sides[i]!.ask({ run: name })) as Took);
        }
      }
      for (const side of sides) await side.ask({ close: name });
      const [before, after] = took.map((each) => median(each.map(({ ms }) => ms))) as [number, number];
      const [used, uses] = took.map((each) => median(each.map(({ processorMs }) => processorMs))) as [number, number];
      const ratio = after / before;
      if (ratio > MOST) slower.push(name);
      const flag = ratio > MOST ? `  ABOVE ${MOST}` : '';
      const processors = `of processor time ${(uses / used).toFixed(3)}`;
      say(`${name}: ${after.toFixed(3)} ms, old ${before.toFixed(3)}, ratio ${ratio.toFixed(3)}, ${processors}${flag}`);
    }
  } finally {
    for (const side of sides) side.end();
  }
  console.log(JSON.stringify({ slower }));
  return slower.length === 0 ? 0 : 1;
}
