import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectError } from '../../helpers/errors.js';
import { expectNoLeak } from '../../helpers/tensors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { onCores, ragged } from './fixture.js';

const { tpu } = emb;

/** One table of rows that hold their number; ids give themselves. */
function make(
  args: object = {},
  table: object = {},
): emb.tpu.TPUEmbedding<emb.tpu.FeatureConfig> & { table: emb.tpu.TableConfig } {
  const initializer = new tpu.RowIdInitializer();
  const config = new tpu.TableConfig({ vocabularySize: 8, dim: 1, initializer, combiner: 'sum', ...table });
  const featureConfig = new tpu.FeatureConfig({ table: config });
  const optimizer = new tpu.SGD({ learningRate: 1 });
  return Object.assign(new tpu.TPUEmbedding({ featureConfig, optimizer, ...args }), { table: config });
}
type Embedding = ReturnType<typeof make>;

function dequeue(embedding: Embedding, options?: emb.tpu.QueueOptions): number[] {
  const activations = embedding.dequeue(options);
  const values = [...activations.dataSync()];
  activations.dispose();
  return values;
}

/** Applies a gradient of this value for each of two samples. */
function apply(embedding: Embedding, value: number, options?: emb.tpu.QueueOptions): void {
  const gradient = tf.fill([2, 1], value);
  try {
    embedding.applyGradients(gradient, options);
  } finally {
    gradient.dispose();
  }
}

const rowsOf = (embedding: Embedding): number[] => [...embedding.embeddingTables.get(embedding.table)!.dataSync()];

describe('TPUEmbedding, the order of calls', () => {
  it('is first in, first out; enqueue may run ahead, and lookups see every step before', async () => {
    await onCores(2, () => {
      const embedding = make();
      embedding.enqueue([1, 2]);
      embedding.enqueue([2, 3]);
      embedding.enqueue([1, 3], null, { training: false });
      expect(dequeue(embedding)).toEqual([1, 2]);
      apply(embedding, 1);
      expect(dequeue(embedding)).toEqual([1, 3]);
      apply(embedding, 1);
      expect(dequeue(embedding)).toEqual([0, 2]);
      expect(rowsOf(embedding)).toEqual([0, 0, 0, 2, 4, 5, 6, 7]);
      embedding.dispose();
    });
  });

  it('names the call that is missing, and goes on where that is made up for', async () => {
    await onCores(2, () => {
      const embedding = make();
      expectError(() => embedding.dequeue(), 'RuntimeError', 'dequeue', 'none');
      expectError(() => embedding.applyGradients(null), 'RuntimeError', 'applyGradients', 'none');
      embedding.build(2);
      expectError(() => embedding.dequeue(), 'RuntimeError', 'dequeue', 'no batch');
      expectError(() => apply(embedding, 1), 'RuntimeError', 'applyGradients', 'no training batch');
      embedding.enqueue([1, 2]);
      expectError(() => apply(embedding, 1), 'RuntimeError', 'applyGradients', 'no training batch');
      embedding.enqueue([2, 3]);
      dequeue(embedding);
      expectError(() => embedding.dequeue(), 'RuntimeError', 'dequeue', '1 without gradients');
      apply(embedding, 1);
      expect(dequeue(embedding)).toEqual([1, 3]);
      apply(embedding, 1);
      expectError(() => apply(embedding, 1), 'RuntimeError', 'applyGradients', 'no training batch');
      embedding.dispose();
    });
  });

  it('asks no gradients of inference', async () => {
    await onCores(2, () => {
      const embedding = make();
      for (let i = 0; i < 3; i++) embedding.enqueue([1, 2], null, { training: false });
      for (let i = 0; i < 3; i++) expect(dequeue(embedding)).toEqual([1, 2]);
      expectError(() => apply(embedding, 1), 'RuntimeError', 'applyGradients');
      embedding.dispose();
    });
  });

  it('holds for each named queue by itself', async () => {
    await onCores(2, () => {
      const embedding = make();
      embedding.enqueue([1, 2], null, { name: 'a' });
      embedding.enqueue([3, 4], null, { name: 'b' });
      expectError(() => embedding.dequeue(), 'RuntimeError', 'dequeue');
      expect(dequeue(embedding, { name: 'b' })).toEqual([3, 4]);
      expectError(() => apply(embedding, 1, { name: 'a' }), 'RuntimeError', 'applyGradients');
      expect(dequeue(embedding, { name: 'a' })).toEqual([1, 2]);
      apply(embedding, 1, { name: 'b' });
      apply(embedding, 2, { name: 'a' });
      expect(rowsOf(embedding)).toEqual([0, -1, 0, 2, 3, 5, 6, 7]);
      embedding.dispose();
    });
  });

  it('joins the parts of cores once all are there', async () => {
    await onCores(2, () => {
      const embedding = make();
      const part = (core: number, ids: unknown): void =>
        embedding.enqueue(ids, null, { device: `/task:0/device:TPU:${core}` });
      part(1, ragged([[3, 4], []]));
      expectError(() => embedding.dequeue(), 'RuntimeError', 'dequeue');
      part(1, ragged([[5]]));
      part(0, ragged([[1]]));
      expect(embedding.outputShapes).toEqual([3]);
      expect(dequeue(embedding)).toEqual([1, 7, 0]);
      expectError(() => embedding.dequeue(), 'RuntimeError', 'dequeue', '/device:TPU:0 are missing');
      part(0, ragged([[1], [2]]));
      const gradient = tf.ones([3, 1]);
      embedding.applyGradients(gradient);
      gradient.dispose();
      expect(dequeue(embedding)).toEqual([0, 2, 5]);
      embedding.dispose();
    });
  });

  it('joins dense and sparse parts too, with weights where some have them', async () => {
    await onCores(2, () => {
      const dense = make();
      const on = (core: number): emb.tpu.EnqueueOptions => ({ device: `/device:TPU:${core}`, training: false });
      dense.enqueue([[1], [2]], null, on(0));
      dense.enqueue([[3]], null, on(1));
      expect(dequeue(dense)).toEqual([1, 2, 3]);
      dense.dispose();
      const sparse = make();
      const ids = {
        indices: [
          [0, 0],
          [0, 4],
        ],
        values: [1, 2],
        denseShape: [2, 5],
      };
      sparse.enqueue(ids, { ...ids, values: [0.5, 2] }, on(0));
      sparse.enqueue({ indices: [[0, 1]], values: [6], denseShape: [1, 2] }, null, on(1));
      expect(dequeue(sparse)).toEqual([4.5, 0, 6]);
      sparse.enqueue(ids, null, on(0));
      expectError(() => sparse.enqueue(ragged([[1]]), null, on(1)), 'ValueError', 'features', 'ragged');
      sparse.enqueue(ids, null, on(0));
      const training = { ...on(1), training: true };
      expectError(() => sparse.enqueue(ids, null, training), 'RuntimeError', 'enqueue', 'several');
      sparse.dispose();
    });
  });

  it('refuses devices that are none, and names that are no text', async () => {
    await onCores(2, () => {
      const embedding = make();
      for (const device of ['/device:CPU:0', '/device:TPU:2', '', 3]) {
        expectError(() => embedding.enqueue([1], null, { device: device as string }), 'ValueError', 'device');
      }
      expectError(() => embedding.enqueue([1], null, { name: 3 as never }), 'ValueError', 'name');
      expectError(() => embedding.enqueue([1], null, { training: 1 as never }), 'TypeError', 'training');
      expectError(() => embedding.enqueue([1], null, { trainig: true } as never), 'ValueError', 'trainig');
      embedding.dispose();
    });
  });
});

