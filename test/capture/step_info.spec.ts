/** How captured steps are switched, and what is told of them. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { loadAddon } from '../../src/backends/native/addon.js';
import { StepGraph } from '../../src/capture/step_graph.js';
import { keepSignsOfInt64 } from '../../src/tfjs/tfjs_node/int64_inputs.js';
import { expectError } from '../helpers/errors.js';
import { ours } from '../tfjs/models/own_models.js';
import { ROWS, describeSteps, modelOf, sigmoid } from './training.js';

describeSteps('Captured steps', (allowTensors) => {
  describe('setCapture and stepInfo', () => {
    let graphs: number;
    beforeEach(() => (graphs = loadAddon().graphCount()));

    it('choose for a sequential model that is built anew, before and after it is compiled', async () => {
      for (const isBuilt of [false, true]) {
        const model = ours.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] });
        if (isBuilt) model.summary(undefined, undefined, () => undefined);
        emb.setCapture(false, model);
        const [x, y] = [tf.zeros([4, 2]), tf.zeros([4, 1])];
        for (let round = 0; round < 2; round++) {
          model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
          for (let step = 0; step < 3; step++) await model.trainOnBatch(x, y);
          expect(emb.stepInfo(model).reason).toMatch(/setCapture/);
          model.optimizer.dispose();
        }
        model.dispose();
        tf.dispose([x, y]);
      }
    });

    it('are switched by the environment, where nobody said otherwise', () => {
      const kept = (globalThis as unknown as Record<symbol, Map<string, unknown>>)[Symbol.for('tfjs-embeddings')]!;
      const KEY = 'choices of captured steps';
      const choices = kept.get(KEY);
      const before = process.env['TFJS_EMBEDDINGS_CAPTURE'];
      const model = modelOf();
      const reasonWith = (text: string | undefined): string | null => {
        kept.delete(KEY);
        if (text === undefined) delete process.env['TFJS_EMBEDDINGS_CAPTURE'];
        else process.env['TFJS_EMBEDDINGS_CAPTURE'] = text;
        return emb.stepInfo(model).reason;
      };
      try {
        const on = reasonWith('1');
        expect(on ?? '').not.toMatch(/switched/);
        for (const none of [undefined, '']) expect(reasonWith(none)).toBe(on);
        expect(reasonWith('0')).toMatch(/TFJS_EMBEDDINGS_CAPTURE switched it off/);
        expectError(() => reasonWith('yes'), 'ValueError', 'TFJS_EMBEDDINGS_CAPTURE', '"yes"');
      } finally {
        reasonWith(before);
        kept.set(KEY, choices);
        model.dispose();
      }
    });

    it('go on where SavedModels with inputs of 64 bits have run in the process', async () => {
      keepSignsOfInt64(tf.backend());
      const model = modelOf();
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
      const [x, y] = [tf.zeros([4, 2], 'int32'), tf.zeros([4, 1])];
      for (let step = 0; step < 3; step++) await model.trainOnBatch(x, y);
      expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 1, evictions: 0 });
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([x, y]);
    });

    it('switch one model or all off and on, and free the graphs of a model', async () => {
      const model = modelOf();
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
      const [x, y] = [tf.zeros([4, 2], 'int32'), tf.zeros([4, 1])];
      const train = async (): Promise<emb.StepInfo> => {
        for (let step = 0; step < 3; step++) await model.trainOnBatch(x, y);
        return emb.stepInfo(model);
      };
      expect(emb.stepInfo(model)).toEqual({ captured: false, reason: null, signatures: 0, evictions: 0 });
      expect(await train()).toEqual({ captured: true, reason: null, signatures: 1, evictions: 0 });
      emb.setCapture(false, model);
      expect(loadAddon().graphCount()).toBeLessThanOrEqual(graphs);
      expect((await train()).reason).toMatch(/setCapture/);
      emb.setCapture(true, model);
      emb.setCapture(false);
      expect((await train()).captured)
        .withContext('a choice for a model goes first')
        .toBeTrue();
      emb.setCapture(true);
      await tf.setBackend('cpu');
      expect(emb.stepInfo(model).reason).toMatch(/the backend is cpu/);
      await tf.setBackend('tensorflow');
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([x, y]);
    });

    it('run a step op by op whose batch is a variable of the model, which a graph may write before it reads the batch', async () => {
      const model = ours.sequential({ layers: [tf.layers.dense({ units: 4, inputShape: [4] })] });
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
      const kernel = model.weights[0]!.read();
      const [x, y] = [tf.ones([4, 4]), tf.zeros([4, 4])];
      for (let step = 0; step < 3; step++) await model.trainOnBatch(x, y);
      const run = spyOn(StepGraph.prototype, 'run').and.callThrough();
      for (const [inputs, labels, runs] of [
        [kernel, y, 0],
        [x, kernel, 0],
        [x, y, 1],
      ] as const) {
        await model.trainOnBatch(inputs, labels);
        expect(run).toHaveBeenCalledTimes(runs);
      }
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([x, y]);
    });

    it('tell why models with layers that compute in JavaScript run op by op', () => {
      const ids = tf.input({ shape: [1], dtype: 'int32' });
      const looked = emb.layers.integerLookup({ maxTokens: ROWS, name: 'words' }).apply(ids) as tf.SymbolicTensor;
      const rows = emb.layers.embedding({ inputDim: ROWS, outputDim: 2, combiner: 'sum' }).apply(looked);
      const words = tf.model({ inputs: ids, outputs: sigmoid(rows as tf.SymbolicTensor) });
      const seen = tf.input({ shape: [2], dtype: 'int32' });
      const table = new emb.tpu.TableConfig({ vocabularySize: 8, dim: 2, combiner: 'sum' });
      const optimizer = new emb.tpu.SGD({ learningRate: 0.1 });
      const layer = emb.layers.tpuEmbedding({
        featureConfig: new emb.tpu.FeatureConfig({ table }),
        optimizer,
        name: 'tpu_tables',
      });
      const [pooled] = [layer.apply(seen) as tf.SymbolicTensor | tf.SymbolicTensor[]].flat();
      const tables = tf.model({ inputs: seen, outputs: sigmoid(pooled!) });
      for (const [model, reason, width] of [
        [words, /because layer words \(IntegerLookupLayer\) reads its input in JavaScript\.$/, 1],
        [tables, /because layer tpu_tables looks up and steps tables of its own, which are no variables/, 2],
      ] as const) {
        const x = tf.ones([4, width], 'int32');
        for (let step = 0; step < 4; step++) tf.dispose(model.predict(x));
        expect(emb.stepInfo(model).captured).toBeFalse();
        expect(emb.stepInfo(model).reason).toMatch(reason);
        model.dispose();
        x.dispose();
      }
    });

    it('free the graphs of a model that nobody holds any more', async () => {
      const before = tf.memory().numTensors;
      const [x, y] = [tf.zeros([4, 2], 'int32'), tf.zeros([4, 1])];
      const train = async (): Promise<void> => {
        const model = modelOf((rows) => sigmoid(tf.layers.dropout({ rate: 0.5 }).apply(rows) as tf.SymbolicTensor));
        model.compile({ optimizer: emb.train.adam({ learningRate: 0.1 }), loss: 'meanSquaredError' });
        for (let step = 0; step < 3; step++) await model.trainOnBatch(x, y);
        expect(emb.stepInfo(model).captured).toBeTrue();
      };
      await train();
      tf.dispose([x, y]);
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      for (let tries = 0; tries < 50 && loadAddon().graphCount() > graphs; tries++) {
        collect();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(loadAddon().graphCount()).toBeLessThanOrEqual(graphs);
      // Its variables stay: tfjs frees none that was not disposed.
      allowTensors(tf.memory().numTensors - before);
    });

    it('run a function of the optimizer that was replaced after steps had been captured', async () => {
      const [x, y] = [tf.zeros([4, 2], 'int32'), tf.zeros([4, 1])];
      const model = modelOf();
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
      for (let step = 0; step < 4; step++) await model.trainOnBatch(x, y);
      expect(emb.stepInfo(model).captured).toBeTrue();
      const replaced = spyOn(model.optimizer, 'minimize').and.callThrough();
      await model.trainOnBatch(x, y);
      expect(replaced).toHaveBeenCalledTimes(1);
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([x, y]);
    });

    it('free the graphs of a sequential model that is compiled anew', async () => {
      const layers = [
        emb.layers.embedding({ inputDim: ROWS, outputDim: 4, combiner: 'sum', inputShape: [2] }),
        tf.layers.dense({ units: 1 }),
      ];
      const model = tf.sequential({ layers });
      const [x, y] = [tf.zeros([4, 2], 'int32'), tf.zeros([4, 1])];
      const tensors: number[] = [];
      for (let round = 0; round < 20; round++) {
        model.compile({ optimizer: emb.train.adam({ learningRate: 0.1 }), loss: 'meanSquaredError' });
        for (let step = 0; step < 3; step++) await model.trainOnBatch(x, y);
        for (let batch = 0; batch < 3; batch++) tf.dispose(model.predict(x));
        expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 2, evictions: 0 });
        expect(loadAddon().graphCount() - graphs)
          .withContext(`round ${round}`)
          .toBeLessThanOrEqual(2);
        model.optimizer.dispose();
        tensors.push(tf.memory().numTensors);
      }
      expect(new Set(tensors).size).toBe(1);
      model.dispose();
      tf.dispose([x, y]);
    });

    it('know the model within a sequential one', async () => {
      const layers = [
        emb.layers.embedding({ inputDim: ROWS, outputDim: 4, combiner: 'sum', inputShape: [2] }),
        tf.layers.dense({ units: 1 }),
      ];
      const model = tf.sequential({ layers });
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
      const [x, y] = [tf.zeros([4, 2], 'int32'), tf.zeros([4, 1])];
      for (let step = 0; step < 4; step++) await model.trainOnBatch(x, y);
      expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 1, evictions: 0 });
      emb.setCapture(false, model);
      expect(loadAddon().graphCount()).toBeLessThanOrEqual(graphs);
      emb.setCapture(true, model);
      for (let step = 0; step < 4; step++) await model.trainOnBatch(x, y);
      expect(emb.stepInfo(model).signatures).toBe(1);
      const held = loadAddon().graphCount();
      model.optimizer.dispose();
      model.dispose();
      expect(loadAddon().graphCount()).toBe(held - 1);
      expect(emb.stepInfo(model).reason).toMatch(/weight \S+ was disposed/);
      tf.dispose([x, y]);
    });

    it('keep the graph of a training that is evaluated for the first time', async () => {
      const model = modelOf();
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
      const [x, y] = [tf.zeros([4, 2], 'int32'), tf.zeros([4, 1])];
      for (let step = 0; step < 4; step++) await model.trainOnBatch(x, y);
      tf.dispose(model.evaluate(x, y));
      await model.trainOnBatch(x, y);
      expect(emb.stepInfo(model).signatures).toBe(1);
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([x, y]);
    });

    it('tell of a step whose graph TensorFlow cannot run, and of another backend', async () => {
      const model = modelOf();
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
      const [x, y] = [tf.zeros([4, 2], 'int32'), tf.zeros([4, 1])];
      for (let step = 0; step < 4; step++) await model.trainOnBatch(x, y);
      await tf.setBackend('cpu');
      expect(emb.stepInfo(model)).toEqual(
        jasmine.objectContaining({
          captured: false,
          reason: jasmine.stringMatching(/^Steps run .* the backend is cpu/),
        }),
      );
      await tf.setBackend('tensorflow');
      expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 1, evictions: 0 });
      const held = loadAddon().graphCount();
      const failing = spyOn(StepGraph.prototype, 'run').and.throwError('no memory');
      for (let step = 0; step < 4; step++) await model.trainOnBatch(x, y);
      expect(failing).toHaveBeenCalledTimes(1);
      expect(loadAddon().graphCount()).toBe(held - 1);
      const reason = 'Steps run op by op, because TensorFlow cannot run its graph: no memory.';
      expect(emb.stepInfo(model)).toEqual({ captured: false, reason, signatures: 0, evictions: 0 });
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([x, y]);
    });

    it('say why nothing is captured before compile, and refuse other arguments', () => {
      const model = modelOf();
      expect(emb.stepInfo(model).reason).toMatch(/not compiled/);
      model.dispose();
      expect(() => emb.stepInfo({} as never)).toThrowError(TypeError, /model/);
      expect(() => emb.setCapture('yes' as never)).toThrowError(TypeError, /on/);
      expect(() => emb.setCapture(true, 1 as never)).toThrowError(TypeError, /model/);
    });
  });
});
