/** The test under load: a process of its own sends events and asks for recommendations. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Options } from './options.mjs';

/** What the other process prints as its last line. */
export interface LoadResult {
  readonly eventsLearnedPerSecond: number;
  readonly eventsPerSecond: number;
  readonly recommendationsPerSecond: number;
  readonly milliseconds: { readonly p50: number; readonly p99: number };
  readonly failed: number;
  readonly items: number;
  readonly auc: number | null;
  readonly recall: number;
}

export async function load(url: string, options: Options, say: (line: string) => void): Promise<void> {
  const client = fileURLToPath(new URL('./load_client.ts', import.meta.url));
  const args = [...process.execArgv, client, url];
  for (const name of ['load', 'made-up-items', 'events-per-second', 'asks-per-second', 'seed'] as const) {
    args.push(String(options[name]));
  }
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  for await (const part of child.stdout) {
    printed += String(part);
    const lines = printed.split('\n');
    printed = lines.pop()!;
    for (const line of lines)
      if (line.startsWith('{')) report(JSON.parse(line) as LoadResult, options, say);
      else say(line);
  }
  const code = child.exitCode ?? (await new Promise<number | null>((resolve) => child.once('exit', resolve)));
  if (code !== 0) throw new Error(`the process that makes the load ended with code ${code}`);
}

function report(found: LoadResult, { json }: Options, say: (line: string) => void): void {
  const { milliseconds, auc } = found;
  say(
    `${Math.round(found.eventsLearnedPerSecond)} events learned a second; ` +
      `${Math.round(found.recommendationsPerSecond)} recommendations a second over ${found.items} items, ` +
      `p50 ${milliseconds.p50} ms, p99 ${milliseconds.p99} ms; ${found.failed} requests failed`,
  );
  say(`progressive AUC ${auc?.toFixed(4) ?? 'none'}, recall@10 ${found.recall.toFixed(4)} in the last seconds`);
  if (json) say(JSON.stringify(found));
}