describe('TPUEmbedding, pipelining', () => {
  it('reads tables as they were before the step of the batch before', async () => {
    for (const isLooked of [false, true]) {
      await onCores(2, () => {
        const embedding = make({ pipelineExecutionWithTensorCore: true });
        const seen: number[][] = [];
        for (let step = 0; step < 4; step++) {
          embedding.enqueue([1, 2]);
          seen.push(dequeue(embedding));
          apply(embedding, 1);
          if (isLooked) expect(rowsOf(embedding).slice(1, 3)).toEqual([0 - step, 1 - step]);
        }
        expect(seen).toEqual([
          [1, 2],
          [1, 2],
          [0, 1],
          [-1, 0],
        ]);
        expect(rowsOf(embedding).slice(0, 4)).toEqual([0, -3, -2, 3]);
        embedding.dispose();
      });
    }
  });

  it('lets one batch be dequeued ahead of its gradients, and no more', async () => {
    await onCores(2, () => {
      const embedding = make({ pipelineExecutionWithTensorCore: true });
      for (let i = 0; i < 3; i++) embedding.enqueue([1, 2]);
      expect(dequeue(embedding)).toEqual([1, 2]);
      expect(dequeue(embedding)).toEqual([1, 2]);
      expectError(() => embedding.dequeue(), 'RuntimeError', 'dequeue', '2 without gradients');
      apply(embedding, 1);
      expect(dequeue(embedding)).toEqual([0, 1]);
      embedding.dispose();
    });
  });

  it('reads tables that were set in between as they were set', async () => {
    await onCores(2, () => {
      const embedding = make({ pipelineExecutionWithTensorCore: true });
      embedding.enqueue([1, 2]);
      dequeue(embedding);
      apply(embedding, 1);
      embedding.setWeights([new Float32Array(8).fill(5)]);
      embedding.enqueue([1, 2]);
      expect(dequeue(embedding)).toEqual([5, 5]);
      embedding.dispose();
    });
  });

  it('reads tables that were loaded in between as they were loaded', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-pipelined-'));
    try {
      for (const format of ['npy', 'tfjs'] as const) {
        await onCores(2, async () => {
          const embedding = make({ pipelineExecutionWithTensorCore: true });
          embedding.setWeights([new Float32Array(8).fill(7)]);
          await embedding.save(join(folder, format), { format });
          embedding.setWeights([new Float32Array(8).fill(1)]);
          for (let time = 0; time < 2; time++) {
            embedding.enqueue([1, 2]);
            dequeue(embedding);
            apply(embedding, 1);
            await embedding.load(join(folder, format));
            embedding.enqueue([1, 2], null, { training: false });
            expect(dequeue(embedding)).toEqual([7, 7]);
            expect(rowsOf(embedding)).toEqual(new Array(8).fill(7));
          }
          embedding.dispose();
        });
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('asks dynamic learning rates when gradients come', async () => {
    await onCores(2, () => {
      let rate = 1;
      const optimizer = new tpu.SGD({ learningRate: () => rate });
      const embedding = make({ optimizer, pipelineExecutionWithTensorCore: true });
      embedding.enqueue([1, 2]);
      dequeue(embedding);
      apply(embedding, 1);
      rate = 100;
      expect(rowsOf(embedding).slice(1, 3)).toEqual([0, 1]);
      embedding.dispose();
    });
  });
});

describe('TPUEmbedding, initialization', () => {
  it('asks for the emulator; without it there are tables alone', () => {
    expectNoLeak(() => {
      const embedding = make();
      for (const [method, call] of [
        ['enqueue', () => embedding.enqueue([1])],
        ['dequeue', () => embedding.dequeue()],
        ['applyGradients', () => embedding.applyGradients(null)],
      ] as const) {
        expectError(call, 'RuntimeError', method, 'the backend');
      }
      embedding.build();
      expect(rowsOf(embedding)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      expect(embedding.embeddingTables.get(embedding.table)!.trainable).toBeTrue();
      embedding.dispose();
    });
  });

  it('needs no optimizer without the emulator, and one with it', async () => {
    const embedding = make({ optimizer: null });
    expect(rowsOf(embedding).length).toBe(8);
    embedding.dispose();
    await onCores(2, () => {
      expectError(() => make({ optimizer: null }), 'ValueError', 'optimizer', 'null');
      expectError(() => embedding.build(2), 'ValueError', 'optimizer', 'null');
      expectError(() => make({ optimizer: emb.train.sgd() }), 'ValueError', 'optimizer');
      const customComputation: emb.tpu.CustomComputation = ({ parameters }) => ({ parameters });
      const custom = new tpu.CustomOptimizer({ customComputation });
      expectError(() => make({ optimizer: custom }), 'RuntimeError', 'optimizer', 'CustomOptimizer');
    });
  });

  it('permits one object on the devices until it is disposed', async () => {
    await onCores(2, () => {
      const [first, second] = [make(), make()];
      first.build(2);
      expectError(() => second.build(2), 'RuntimeError', 'build', 'another one');
      expectError(() => second.enqueue([1, 2]), 'RuntimeError', 'build', 'another one');
      first.dispose();
      second.enqueue([1, 2]);
      expect(dequeue(second)).toEqual([1, 2]);
      second.dispose();
      first.enqueue([1, 2, 3], null, { training: false });
      expect(dequeue(first)).toEqual([1, 2, 3]);
      first.dispose();
    });
  });

  it('tells tables on devices that are gone', async () => {
    const embedding = make();
    await withTpuEmulator({ chips: 2 }, () => embedding.build(2));
    await withTpuEmulator({ chips: 2 }, () => {
      expectError(() => embedding.enqueue([1, 2]), 'RuntimeError', 'enqueue', 'others');
    });
  });

  it('frees what waits, of training, of pipelining and of parts', async () => {
    await onCores(2, () => {
      for (const pipelineExecutionWithTensorCore of [false, true]) {
        const embedding = make({ pipelineExecutionWithTensorCore });
        embedding.enqueue([1, 2]);
        embedding.enqueue([1, 2]);
        embedding.enqueue([1], null, { device: '/device:TPU:0' });
        dequeue(embedding);
        apply(embedding, 1);
        rowsOf(embedding);
        dequeue(embedding);
        embedding.dispose();
      }
    });
  });

  it('deals rows out to the devices, modulo', async () => {
    await onCores(3, () => {
      const embedding = make({}, { vocabularySize: 5 });
      embedding.build(2);
      const { devices } = emb.tpuEmulator().counters();
      expect(devices.map(({ memory }) => memory.tables)).toEqual([8, 8, 4]);
      embedding.dispose();
    });
  });

  it('names tables and gives them the optimizer, as in TensorFlow', async () => {
    await onCores(1, () => {
      const optimizer = new tpu.Adam();
      const embedding = make({ optimizer });
      expect([embedding.table.name, embedding.table.optimizer]).toEqual(['table_0', optimizer]);
      const table = new tpu.TableConfig({ vocabularySize: 8, dim: 1, name: 'a' });
      const other = new tpu.TableConfig({ vocabularySize: 8, dim: 1, name: 'a' });
      const featureConfig = [table, other].map((each) => new tpu.FeatureConfig({ table: each }));
      expectError(() => new tpu.TPUEmbedding({ featureConfig, optimizer }), 'ValueError', 'name', 'named a');
    });
  });
});
