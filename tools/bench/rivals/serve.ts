/** Requests of the bench, as JSON lines, to a peer of ours: the twin of python/protocol.py. */
import { createInterface } from 'node:readline';
import { median } from '../stopwatch.js';

/** Thrown for what a peer does not have. */
export class Lacks extends Error {}

export type Request = Readonly<Record<string, unknown>> & { readonly do: string };

/** Median milliseconds of a step. */
export async function timed(step: () => unknown, steps: number): Promise<{ ms: number }> {
  const taken: number[] = [];
  for (let n = 0; n < steps; n++) {
    const start = performance.now();
    await step();
    taken.push(performance.now() - start);
  }
  return { ms: median(taken) };
}

/** Answers until standard input ends. */
export async function serve(version: string, methods: Record<string, (request: never) => unknown>): Promise<void> {
  const say = (answer: unknown): void => void process.stdout.write(`${JSON.stringify(answer)}\n`);
  say({ version });
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line) as Request;
    try {
      say((await methods[request.do]!(request as never)) ?? {});
    } catch (error) {
      if (!(error instanceof Lacks)) console.error(error);
      say(error instanceof Lacks ? { lacks: error.message } : { error: String(error) });
    }
  }
}
