/** Runs in a page: tables of webgl, which lie on the host. Bundled by webgl.spec.ts. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/index.js';
import { PROGRAM } from '../../browser/gpu_program.js';
import { referenceKernels } from '../../../src/backends/reference/reference_kernel_set.js';
import { UPDATE_NAMES } from '../../../src/rules/rules.js';
import { bagCases, copyTable, packedHyperCase, usedSlots, type BagCase } from '../../helpers/bag_cases.js';
import { lookUpInto, stepOne } from '../../helpers/kernel_calls.js';
import { gradientMagnitude, pooledMagnitudes, weightsGradientMagnitude } from '../../helpers/magnitudes.js';
import { tensorKernelSet } from '../../helpers/tensor_kernel_set.js';
import { firstDifference } from '../../helpers/tensors.js';
import { distributedCase } from '../../layers/distributed_embedding/generated_case.js';
import { runCase, type Moment } from '../../layers/distributed_embedding/run.js';
import { differences } from '../cluster/differences.js';

type Kernels = typeof tensorKernelSet;

/** Each result of a case. */
function results(kernels: Kernels, example: BagCase, seed: number): Float32Array[] {
  const { table, bags, options, gradient } = example;
  const pooled = new Float32Array((bags.rowSplits.length - 1) * table.dim);
  lookUpInto(kernels, table, bags, options, pooled);
  const grad = kernels.rowGradients(gradient, bags, table, options);
  const weights = new Float32Array(bags.values.length);
  if (bags.weights !== null) kernels.weightsGradient(table, gradient, bags, options, weights);
  const optimizer = UPDATE_NAMES[seed % UPDATE_NAMES.length]!;
  const own = copyTable(table);
  const slots = usedSlots(optimizer, own, seed);
  stepOne(kernels, optimizer, own, slots, gradient, bags, options, packedHyperCase(optimizer, seed));
  return [pooled, Float32Array.from(grad.uniqueIds), grad.rowGradients, weights, own.data, ...slots];
}

async function moments(backend: string, seed: number): Promise<Moment[]> {
  await tf.setBackend(backend);
  return runCase(distributedCase(seed));
}

function modelOf(rows: number, optimizer: emb.SparseOptimizer, storage: emb.Storage = 'float32'): tf.LayersModel {
  const model = tf.sequential({
    layers: [
      emb.layers.raggedEmbedding({ inputDim: rows, outputDim: 32, combiner: 'mean', inputShape: [3], storage }),
      tf.layers.dense({ units: 1, activation: 'sigmoid', kernelInitializer: 'ones' }),
    ],
  });
  model.compile({ optimizer: optimizer as never, loss: 'binaryCrossentropy' });
  return model;
}

const batch = (): [tf.Tensor, tf.Tensor] => [
  tf.tensor2d([3, 7, -1, 5, -1, -1, 1, 2, 3, 7, -1, -1], [4, 3], 'int32'),
  tf.tensor2d([1, 0, 1, 0], [4, 1]),
];

const gpuBytes = (): number => (tf.memory() as unknown as { numBytesInGPU: number }).numBytesInGPU;

