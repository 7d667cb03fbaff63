/**
 * `emb.topK` of all users, with what they know left out, beside faiss and the bare product of numpy, in turns; then the
 * scan of a large table of int8 beside that of float32. Prints JSON lines.
 *   node --import tsx tools/bench/ranking/top_k.ts [--pairs train.txt] [--python python3] [--rounds 5] [--threads 2]
 * `--pairs`: a line `user item item …` for each user, as LightGCN has Gowalla; without it lists are drawn.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
    pairs: { type: 'string' },
    python: { type: 'string', default: 'python3' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: '2' },
    scanned: { type: 'string', default: '1000000' },
  },
});
const [USERS, ITEMS, DIM, K, ROUNDS] = [29_858, 40_981, 64, 20, Number(given.rounds)];

function normal(random: Random, rows: number): Float32Array {
  return Float32Array.from({ length: rows * DIM }, () => {
    return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  });
}

function known(random: Random): number[][] {
  if (given.pairs === undefined) {
    return Array.from({ length: USERS }, () => Array.from({ length: 27 }, () => random.whole(0, ITEMS)));
  }
  const lines = readFileSync(given.pairs, 'utf8').trim().split('\n');
  const lists = Array.from({ length: USERS }, (): number[] => []);
  for (const line of lines) {
    const [user, ...items] = line.trim().split(' ').map(Number) as [number, ...number[]];
    lists[user] = items;
  }
  return lists;
}

/** Peak and present memory in MB. */
function memory(field: 'VmHWM' | 'VmRSS'): number {
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync('/proc/self/status', 'utf8'))![1]) / 1024;
}

/** The rival as a process that answers a line for each line. */
class Rival {
  private readonly lines;
  private readonly process;

