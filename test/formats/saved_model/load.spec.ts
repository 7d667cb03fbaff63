import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectRejection } from '../../helpers/errors.js';
import { skipOrFail } from '../../helpers/backends.js';
import { largestDifference } from './exports.js';

function makeModel(): tf.LayersModel {
  const table = emb.layers.raggedEmbedding({ inputDim: 20, outputDim: 4, combiner: 'mean', inputShape: [3], seed: 1 });
  const dense = tf.layers.dense({ units: 2, kernelInitializer: tf.initializers.glorotNormal({ seed: 2 }) });
  return tf.sequential({ layers: [table, dense] });
}

function compile(model: tf.LayersModel): void {
  model.compile({ optimizer: emb.train.adam({ learningRate: 0.05 }), loss: 'meanSquaredError' });
}

async function train(model: tf.LayersModel, steps: number): Promise<void> {
  const x = tf.tensor2d([3, 7, -1, 5, -1, -1], [2, 3], 'int32');
  const y = tf.tensor2d([1, 0, 0, 1], [2, 2]);
  for (let step = 0; step < steps; step++) await model.trainOnBatch(x, y);
  tf.dispose([x, y]);
}

function weightsOf(model: tf.LayersModel): number[][] {
  return model.weights.map((weight) => Array.from(weight.read().dataSync()));
}