const message = (run: () => unknown): string => {
  try {
    run();
    return 'nothing was thrown';
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
};

const WEBGL = {
  /** Kernels that tfjs runs on tensors of the GPU, against the reference. */
  async compareKernels(count: number, tolerance: number) {
    // Otherwise tfjs computes small tensors on the CPU, and the GPU would hardly be asked.
    tf.env().set('WEBGL_CPU_FORWARD', false);
    const before = tf.memory().numTensors;
    const found: string[] = [];
    bagCases(count).forEach((example, seed) => {
      const expected = results(referenceKernels, example, seed);
      const actual = results(tensorKernelSet, example, seed);
      const step = (1 + gradientMagnitude(example)) ** 2;
      const [pooled, gradient] = [pooledMagnitudes(example), gradientMagnitude(example)];
      const magnitudes = [pooled, 0, gradient, weightsGradientMagnitude(example), step, step, step];
      actual.forEach((each, i) => {
        const at = firstDifference(each, expected[i]!, magnitudes[i]!, i === 1 ? 0 : tolerance);
        if (at >= 0) found.push(`${example.name}, result ${i} [${at}]: ${each[at]} instead of ${expected[i]![at]}`);
      });
    });
    tf.env().set('WEBGL_CPU_FORWARD', true);
    return { differences: found, tensorsLeft: tf.memory().numTensors - before };
  },

  /** Generated uses of DistributedEmbedding against `cpu`. */
  async compareLayers(first: number, count: number, tolerance: number) {
    const found: string[] = [];
    for (let seed = first; seed < first + count; seed++) {
      try {
        const expected = await moments('cpu', seed);
        const before = tf.memory().numTensors;
        const far = differences(await moments('webgl', seed), expected, tolerance);
        found.push(...far.slice(0, 3).map((difference) => `seed ${seed}: ${difference}`));
        if (tf.memory().numTensors !== before) found.push(`seed ${seed}: tensors are left`);
      } catch (error) {
        found.push(`seed ${seed}: ${(error as Error).stack}`);
      }
    }
    return found;
  },

  /** Parts of a table that was stepped, and of a slot, and what of them lies on the GPU then. */
  async parts() {
    const table = tf.variable(tf.range(0, 3_000_000).reshape([100_000, 30]));
    const optimizer = emb.train.rowWiseAdagrad({ learningRate: 100 });
    const loss = () => tf.sum(emb.embeddingLookup(table, tf.tensor1d([99_999], 'int32'))) as tf.Scalar;
    optimizer.minimize(loss);
    const before = gpuBytes();
    const slots = Object.values(tf.engine().registeredVariables).filter(({ shape }) => shape[0] === 100_000);
    const [slot] = slots.filter(({ rank }) => rank === 1);
    const found = tf.tidy(() => {
      const matrix = table as unknown as tf.Tensor2D;
      const taken = [
        matrix.slice([1, 2], [2, 3]),
        matrix.slice([99_998, 29]),
        matrix.slice([5], [1]).slice([0, 3], [1, 2]),
      ];
      return [...taken, slot!.slice([99_998], [2])].map((each) => [each.shape, Array.from(each.dataSync())] as const);
    });
    const refused = message(() => (table as unknown as tf.Tensor2D).slice([99_999, 0], [2, 1]));
    const bytes = gpuBytes() - before;
    const stepped = (await table.data())[2_999_999]!;
    table.dispose();
    optimizer.dispose();
    return { found, refused, bytes, stepped };
  },

  /** The README's model; how many bytes the GPU and the host came to hold. */
  async largeModel(epochs: number) {
    const [ids, clicked] = batch();
    const before = gpuBytes();
    const model = modelOf(1_000_000, emb.train.adagrad({ learningRate: 0.1 }));
    const { history } = await model.fit(ids, clicked, { epochs, verbose: 0 });
    const after = gpuBytes();
    const losses = history['loss'] as number[];
    model.dispose();
    tf.dispose([ids, clicked]);
    return { first: losses[0]!, last: losses.at(-1)!, bytes: after - before };
  },

  /** Steps one after the other; what is there more after the last than after the tenth. */
  async manySteps(steps: number) {
    const [ids, clicked] = batch();
    const model = modelOf(1000, emb.train.adam({ learningRate: 0.01 }));
    let [tensors, bytes, buffers] = [0, 0, 0];
    for (let step = 0; step < steps; step++) {
      await model.trainOnBatch(ids, clicked);
      if (step === 10) [tensors, bytes, buffers] = [tf.memory().numTensors, gpuBytes(), tf.memory().numDataBuffers];
    }
    const more = {
      tensors: tf.memory().numTensors - tensors,
      bytes: gpuBytes() - bytes,
      buffers: tf.memory().numDataBuffers - buffers,
    };
    model.dispose();
    tf.dispose([ids, clicked]);
    return more;
  },

  /** What was taken of a table before a step, and after it. */
  async snapshots() {
    const [ids, clicked] = batch();
    const model = modelOf(10, emb.train.sgd({ learningRate: 1 }));
    const table = model.getWeights()[0]!;
    const start = Array.from(table.dataSync());
    const taken = [table.clone(), table.slice([0, 0], [10, 32]), table.reshape([320]), table.mul(1)];
    const [read, pending] = [table.dataSync(), table.data()];
    await model.trainOnBatch(ids, clicked);
    const same = [...taken.map((each) => each.dataSync()), read, await pending].map((each) => {
      return start.every((value, i) => Object.is(value, each[i]));
    });
    const stepped = table.dataSync();
    const onGpu = tf.tidy(() => table.mul(1).dataSync());
    const changed = start.filter((value, i) => value !== stepped[i]).length / 32;
    await model.trainOnBatch(ids, clicked);
    const again = table.dataSync();
    const result = {
      same,
      changed,
      isReadAlike: stepped.every((value, i) => Object.is(value, onGpu[i])),
      goesOn: start.filter((_, i) => again[i] !== stepped[i]).length / 32,
    };
    model.dispose();
    tf.dispose([ids, clicked, ...taken]);
    return result;
  },

  /** float16 rows trained and int8 rows looked up: how far from those of `cpu`. */
  async packedRows() {
    const trained = async (backend: string): Promise<number[]> => {
      await tf.setBackend(backend);
      const [ids, clicked] = batch();
      const model = modelOf(50, emb.train.adagrad({ learningRate: 0.1 }), 'float16');
      const values = tf.tidy(() =>
        tf.tensor2d(
          Float32Array.from({ length: 1600 }, (_, i) => Math.sin(i)),
          [50, 32],
        ),
      );
      model.layers[0]!.setWeights([values]);
      for (let step = 0; step < 3; step++) await model.trainOnBatch(ids, clicked);
      const small = emb.quantize(model, { dtype: 'int8' });
      const found = [model, small].flatMap((each) => {
        const predicted = each.predict(ids) as tf.Tensor;
        const numbers = Array.from(predicted.dataSync());
        predicted.dispose();
        return numbers;
      });
      model.dispose();
      small.dispose();
      tf.dispose([ids, clicked, values]);
      return found;
    };
    const [ours, theirs] = [await trained('webgl'), await trained('cpu')];
    await tf.setBackend('webgl');
    return { largest: Math.max(...ours.map((each, i) => Math.abs(each - theirs[i]!))), count: ours.length };
  },

  /** The files that TensorBoard reads, as a page gets them. */
  async logs() {
    const [ids, clicked] = batch();
    const files = new Map<string, number>();
    const write = async (path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const chunk of chunks) files.set(path, (files.get(path) ?? 0) + chunk.length);
    };
    const model = modelOf(50, emb.train.adagrad({ learningRate: 0.1 }));
    const before = tf.memory().numTensors;
    const callbacks = emb.callbacks.tensorBoard({ logdir: { write } });
    await model.fit(ids, clicked, { epochs: 3, verbose: 0, callbacks });
    const left = tf.memory().numTensors - before;
    model.dispose();
    tf.dispose([ids, clicked]);
    return { files: [...files].map(([path, bytes]) => [path.replace(/\d{10}.*/, ''), bytes] as const), left };
  },

  /** Saves and loads, and goes on: with the same numbers as the model that went on. */
  async saved() {
    const [ids, clicked] = batch();
    const model = modelOf(100, emb.train.adagrad({ learningRate: 0.1 }));
    await model.trainOnBatch(ids, clicked);
    await model.save('indexeddb://of-webgl', { includeOptimizer: true });
    const again = await tf.loadLayersModel('indexeddb://of-webgl');
    await model.trainOnBatch(ids, clicked);
    await again.trainOnBatch(ids, clicked);
    const [ours, theirs] = [model, again].map((each) => each.getWeights()[0]!.dataSync());
    const isSame = ours!.every((value, i) => Object.is(value, theirs![i]));
    model.dispose();
    again.dispose();
    tf.dispose([ids, clicked]);
    return isSame;
  },

  /** Large ids that were on the GPU, which holds them as floats. */
  largeIds() {
    tf.env().set('WEBGL_CPU_FORWARD', false);
    const found = tf.tidy(() => {
      const table = tf.variable(tf.zeros([2 ** 24 + 4, 1]));
      const look = (ids: tf.Tensor): tf.Tensor => emb.embeddingLookup(table as never, ids as never) as never;
      const onHost = tf.tensor1d([2 ** 24 + 1, 3], 'int32');
      const fine = Array.from(look(onHost).dataSync());
      const moved = tf.tensor1d([2 ** 24 + 1, 3], 'int32').add(tf.zeros([2], 'int32'));
      const refused = message(() => look(moved));
      const again = message(() => look(moved));
      table.dispose();
      return { fine, refused, again };
    });
    tf.env().set('WEBGL_CPU_FORWARD', true);
    return found;
  },

  /** The context is lost; what a step then says, and whether the table is still there. */
  async losesContext() {
    const [ids, clicked] = batch();
    const model = modelOf(10, emb.train.adagrad({ learningRate: 0.1 }));
    await model.trainOnBatch(ids, clicked);
    const table = model.getWeights()[0]!;
    const before = table.dataSync();
    const { gl } = (tf.backend() as unknown as { gpgpu: { gl: WebGL2RenderingContext } }).gpgpu;
    gl.getExtension('WEBGL_lose_context')!.loseContext();
    const said = await model.trainOnBatch(ids, clicked).then(
      () => 'nothing was thrown',
      (error: Error) => `${error.name}: ${error.message}`,
    );
    const lookedUp = message(() => model.predict(ids));
    await tf.setBackend('cpu');
    const after = table.dataSync();
    return { said, lookedUp, isWhole: before.every((value, i) => Object.is(value, after[i])) };
  },
};

export type WebglProgram = typeof WEBGL;
Object.assign(globalThis, { gpu: PROGRAM, webgl: WEBGL });
