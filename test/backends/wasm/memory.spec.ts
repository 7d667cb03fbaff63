import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../../src/base/errors.js';
import * as emb from '../../../src/index.js';
import { lookUp, stepSgd, SUM } from '../cpu/steps.js';
import { describeWasm, wasmBackend } from './wasm_backend.js';

const capacity = (): number => wasmBackend().wasm.HEAPU8.length;

describeWasm('memory of the wasm backend', () => {
  it('is given back by every kernel', () => {
    const table = tf.tidy(() => tf.variable(tf.zeros([1000, 256]))) as unknown as tf.Variable;
    const batch = 1000;
    const round = () =>
      tf.tidy(() => {
        const ids = tf.range(0, batch, 1, 'int32');
        const rowSplits = tf.range(0, batch + 1, 1, 'int32');
        const inputs = { values: ids, rowSplits, weights: tf.ones([batch]), gradient: tf.ones([batch, 256]) };
        const attrs = { ...SUM, rows: 1000 };
        tf.engine().runKernel('EmbeddingBag', { table, ...inputs } as never, attrs);
        tf.engine().runKernel('EmbeddingBagGrad', { table, ...inputs } as never, attrs);
        tf.engine().runKernel('EmbeddingBagWeightsGrad', { table, ...inputs } as never, attrs);
        stepSgd(table, [1, 2, 3]);
      });
    for (let i = 0; i < 20; i++) round();
    const before = capacity();
    for (let i = 0; i < 200; i++) round();
    expect(capacity()).toBe(before);
    table.dispose();
  });

  it('begins tables and large results at lines of the cache, and takes them back', () => {
    const place = (tensor: tf.Tensor): number => wasmBackend().dataIdMap.get(tensor.dataId).memoryOffset;
    const round = (): void =>
      tf.tidy(() => {
        for (const rows of [1000, 33, 17]) {
          const table = tf.randomUniform([rows, 127]);
          const inputs = { table, values: tf.range(0, 16, 1, 'int32'), rowSplits: tf.range(0, 17, 1, 'int32') };
          const pooled = tf.engine().runKernel('EmbeddingBag', inputs as never, { ...SUM }) as tf.Tensor;
          expect([table, pooled].map((tensor) => place(tensor) % 64)).toEqual([0, 0]);
          expect(Array.from(pooled.dataSync())).toEqual(Array.from(table.slice([0, 0], [16, 127]).dataSync()));
        }
      });
    for (let i = 0; i < 20; i++) round();
    const before = capacity();
    for (let i = 0; i < 500; i++) round();
    expect(capacity()).toBe(before);
  });

  it('holds 3 million rows of 32', () => {
    const [rows, dim] = [3_000_000, 32];
    const table = tf.tidy(() => tf.variable(tf.fill([rows, dim], 0.5))) as unknown as tf.Variable;
    const ids = [0, rows - 1, rows - 1, 16_777_217 % rows];
    stepSgd(table, ids);
    const looked = [0, rows - 1, 1, 16_777_217 % rows].map((id) => {
      const row = lookUp(table, [id]);
      const values = Array.from(row.dataSync());
      row.dispose();
      return values;
    });
    expect(looked).toEqual([-0.5, -1.5, 0.5, -0.5].map((value) => new Array<number>(dim).fill(value)));
    expect(() => lookUp(table, [rows])).toThrowError(/= 3000000 is not in \[0, 3000000\)/);
    table.dispose();
  });

  it('that is too small for a table is an error with bytes wanted and available, and everything else stays', () => {
    const small = tf.tensor1d([1, 2, 3]);
    const ids = wasmBackend().numDataIds();
    const tensors = tf.memory().numTensors;
    for (const rows of [40_000_000, 33_554_432]) {
      let error: unknown;
      try {
        tf.tidy(() => tf.variable(tf.zeros([rows, 32])));
      } catch (caught) {
        error = caught;
      }
      expect(error).withContext(`${rows} rows`).toBeInstanceOf(ValueError);
      const { expected, received } = error as ValueError;
      expect(received).toBe(`${rows * 128} bytes`);
      const available = Number(/at most (\d+) bytes/.exec(expected)?.[1]);
      expect(available).toBeGreaterThan(0);
      expect(available).toBeLessThan(rows * 128);
    }
    expect(wasmBackend().numDataIds()).toBe(ids);
    expect(tf.memory().numTensors).toBe(tensors);
    expect(Array.from(small.dataSync())).toEqual([1, 2, 3]);
    small.dispose();
  });

  it('that is too small for the table of a layer is an error that names both, with the bytes', () => {
    const tensors = tf.memory().numTensors;
    const size = { inputDim: 40_000_000, outputDim: 32, combiner: 'sum' as const };
    const ids = tf.input({ shape: [1], dtype: 'int32' });
    const layers = [
      () => emb.layers.embedding({ ...size, name: 'users', embeddingsInitializer: 'zeros' }).apply(ids),
      () => emb.layers.distributedEmbedding({ embeddings: [{ name: 'users', ...size }], name: 'users' }).apply([ids]),
    ];
    for (const build of layers) {
      expect(build).toThrowError(
        ValueError,
        /^`inputDim`: .*fits into memory.*\[40000000, 32\] of table users in layer users, 5120000000 bytes.*WebAssembly/,
      );
    }
    expect(tf.memory().numTensors).toBe(tensors);
  });

  it('that is too small for a result is an error of the same kind', () => {
    tf.tidy(() => {
      const table = tf.zeros([1, 4096]) as tf.Tensor2D;
      const values = tf.tensor1d([0], 'int32');
      const batch = 300_000;
      const rowSplits = tf.fill([batch + 1], 1, 'int32').sub(tf.oneHot([0], batch + 1, 1, 0, 'int32').reshape([-1]));
      const inputs = { table, values, rowSplits } as never;
      expect(() => tf.engine().runKernel('EmbeddingBag', inputs, { ...SUM })).toThrowError(
        ValueError,
        /4915200000 bytes/,
      );
    });
  });
});