describe('savedModel.load', () => {
  let folder: string;
  let directory: string;
  let tensors = 0;

  beforeEach(async () => {
    await tf.setBackend('cpu');
    tensors = tf.memory().numTensors;
    folder = mkdtempSync(join(tmpdir(), 'load-'));
    directory = join(folder, 'model');
  });

  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
    expect(tf.memory().numTensors).toBe(tensors);
  });

  async function exportTrained(options: emb.SavedModelOptions = {}): Promise<number[][]> {
    const model = makeModel();
    compile(model);
    await train(model, 3);
    await emb.savedModel.export(model, directory, options);
    const weights = weightsOf(model);
    model.optimizer.dispose();
    model.dispose();
    return weights;
  }

  it('gives back the layers model, bit for bit', async () => {
    const weights = await exportTrained();
    const model = (await emb.savedModel.load(directory)) as tf.LayersModel;
    expect(model).toBeInstanceOf(tf.LayersModel);
    expect(weightsOf(model)).toEqual(weights);
    expect((model as { optimizer?: unknown }).optimizer).toBeUndefined();
    model.dispose();
  });

  it('gives back a table of many pieces, whether a step was made on it or not', async () => {
    const table = emb.layers.embedding({ inputDim: 200_001, outputDim: 3, combiner: 'sum', inputShape: [2], seed: 1 });
    const model = tf.sequential({ layers: [table] });
    model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
    for (const name of ['untrained', 'trained']) {
      await emb.savedModel.export(model, join(folder, name));
      const again = (await emb.savedModel.load(join(folder, name))) as tf.LayersModel;
      const [a, b] = [model, again].map((each) => each.weights[0]!.read().dataSync<'float32'>());
      expect(Buffer.compare(Buffer.from(a!.buffer), Buffer.from(b!.buffer))).toBe(0);
      again.dispose();
      const [x, y] = [tf.tensor2d([5, 200_000], [1, 2], 'int32'), tf.zeros([1, 3])];
      await model.trainOnBatch(x, y);
      tf.dispose([x, y]);
    }
    model.optimizer.dispose();
    model.dispose();
  });

  it('keeps what was frozen frozen: layers, models within the model, and layers in both directions', async () => {
    const inner = tf.sequential({ layers: [tf.layers.dense({ units: 3, inputShape: [2, 3], name: 'inner' })] });
    const [both, last] = [
      tf.layers.bidirectional({ layer: tf.layers.gru({ units: 2 }) as never, mergeMode: 'concat' }),
      tf.layers.dense({ units: 1, name: 'last' }),
    ];
    const inputs = tf.input({ shape: [2, 3] });
    const outputs = last.apply(both.apply(inner.apply(inputs))) as tf.SymbolicTensor;
    const model = tf.model({ inputs, outputs });
    const trained = (each: tf.LayersModel): string[] => each.trainableWeights.map(({ originalName }) => originalName);
    for (const [i, frozen] of [[], [inner], [both], [last], [inner, both]].entries()) {
      for (const layer of [inner, both, last]) layer.trainable = !(frozen as tf.layers.Layer[]).includes(layer);
      const path = join(folder, `frozen${i}`);
      await emb.savedModel.export(model, path);
      const again = (await emb.savedModel.load(path)) as tf.LayersModel;
      expect(trained(again)).withContext(`frozen ${i}`).toEqual(trained(model));
      again.dispose();
    }
    model.dispose();
  });

  it('gives each of several weights of one name its own values', async () => {
    const tower = (name: string, seed: number): tf.Sequential => {
      const kernelInitializer = tf.initializers.glorotNormal({ seed });
      return tf.sequential({
        name,
        layers: [tf.layers.dense({ name: 'dense', units: 3, inputShape: [3], kernelInitializer })],
      });
    };
    const input = tf.input({ shape: [3] });
    const towers = [tower('left', 1), tower('right', 2)].map((each) => each.apply(input) as tf.SymbolicTensor);
    const model = tf.model({ inputs: input, outputs: towers });
    expect(model.weights.map(({ originalName }) => originalName)).toEqual(
      Array(2).fill(['dense/kernel', 'dense/bias']).flat(),
    );
    await emb.savedModel.export(model, directory);
    const again = (await emb.savedModel.load(directory)) as tf.LayersModel;
    expect(weightsOf(again)).toEqual(weightsOf(model));
    [model, again].forEach((each) => each.dispose());
  });

  it('gives back tables of int8 as the float32 numbers that they are read as, with the optimizer too', async () => {
    const floats = makeModel();
    const model = emb.quantize(floats, { dtype: 'int8' }) as tf.LayersModel;
    compile(model);
    await train(model, 2);
    await emb.savedModel.export(model, directory, { includeOptimizer: true });
    const again = (await emb.savedModel.load(directory)) as tf.LayersModel;
    const x = tf.tensor2d([3, 7, -1, 5, 19, 0], [2, 3], 'int32');
    const [expected, found] = [model, again].map((each) => each.predict(x) as tf.Tensor);
    expect(Array.from(found!.dataSync())).toEqual(Array.from(expected!.dataSync()));
    expect(again.layers[0]!.weights[0]!.read().shape).toEqual([20, 4]);
    expect(again.layers[0]!.getConfig()['storage'] ?? 'float32').toBe('float32');
    tf.dispose([x, expected!, found!]);
    for (const each of [model, again]) (each.optimizer as tf.Optimizer | undefined)?.dispose();
    [floats, model, again].forEach((each) => each.dispose());
  });

  it('goes on training as if nothing had happened', async () => {
    await exportTrained({ includeOptimizer: true });
    const [again, straight] = [(await emb.savedModel.load(directory)) as tf.LayersModel, makeModel()];
    compile(straight);
    await train(straight, 7);
    await train(again, 4);
    expect(weightsOf(again)).toEqual(weightsOf(straight));
    for (const model of [again, straight]) {
      model.optimizer.dispose();
      model.dispose();
    }
  });

  it('runs what is no layers model, through tfjs-node', async () => {
    const model = makeModel();
    await emb.savedModel.export(model, directory, {
      signatures: { named: { outputs: { score: model.layers[1]!.name } } },
    });
    rmSync(join(directory, 'assets.extra'), { recursive: true });
    const loaded = await emb.savedModel.load(directory).catch((error: Error) => error);
    if (loaded instanceof emb.RuntimeError) {
      model.dispose();
      return skipOrFail(loaded.message);
    }
    if (loaded instanceof Error) throw loaded;
    const run = loaded as emb.RunnableSavedModel;
    expect(tf.getBackend()).toBe('cpu');
    expect(Object.keys(run.signatures).sort()).toEqual(['named', 'serving_default']);
    const [input] = Object.keys(run.signatures['named']!.inputs);
    expect(run.signatures['named']).toEqual({
      inputs: { [input!]: { dtype: 'int32', shape: [null, 3] } },
      outputs: { score: { dtype: 'float32', shape: [null, 2] } },
    });
    const named = (await emb.savedModel.load(directory, { signature: 'named' })) as emb.RunnableSavedModel;
    const x = tf.tensor2d([3, 7, -1, 5, -1, -1], [2, 3], 'int32');
    const [expected, outputs] = [model.predict(x) as tf.Tensor, named.predict({ [input!]: x })];
    expect(Object.keys(outputs)).toEqual(['score']);
    const difference = largestDifference(Array.from(outputs['score']!.dataSync()), Array.from(expected.dataSync()));
    expect(difference).toBeLessThanOrEqual(1e-6); // of 1 + |value|
    await expectRejection(async () => named.predict({}), 'TypeError', `inputs.${input!}`);
    await expectRejection(() => emb.savedModel.load(directory, { signature: 'nam' }), 'ValueError', 'signature', 'nam');
    tf.dispose([x, expected, outputs]);
    run.dispose();
    named.dispose();
    model.dispose();
  }, 60_000);

  it('tells what is wrong with a folder', async () => {
    const nowhere = join(folder, 'nowhere');
    await expectRejection(() => emb.savedModel.load(nowhere), 'ValueError', 'directory', 'nowhere');
    await expectRejection(() => emb.savedModel.load(folder), 'ValueError', 'directory', 'saved_model.pb');
    await expectRejection(() => emb.savedModel.load(7 as never), 'TypeError', 'directory', '7');
    await exportTrained();
    await expectRejection(() => emb.savedModel.load(directory, { tags: ['train'] }), 'ValueError', 'tags', 'train');
    await expectRejection(() => emb.savedModel.load(directory, { tag: ['serve'] } as never), 'ValueError', 'tag');
  });

  it('refuses files that were cut, changed or exchanged', async () => {
    await exportTrained({ includeOptimizer: true });
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+/.test(name));
    const damaged = join(folder, 'damaged');
    for (const name of files) {
      if (!existsSync(join(directory, name)) || name === 'assets.extra') continue;
      const bytes = readFileSync(join(directory, name));
      const flipped = Buffer.from(bytes);
      flipped[Math.floor(bytes.length / 3)]! ^= 0x55;
      for (const changed of [bytes.subarray(0, bytes.length / 2), flipped, Buffer.alloc(bytes.length, 0xff)]) {
        cpSync(directory, damaged, { recursive: true });
        writeFileSync(join(damaged, name), changed);
        const result = await emb.savedModel.load(damaged).catch((error: Error) => error);
        const isRefused = result instanceof emb.ValueError;
        // The graph is not read for layers: a change in it that leaves its frame whole does no harm.
        if (!isRefused && name === 'saved_model.pb') {
          (result as tf.LayersModel).optimizer.dispose();
          (result as tf.LayersModel).dispose();
        } else
          expect(isRefused)
            .withContext(`${name}: ${String(result)}`)
            .toBe(true);
        rmSync(damaged, { recursive: true });
      }
    }
  });

  it('refuses a data file that lacks its end, where all weights are left of it', async () => {
    await exportTrained();
    const path = join(directory, 'variables', 'variables.data-00000-of-00001');
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, bytes.length - 1));
    await expectRejection(() => emb.savedModel.load(directory), 'ValueError', 'directory', 'ends before');
  });

  it('refuses a config of which one letter or digit was changed', async () => {
    await exportTrained();
    const path = join(directory, 'assets.extra', 'tfjs_embeddings.json');
    const text = readFileSync(path, 'utf8');
    let changes = 0;
    for (let at = text.search(/[a-z]/); at < text.length; at += 97) {
      if (!/[0-9a-z]/.test(text[at]!)) continue;
      writeFileSync(path, `${text.slice(0, at)}${text[at] === '7' ? '8' : '7'}${text.slice(at + 1)}`);
      const result = await emb.savedModel.load(directory).catch((error: Error) => error);
      expect(result instanceof emb.ValueError)
        .withContext(`letter ${at}: ${String(result)}`)
        .toBeTrue();
      changes += 1;
    }
    expect(changes).toBeGreaterThan(5);
  });

  it('puts back what an export had put aside when it was killed', async () => {
    const weights = await exportTrained();
    cpSync(directory, join(folder, '.model.0123456789abcdef.999999.00000000.old'), { recursive: true });
    rmSync(directory, { recursive: true });
    // Of another machine, so that only its age tells that nobody works on it.
    const { utimesSync } = await import('node:fs');
    utimesSync(join(folder, '.model.0123456789abcdef.999999.00000000.old'), 0, 0);
    const model = (await emb.savedModel.load(directory)) as tf.LayersModel;
    expect(weightsOf(model)).toEqual(weights);
    expect(readdirSync(folder)).toEqual(['model']);
    model.dispose();
  });
});
