/** The models in tfjs, trained by `fit`: `tfjs_models.ts ours|stock|'emulator DEVICES' THREADS`; the first two on `tensorflow`. */
process.env['TF_NUM_INTRAOP_THREADS'] = process.argv[3];
const tf = await import('@tensorflow/tfjs');
await import('@tensorflow/tfjs-node');
const emb = await import('tfjs-embeddings/node');
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as tfjs from '@tensorflow/tfjs';
import type { RaggedTensor } from 'tfjs-embeddings/node';
import { floatsOf } from '../bags/bag_files.js';
import { weightShapes, type ModelSpec } from './model_specs.js';
import { serve } from '../serve.js';
import { buildOurs } from './our_models.js';
import { buildStock } from './stock_models.js';

const name = process.argv[2]!;
const devices = /^emulator (\d+)$/.exec(name)?.[1];
if (devices !== undefined) {
  emb.configureTpuEmulator({ chips: Number(devices), coresPerChip: 1, threadsPerDevice: 1, host: 'tensorflow' });
  await emb.ready();
}
await tf.setBackend(devices === undefined ? 'tensorflow' : 'tpu-emulator');
emb.setThreads(Number(process.argv[3]));

let spec: ModelSpec;
let model: tfjs.LayersModel;
let optimizer: tfjs.Optimizer;
let x: (tfjs.Tensor | RaggedTensor)[] = [];
let y: tfjs.Tensor;

/** Sets the weights of layers one after the other. */
function fill(layers: readonly tfjs.layers.Layer[], all: Float32Array): void {
  const shapes = weightShapes(spec);
  let at = 0;
  tf.tidy(() => {
    for (const layer of layers) {
      const values = layer.getWeights().map(() => {
        const shape = shapes.shift()!;
        const size = shape.reduce((a, b) => a * b, 1);
        at += size;
        return tf.tensor(all.subarray(at - size, at), shape);
      });
      layer.setWeights(values);
    }
  });
  if (at !== all.length) throw new Error(`${at} weights, the bench wrote ${all.length}`);
}

function open({ folder }: { folder: string }): void {
  spec = JSON.parse(readFileSync(join(folder, 'spec.json'), 'utf8')) as ModelSpec;
  const built = name === 'stock' ? buildStock(spec) : buildOurs(spec);
  ({ model, optimizer } = built);
  fill(built.layers, floatsOf(join(folder, 'weights.f32')));
  const isPair = spec.kind === 'two_towers';
  const { classes, isSparse } = spec;
  const loss = isPair || classes !== undefined ? 'categoricalCrossentropy' : 'binaryCrossentropy';
  model.compile({ optimizer, loss: isSparse ? 'sparseCategoricalCrossentropy' : loss });
  const samples = spec.batch * spec.batches;
  const intsOf = (file: string): Int32Array => new Int32Array(floatsOf(join(folder, file)).buffer);
  const ids = spec.inputs.map(({ hot }, i) => {
    const values = intsOf(`ids_${i}.i32`);
    if (spec.kind === 'ragged') return emb.RaggedTensor.fromRowSplits(values, intsOf(`splits_${i}.i32`));
    return tf.tensor2d(values, [samples, hot], 'int32');
  });
  const numbers = floatsOf(join(folder, 'numbers.f32'));
  x = spec.numbers > 0 ? [tf.tensor2d(numbers, [samples, spec.numbers]), ...ids] : ids;
  const labels = floatsOf(join(folder, 'labels.f32'));
  y = tf.tidy(() => {
    const first = tf.tensor2d(labels, [samples, 1]);
    if (classes !== undefined && !isSparse)
      return tf.oneHot(first.reshape([samples]).toInt(), classes, 1, 0, 'float32');
    return isPair ? tf.concat([first, tf.sub(1, first)], 1) : first;
  });
}

function tensorsOf(inputs: readonly (tfjs.Tensor | RaggedTensor)[]): tfjs.Tensor[] {
  return inputs.filter((each): each is tfjs.Tensor => each instanceof tf.Tensor);
}

/** A batch of an input, the rows in their order. */
function batchOf(all: tfjs.Tensor | RaggedTensor, step: number): tfjs.Tensor | RaggedTensor {
  const first = step * spec.batch;
  if (all instanceof tf.Tensor) return all.slice([first, 0], [spec.batch, all.shape[1]!]);
  return all.slice(first, first + spec.batch);
}

async function losses(): Promise<{ losses: number[] }> {
  const found: number[] = [];
  for (let step = 0; step < spec.batches; step++) {
    const [inputs, labels] = [x.map((each) => batchOf(each, step)), batchOf(y, step) as tfjs.Tensor];
    found.push((await model.trainOnBatch(inputs, labels)) as number);
    tf.dispose([...tensorsOf(inputs), labels]);
  }
  return { losses: found };
}

async function run({ steps }: { steps: number }): Promise<{ ms: number }> {
  const start = performance.now();
  await model.fit(x, y, { batchSize: spec.batch, epochs: steps, verbose: 0, yieldEvery: 'never' });
  return { ms: (performance.now() - start) / steps / spec.batches };
}

function close(): object {
  const { captured, reason } = emb.stepInfo(model);
  model.dispose();
  optimizer.dispose();
  tf.dispose([...tensorsOf(x), y]);
  return name === 'ours' && !captured ? { eager: reason } : {};
}

const { 'tfjs-core': core } = tf.version as unknown as Record<string, string>;
const version =
  devices === undefined ? 'tfjs-embeddings on tensorflow' : `tfjs-embeddings on ${devices} virtual devices`;
await serve(name === 'stock' ? `tfjs ${core}, tfjs-node` : version, { open, losses, run, close });
