/**
 * `emb.ann` on clustered rows: recall and processor time of a search beside `emb.topK`, with faiss and usearch in the same
 * run, each on one thread. Prints JSON lines.
 *   node --import tsx tools/bench/ranking/neighbours.ts [--python python3] [--rows 1000000] [--clusters 1000] [--rounds 5]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { Random } from '../../../test/helpers/random.js';
import { Load, median, printLine } from '../stopwatch.js';

const { values: given } = parseArgs({
  options: {
    python: { type: 'string', default: 'python3' },
    rows: { type: 'string', default: '1000000' },
    clusters: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
  },
});
const [ROWS, CLUSTERS, ROUNDS] = [Number(given.rows), Number(given.clusters), Number(given.rounds)];
const [QUERIES, DIM, K, LISTS] = [1000, 64, 10, 4096];
const random = new Random(11);

function normals(count: number): Float32Array {
  return Float32Array.from({ length: count }, () => {
    return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  });
}

/** Rows half a standard deviation around centers that are one apart. */
function clustered(rows: number, centers: Float32Array): Float32Array {
  const numbers = normals(rows * DIM);
  for (let row = 0; row < rows; row++) {
    const center = random.whole(0, CLUSTERS) * DIM;
    for (let i = 0; i < DIM; i++) numbers[row * DIM + i] = centers[center + i]! + 0.5 * numbers[row * DIM + i]!;
  }
  return numbers;
}

/** Processor time of all threads in milliseconds, and what came of it. */
function timed<T>(run: () => T): [result: T, ms: number] {
  const before = process.cpuUsage();
  const result = run();
  const { user, system } = process.cpuUsage(before);
  return [result, (user + system) / 1000];
}

function idsOf({ values, indices }: emb.TopK): Int32Array {
  const ids = indices.dataSync() as Int32Array;
  tf.dispose([values, indices]);
  return ids;
}

function recall(found: Int32Array, exact: Int32Array): number {
  let hits = 0;
  for (let at = 0; at < exact.length; at += K) {
    const wanted = new Set(exact.subarray(at, at + K));
    for (const id of found.subarray(at, at + K)) hits += Number(wanted.has(id));
  }
  return hits / exact.length;
}

interface Answer {
  readonly seconds: number;
  readonly ids?: string;
}

/** The rivals as a process that answers a line for each line. */
class Rivals {
  readonly #process;
  readonly #lines;

  constructor(args: readonly string[]) {
    const script = fileURLToPath(new URL('../rivals/python/neighbours.py', import.meta.url));
    const env = { ...process.env, OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1' };
    this.#process = spawn(given.python, [script, ...args], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  async ask(line: string): Promise<Answer | null> {
    if (this.#process.exitCode !== null) return null;
    this.#process.stdin.write(`${line}\n`);
    const answer = await this.#lines.next();
    return answer.done === true ? null : (JSON.parse(answer.value) as Answer | null);
  }

  async end(): Promise<void> {
    this.#process.stdin.end();
    if (this.#process.exitCode === null) await once(this.#process, 'exit');
  }
}

await tf.setBackend('cpu');
emb.setThreads(1);
const folder = mkdtempSync(join(tmpdir(), 'neighbours-'));
try {
  const centers = normals(CLUSTERS * DIM);
  const [rows, queries] = [clustered(ROWS, centers), clustered(QUERIES, centers)];
  const [table, asked] = [tf.tensor2d(rows, [ROWS, DIM]), tf.tensor2d(queries, [QUERIES, DIM])];
  const files = [join(folder, 'queries'), join(folder, 'rows')] as const;
  writeFileSync(files[0], queries);
  writeFileSync(files[1], rows);
  const load = new Load();
  const [index, buildMs] = timed(() => emb.ann.build(table, { lists: LISTS, seed: 1 }));
  const exact = idsOf(emb.topK(asked, table, K));
  printLine({ bench: 'neighbours', rows: ROWS, clusters: CLUSTERS, build: 'emb.ann', cpuSeconds: buildMs / 1000 });
  const rivals = new Rivals([...files, String(DIM), String(K), String(LISTS)]);
  for (const name of ['flat', 'sq8', 'usearch']) {
    const answer = await rivals.ask(`build ${name}`);
    printLine({ bench: 'neighbours', build: name, cpuSeconds: answer?.seconds ?? null });
  }
  /** Searches in turns; milliseconds of processor time a query, and recall. */
  const searches: Record<string, () => Promise<[number, Int32Array | null] | null>> = {
    exact: async () => {
      const [found, ms] = timed(() => idsOf(emb.topK(asked, table, K)));
      return [ms, found];
    },
  };
  for (const probes of [2, 4, 8, 16, 32]) {
    searches[`emb.ann ${probes}`] = async () => {
      const [found, ms] = timed(() => idsOf(index.search(asked, K, { probes })));
      return [ms, found];
    };
    for (const name of ['flat', 'sq8']) {
      searches[`faiss ${name} ${probes}`] = async () => {
        const answer = await rivals.ask(`search ${name} ${probes}`);
        return answer && [1000 * answer.seconds, new Int32Array(new Uint8Array(readFileSync(answer.ids!)).buffer)];
      };
    }
  }
  for (const expansion of [16, 64]) {
    searches[`usearch ${expansion}`] = async () => {
      const answer = await rivals.ask(`search usearch ${expansion}`);
      return answer && [1000 * answer.seconds, new Int32Array(new Uint8Array(readFileSync(answer.ids!)).buffer)];
    };
  }
  const [times, recalls] = [new Map<string, number[]>(), new Map<string, number>()];
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, search] of Object.entries(searches)) {
      const found = await search();
      if (found === null) continue;
      recalls.set(name, recall(found[1]!, exact));
      if (round > 0) times.set(name, [...(times.get(name) ?? []), found[0]]);
    }
  }
  const exactMs = times.get('exact')!;
  for (const [name, all] of times) {
    const fewer = median(all.map((ms, i) => exactMs[i]! / ms));
    const numbers = { msPerQuery: median(all) / QUERIES, timesFewerThanExact: fewer, recall: recalls.get(name) };
    printLine({ bench: 'neighbours', search: name, ...numbers });
  }
  await rivals.end();
  // A tenth of the rows is replaced, by rows around the same centers.
  const fresh = clustered(ROWS / 10, centers);
  const ids = Int32Array.from({ length: ROWS / 10 }, (_, i) => 10 * i);
  ids.forEach((id, i) => rows.set(fresh.subarray(i * DIM, (i + 1) * DIM), id * DIM));
  const [, replaceMs] = timed(() => index.add(ids, tf.tensor2d(fresh, [ids.length, DIM])));
  const now = tf.tensor2d(rows, [ROWS, DIM]);
  const exactNow = idsOf(emb.topK(asked, now, K));
  const rebuilt = emb.ann.build(now, { lists: LISTS, seed: 1 });
  const of = (each: emb.ann.AnnIndex, probes: number): number =>
    recall(idsOf(each.search(asked, K, { probes })), exactNow);
  for (const probes of [4, 8, 16]) {
    const numbers = { recallReplaced: of(index, probes), recallRebuilt: of(rebuilt, probes) };
    printLine({ bench: 'neighbours', probes, replaceCpuSeconds: replaceMs / 1000, ...numbers });
  }
  printLine({ bench: 'neighbours', otherCpu: load.ofOthers() });
} finally {
  rmSync(folder, { recursive: true });
}
