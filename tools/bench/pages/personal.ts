/**
 * What a personal model does for each click, on one thread of WebAssembly: a row is folded in from 20 items, and the best
 * 20 of all others are found, in a table of int8 beside the same of float32, in turns. Prints one JSON line.
 *   node --import tsx tools/bench/pages/personal.ts [--items 41000] [--dim 64] [--rounds 200]
 * `ratio`: the median over rounds of the time of int8 by that of float32.
 */
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-wasm';
import * as emb from '../../../src/index.js';
import { Random } from '../../../test/helpers/random.js';
import { Load, median, printLine } from '../stopwatch.js';

const { values: given } = parseArgs({
  options: {
    items: { type: 'string', default: '41000' },
    dim: { type: 'string', default: '64' },
    rounds: { type: 'string', default: '200' },
  },
});
const [ITEMS, DIM, ROUNDS] = [Number(given.items), Number(given.dim), Number(given.rounds)];
const [CLICKS, K] = [20, 20];
/** The engine compiles what it runs often; before that has ended nothing is timed. */
const WARM_UP = 200;

await emb.ready();
await tf.setBackend('wasm');
emb.setThreads(1);

const random = new Random(5);
const rows = tf.tensor2d(
  Float32Array.from({ length: ITEMS * DIM }, () => random.next() - 0.5),
  [ITEMS, DIM],
);
const model = tf.sequential();
model.add(emb.layers.embedding({ inputDim: ITEMS, outputDim: DIM, inputLength: 1, weights: [rows] }) as never);
const frozen = emb.quantize(model, { dtype: 'int8' });
const tables = {
  float32: model.layers[0]!,
  int8: frozen.layers.find((layer) => layer.getClassName().includes('Embedding'))!,
};
const gram = tf.matMul(rows, rows, true) as tf.Tensor2D;

/** Seconds of the two parts. */
function click(table: tf.layers.Layer, ids: number[]): { foldIn: number; topK: number; best: Int32Array } {
  const begun = performance.now();
  const row = emb.foldIn(table, { ids, regularization: 0.1, unobservedWeight: 0.001, gram });
  const folded = performance.now();
  const query = row.reshape([1, DIM]) as tf.Tensor2D;
  const { values, indices } = emb.topK(query, table, K, { exclude: emb.RaggedTensor.fromRows([ids]) });
  const best = indices.dataSync() as Int32Array;
  const ended = performance.now();
  tf.dispose([row, query, values, indices]);
  return { foldIn: folded - begun, topK: ended - folded, best };
}

const names = ['float32', 'int8'] as const;
const taken = { float32: [] as ReturnType<typeof click>[], int8: [] as ReturnType<typeof click>[] };
const load = new Load();
for (let round = -WARM_UP; round < ROUNDS; round++) {
  const ids = [...new Set(Array.from({ length: 4 * CLICKS }, () => random.whole(0, ITEMS)))].slice(0, CLICKS);
  for (const name of names) {
    const found = click(tables[name], ids);
    if (round >= 0) taken[name].push(found);
  }
}
const sum = ({ foldIn, topK }: { foldIn: number; topK: number }): number => foldIn + topK;
const ms = (name: (typeof names)[number]) => ({
  foldIn: median(taken[name].map(({ foldIn }) => foldIn)),
  topK: median(taken[name].map(({ topK }) => topK)),
  both: median(taken[name].map(sum)),
});
const same = taken.int8.map(({ best }, i) => best.filter((id) => taken.float32[i]!.best.includes(id)).length / K);
printLine({
  bench: 'personal',
  items: ITEMS,
  dim: DIM,
  threads: 1,
  ms: { float32: ms('float32'), int8: ms('int8') },
  ratio: median(taken.int8.map((each, i) => sum(each) / sum(taken.float32[i]!))),
  sameOfBest: same.reduce((a, b) => a + b, 0) / same.length,
  otherCpu: load.ofOthers(),
});