  constructor(args: readonly string[]) {
    const env = { ...process.env, OMP_NUM_THREADS: given.threads, OPENBLAS_NUM_THREADS: given.threads };
    const script = fileURLToPath(new URL('../rivals/python/exact_search.py', import.meta.url));
    this.process = spawn(given.python, [script, ...args], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  /** Seconds, or null where the rival is not there. */
  async ask(line: string): Promise<number | null> {
    if (this.process.exitCode !== null) return null;
    this.process.stdin.write(`${line}\n`);
    const answer = await this.lines.next();
    return answer.done === true || answer.value === 'none' ? null : Number(answer.value);
  }

  async end(): Promise<void> {
    this.process.stdin.end();
    if (this.process.exitCode === null) await once(this.process, 'exit');
  }
}

function timed(run: () => emb.TopK): number {
  const from = performance.now();
  const found = run();
  const seconds = (performance.now() - from) / 1000;
  tf.dispose([found.values, found.indices]);
  return seconds;
}

/** How many places hold other ids than the rival's, whose products differ by more than a millionth. */
function differences(found: emb.TopK, rival: Float64Array): number {
  const [values, ids] = [found.values.dataSync(), found.indices.dataSync()];
  let count = 0;
  for (let user = 0; user < USERS; user++) {
    for (let place = 0; place < K; place++) {
      const [mine, theirs] = [user * K + place, 2 * user * K + place];
      if (ids[mine] === rival[theirs + K]) continue;
      if (Math.abs(values[mine]! - rival[theirs]!) > 1e-6 * (1 + Math.abs(rival[theirs]!))) count++;
    }
  }
  return count;
}

async function allUsers(folder: string): Promise<void> {
  const random = new Random(7);
  const [users, items] = [normal(random, USERS), normal(random, ITEMS)];
  const files = [join(folder, 'users'), join(folder, 'items')] as const;
  writeFileSync(files[0], users);
  writeFileSync(files[1], items);
  const exclude = emb.RaggedTensor.fromRows(known(random), { dtype: 'int32' });
  const [queries, table] = [tf.tensor2d(users, [USERS, DIM]), tf.tensor2d(items, [ITEMS, DIM])];
  const few = queries.slice([0, 0], [512, DIM]);
  timed(() => emb.topK(few, table, K));
  writeFileSync('/proc/self/clear_refs', '5');
  const before = memory('VmRSS');
  timed(() => emb.topK(queries, table, K, { exclude }));
  const memoryMB = memory('VmHWM') - before;
  const rival = new Rival([...files, String(DIM), String(K)]);
  const seconds: Record<'ours' | 'withoutExclusions' | 'faiss' | 'numpy', number[]> = {
    ours: [],
    withoutExclusions: [],
    faiss: [],
    numpy: [],
  };
  const load = new Load();
  for (let round = 0; round < ROUNDS; round++) {
    seconds.ours.push(timed(() => emb.topK(queries, table, K, { exclude })));
    seconds.withoutExclusions.push(timed(() => emb.topK(queries, table, K)));
    for (const name of ['faiss', 'numpy'] as const) {
      const taken = await rival.ask(name);
      if (taken !== null) seconds[name].push(taken);
    }
  }
  const otherCpu = load.ofOthers();
  const ids = join(folder, 'ids');
  const found = emb.topK(queries, table, K);
  const hasIds = (await rival.ask(`ids ${ids}`)) !== null && existsSync(ids);
  const otherIds = hasIds ? differences(found, new Float64Array(new Uint8Array(readFileSync(ids)).buffer)) : null;
  await rival.end();
  const ratio = (name: 'faiss' | 'numpy'): number | null =>
    seconds[name].length === 0 ? null : median(seconds.ours.map((s, i) => s / seconds[name][i]!));
  const of = Object.fromEntries(Object.entries(seconds).map(([name, all]) => [name, all.length ? median(all) : null]));
  const ratios = { oursToFaiss: ratio('faiss'), oursToNumpy: ratio('numpy') };
  printLine({ bench: 'topK', backend: tf.getBackend(), seconds: of, ...ratios, memoryMB, otherIds, otherCpu });
  tf.dispose([queries, table, few, found.values, found.indices]);
}

/** One query on a large table of float32, and on the same of int8. */
function scans(): void {
  const rows = Number(given.scanned);
  const random = new Random(3);
  const values = tf.tensor2d(normal(random, rows), [rows, DIM]);
  const model = tf.sequential();
  model.add(emb.layers.embedding({ inputDim: rows, outputDim: DIM, inputLength: 1, weights: [values] }) as never);
  const quantized = emb.quantize(model, { dtype: 'int8' });
  const packed = quantized.layers.find((layer) => layer.getClassName().includes('Embedding'))!;
  const floats = model.layers[0]!;
  const query = tf.tensor2d(normal(random, 1), [1, DIM]);
  const many = tf.tensor2d(normal(random, 50), [50, DIM]);
  const times: Record<'float32' | 'int8' | 'reranked', number[]> = { float32: [], int8: [], reranked: [] };
  const rerank = { table: floats };
  for (let round = -2; round < 4 * ROUNDS; round++) {
    const taken = {
      float32: timed(() => emb.topK(query, floats, K)),
      int8: timed(() => emb.topK(query, packed, K)),
      reranked: timed(() => emb.topK(query, packed, K, { rerank })),
    };
    for (const name of Object.keys(times) as (keyof typeof times)[]) if (round >= 0) times[name].push(taken[name]);
  }
  const [exact, scanned, reranked] = [
    emb.topK(many, floats, K),
    emb.topK(many, packed, K),
    emb.topK(many, packed, K, { rerank }),
  ].map(({ indices }) => indices.arraySync());
  const recall = (ids: number[][]): number =>
    ids.reduce((sum, row, q) => sum + row.filter((id) => exact![q]!.includes(id)).length, 0) / (50 * K);
  const ms = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, 1000 * median(all)]));
  const ratio = (name: 'int8' | 'reranked'): number => median(times[name].map((t, i) => t / times.float32[i]!));
  printLine({
    bench: 'topK of one query',
    rows,
    ms,
    int8ToFloat32: ratio('int8'),
    rerankedToFloat32: ratio('reranked'),
    recall: { int8: recall(scanned!), reranked: recall(reranked!) },
  });
}

await tf.setBackend('cpu');
emb.setThreads(Number(given.threads));
const folder = mkdtempSync(join(tmpdir(), 'bench-top-k-'));
try {
  await allUsers(folder);
} finally {
  rmSync(folder, { recursive: true });
}
scans();
