/** Bags through tfjs on `tensorflow`: `tfjs_bags.ts ours|stock THREADS`; stock: what people compose of stock ops. */
process.env['TF_NUM_INTRAOP_THREADS'] = process.argv[3];
const tf = await import('@tensorflow/tfjs');
await import('@tensorflow/tfjs-node');
import type * as tfjs from '@tensorflow/tfjs';
import { type OptimizerName, type UpdateName, SLOT_NAMES } from '../../../../src/rules/rules.js';
import { floatsOf, hotnessOf, readBags, writeOutputs, type BagsRequest, type TableRequest } from './bag_files.js';
import { Lacks, serve, timed } from '../serve.js';
import { settingsOf, startOf } from './step_settings.js';

const [name, threads] = [process.argv[2]!, Number(process.argv[3])];
const emb = await import('tfjs-embeddings/node');
await tf.setBackend('tensorflow');
emb.setThreads(threads);

const STOCK: Record<string, (learningRate: number) => tfjs.Optimizer> = {
  sgd: (rate) => tf.train.sgd(rate),
  adagrad: (rate) => tf.train.adagrad(rate, 0.1),
  adam: (rate) => tf.train.adam(rate, 0.9, 0.999, 1e-8),
};

let request: TableRequest;
let table: tfjs.Variable;
let slots: tfjs.Variable[] = [];
let optimizer: tfjs.Optimizer | null = null;
let inBags: tfjs.Tensor[] = [];
/** The pooled rows of a batch. */
let look: (n: number) => tfjs.Tensor;
let step: () => void;
let n = 0;
let folder: string;

function open(asked: TableRequest): void {
  request = asked;
  const { rows, dim, optimizer: named, learningRate } = asked;
  if (name === 'stock' && named !== null && STOCK[named] === undefined) throw new Lacks(`no ${named}`);
  const values = asked.table === null ? null : floatsOf(asked.table);
  table = tf.tidy(() => tf.variable(values === null ? tf.fill([rows, dim], 0.01) : tf.tensor2d(values, [rows, dim])));
  if (named === null) return;
  if (name === 'stock') {
    optimizer = STOCK[named]!(learningRate);
    return;
  }
  const shape = named === 'rowWiseAdagrad' ? [rows] : [rows, dim];
  slots = SLOT_NAMES[named as UpdateName].map((_, i) =>
    tf.tidy(() => tf.variable(tf.fill(shape, startOf(named as UpdateName, i)))),
  );
}

function bags(asked: BagsRequest): void {
  tf.dispose(inBags);
  const files = readBags(asked);
  const { combiner, batch } = asked;
  const gradient = tf.tensor2d(files.gradient, [batch, request.dim]);
  const hot = hotnessOf(files);
  folder = asked.folder;
  n = 0;
  inBags = [gradient];
  const keep = <T extends tfjs.Tensor>(tensor: T): T => {
    inBags.push(tensor);
    return tensor;
  };
  if (name === 'stock') {
    if (hot === null) throw new Lacks('no ragged ids');
    const batches = files.batches.map(({ values, weights }) => ({
      ids: keep(tf.tensor2d(values, [batch, hot], 'int32')),
      weights: weights && keep(tf.tensor3d(weights, [batch, hot, 1])),
    }));
    look = (k) =>
      tf.tidy(() => {
        const { ids, weights } = batches[k % batches.length]!;
        const rows = tf.gather(table, ids);
        const weighted = weights === null ? rows : rows.mul(weights);
        return combiner === 'sum' ? weighted.sum(1) : weighted.mean(1);
      });
    step = () =>
      tf.tidy(() => {
        const k = n++;
        if (optimizer === null) return void look(k);
        optimizer.applyGradients(tf.variableGrads(() => look(k).mul(gradient).sum(), [table]).grads);
      });
    return;
  }
  const batches = files.batches.map(({ values, rowSplits, weights }) => ({
    values: keep(tf.tensor1d(values, 'int32')),
    rowSplits: keep(tf.tensor1d(rowSplits, 'int32')),
    weights: weights && keep(tf.tensor1d(weights)),
  }));
  look = (k) => {
    const { values, rowSplits, weights } = batches[k % batches.length]!;
    return emb.ops.embeddingBag(table, values, rowSplits, { combiner, weights });
  };
  let steps = 0;
  step = () =>
    tf.tidy(() => {
      const k = n++;
      look(k);
      if (request.optimizer === null) return;
      const named = request.optimizer as OptimizerName;
      const ids = batches[k % batches.length]!;
      const settings = settingsOf(named, request.learningRate);
      emb.ops.sparseApply(named, { ...settings, table, slots, gradient, ...ids, combiner, step: ++steps });
    });
}

function outputs({ steps }: { steps: number }): void {
  const pooled = look(0);
  n = 0;
  for (let k = 0; k < steps; k++) step();
  writeOutputs(folder, pooled.dataSync() as Float32Array, table.dataSync() as Float32Array);
  pooled.dispose();
}

function close(): void {
  tf.dispose([table, ...slots, ...inBags]);
  optimizer?.dispose();
  [slots, inBags, optimizer] = [[], [], null];
}

const versions = tf.version as unknown as Record<string, string>;
const { 'tfjs-core': core } = versions;
const ours = emb.backendInfo().kernels['EmbeddingBag']!;
const version = name === 'stock' ? `tfjs ${core}, tfjs-node` : `tfjs-embeddings on tensorflow, ${ours.instructionSet}`;
await serve(version, { open, bags, outputs, close, run: ({ steps }: { steps: number }) => timed(step, steps) });
