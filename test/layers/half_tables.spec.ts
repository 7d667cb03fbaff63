/** Tables of float16: their weights, their memory, and what is refused. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { halfValue, nearestHalf } from '../../src/codecs/half.js';
import { FLOAT16 } from '../../src/codecs/float16.js';
import { releaseFailedTape } from '../../src/tfjs/failed_tape.js';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';
import { DIM, ROWS, batch, compile, dispose, towers, trained, wordsOf } from './half_towers.js';
import { ids, leakFree, useCpu } from './setup.js';

describe('a table of float16 in training', () => {
  beforeAll(useCpu);

  it(
    'is refused on virtual devices, where such tables are looked up in the memory of the host',
    leakFree(async () => {
      await withTpuEmulator({ chips: 2 }, async () => {
        const layer = emb.layers.embedding({
          inputDim: 9,
          outputDim: 4,
          combiner: 'sum',
          storage: 'float16',
          name: 'items',
        });
        const rows = ids([[1, 2, 1]]);
        layer.apply(rows).dispose();
        const optimizer = emb.train.adagrad({ learningRate: 1 });
        const step = (): void => void optimizer.minimize(() => tf.sum(layer.apply(rows) as tf.Tensor) as tf.Scalar);
        expect(step).toThrowError(emb.RuntimeError);
        expect(step).toThrowError(/table items\/embeddings of storage 'float16'.*tpu-emulator/);
        rows.dispose();
        layer.dispose();
        optimizer.dispose();
      });
    }),
  );

  it(
    'is thawed in a quantized model, which is frozen at first',
    leakFree(async () => {
      const plain = compile(towers('float32'));
      await trained(plain);
      const half = emb.quantize(plain, { dtype: 'float16' });
      expect(half.trainableWeights.length).toBe(2);
      const words = wordsOf(half);
      half.layers[0]!.trainable = true;
      expect(half.trainableWeights.length).toBe(3);
      compile(half);
      await trained(half);
      expect(wordsOf(half)).not.toEqual(words);
      dispose(plain, half);
    }),
  );

  it(
    'is refused by name where nothing does it',
    leakFree(async () => {
      const { x, y, dispose: free } = batch();
      const stock = towers('float16');
      const sgd = tf.train.sgd(0.1);
      stock.compile({ optimizer: sgd, loss: 'meanSquaredError' });
      await expectAsync(stock.trainOnBatch(x, y)).toBeRejectedWithError(/emb\.train optimizer.*items.*float16/);
      const loss = (): tf.Scalar => tf.sum(stock.apply(x) as tf.Tensor) as tf.Scalar;
      expect(() => tf.tidy(() => void sgd.minimize(loss))).toThrowError(/emb\.train optimizer.*items.*float16/);
      releaseFailedTape();
      stock.layers[0]!.trainable = false;
      stock.compile({ optimizer: sgd, loss: 'meanSquaredError' });
      const words = wordsOf(stock);
      await stock.trainOnBatch(x, y);
      expect(wordsOf(stock)).toEqual(words);
      const codes = compile(towers('int8'));
      await expectAsync(codes.trainOnBatch(x, y)).toBeRejectedWithError(/'float32' or 'float16'.*items/);
      codes.layers[0]!.trainable = false;
      await codes.trainOnBatch(x, y);
      const optimizer = emb.train.sgd({ learningRate: 1 });
      const own = { inputDim: 2, outputDim: 2, storage: 'int8', optimizer } as const;
      expect(() => emb.layers.embedding(own)).toThrowError(/none for a table of storage 'int8'/);
      expect(() => emb.layers.embedding({ inputDim: 2, outputDim: 2, storage: 'float8' as never })).toThrowError(
        emb.ValueError,
      );
      expect(() => emb.layers.embedding({ inputDim: 2, outputDim: 2, storage: 16 as never })).toThrowError(TypeError);
      free();
      dispose(stock, codes);
      optimizer.dispose();
    }),
  );

  it(
    'takes half the memory for its table',
    leakFree(() => {
      const row = ids([[0]]);
      const bytes = (['float32', 'float16'] as const).map((storage) => {
        const layer = emb.layers.embedding({ inputDim: 1000, outputDim: 64, storage });
        const before = tf.memory().numBytes;
        layer.apply(row).dispose();
        const taken = tf.memory().numBytes - before;
        layer.dispose();
        return taken;
      });
      expect(bytes).toEqual([256000, 128000]);
      row.dispose();
    }),
  );

  it(
    'takes and gives float32 weights: of the layer, the model and a file',
    leakFree(async () => {
      const plain = compile(towers('float32'));
      await trained(plain);
      const half = compile(towers('float16', { seed: 8 }));
      const numbers = plain.layers[0]!.getWeights()[0]!.dataSync<'float32'>();
      const expected = numbers.map((value) => halfValue(nearestHalf(value)));
      const check = (): void => expect(FLOAT16.unpack(wordsOf(half), DIM)).toEqual(expected);
      half.layers[0]!.setWeights([plain.layers[0]!.getWeights()[0]!]);
      check();
      tf.tidy(() => half.layers[0]!.setWeights([tf.zeros([ROWS, DIM])]));
      half.setWeights(plain.getWeights());
      check();
      tf.tidy(() => half.layers[0]!.setWeights([tf.zeros([ROWS, DIM])]));
      const named = Object.fromEntries(plain.weights.map((weight) => [weight.originalName, weight.read()]));
      half.loadWeights(named);
      check();
      const back = emb.quantize(half, { dtype: 'float32' });
      expect(back.layers[0]!.getWeights()[0]!.dataSync<'float32'>()).toEqual(expected);
      await trained(half, 1);
      compile(back);
      expect((await trained(back, 1))[0]).toBeGreaterThan(0);
      dispose(plain, half, back);
    }),
  );
});
