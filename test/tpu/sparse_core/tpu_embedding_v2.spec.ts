/** TPUEmbeddingV2 on emulated cores: lookups, steps, stacks, pipelining, parts of cores, weights and files. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import * as tpu from 'tfjs-embeddings/tpu';
import { expectError } from '../../helpers/errors.js';
import {
  BATCH,
  FEATURE_NAMES,
  farthest,
  gradientsOf,
  ragged,
  TABLES,
  trainV2,
  weightsOf,
  type AnyV2,
  type Features,
} from './batches.js';

import { FOUR, arrays, lookUp, make, onCores, rate, setStart, start, stepOnes, steps } from './v2_on_cores.js';

describe('TPUEmbeddingV2', () => {
  it('gives what serving gives: two features of one table, two tables in one stack', async () => {
    await onCores(FOUR, () => {
      const embedding = make();
      setStart(embedding);
      const found = lookUp(embedding, steps[0]!.ids);
      const [a, b] = embedding.getWeights();
      const bag = (table: tf.Tensor2D, ids: number[][], combiner: emb.Combiner): unknown => {
        const rows = emb.RaggedTensor.fromRows(ids, { dtype: 'int32' });
        const pooled = emb.embeddingLookup(table, rows, { combiner }) as tf.Tensor;
        const values = pooled.arraySync();
        pooled.dispose();
        return values;
      };
      const { x, y, z } = steps[0]!.ids;
      const expected = { x: bag(a!, x, 'mean'), y: bag(b!, y, 'sum'), z: bag(a!, z, 'mean') };
      for (const name of FEATURE_NAMES) {
        const [got, wanted] = [found[name], expected[name]].map((each) =>
          Float32Array.from((each as number[][]).flat()),
        );
        expect(farthest(got!, wanted!)).withContext(name).toBeLessThan(1e-6);
      }
      tf.dispose([a!, b!]);
      embedding.dispose();
    });
  });

  it('takes dense, sparse and ragged features, ranks above 2, and weights of each', async () => {
    await onCores(FOUR, () => {
      const table = new tpu.TableConfig({
        vocabularySize: 10,
        dim: 3,
        combiner: 'sum',
        initializer: new tpu.RowIdInitializer(),
      });
      const feature = (outputShape: number[]): tpu.FeatureConfig => new tpu.FeatureConfig({ table, outputShape });
      const config = [feature([2, 2]), feature([4]), feature([4]), feature([4])];
      const embedding: AnyV2 = new tpu.TPUEmbeddingV2({ featureConfig: config, optimizer: new tpu.SGD(rate) });
      const dense = tf.tensor3d(
        [
          [[1], [2]],
          [[3], [4]],
        ],
        [2, 2, 1],
        'int32',
      );
      const sparse = {
        indices: [
          [0, 0],
          [0, 1],
          [3, 0],
        ],
        values: [5, 6, 7],
        denseShape: [4, 2],
      };
      const deep = {
        indices: [
          [0, 1, 0],
          [2, 0, 0],
          [2, 1, 1],
        ],
        values: [1, 2, 3],
        denseShape: [4, 2, 2],
      };
      const rows = emb.RaggedTensor.fromRows([[8, 9], [], [0], [1, 1]]);
      const weights = [
        [1, 2, 3, 4],
        { ...sparse, values: [0.5, 1, 2] },
        null,
        emb.RaggedTensor.fromRows([[1, 2], [], [3], [0.5, 0.25]]),
      ];
      const [plain, preserved] = embedding.embeddingLookup([dense, sparse, deep, rows]);
      const [weighted] = embedding.embeddingLookup([dense, sparse, deep, rows], weights);
      const first = (activations: tf.Tensor[]): number[][] =>
        activations.map((each) => Array.from(each.dataSync()).filter((_, i) => i % 3 === 0));
      expect((plain as tf.Tensor[]).map(({ shape }) => shape)).toEqual([
        [2, 2, 3],
        [4, 3],
        [4, 3],
        [4, 3],
      ]);
      expect(first(plain as tf.Tensor[])).toEqual([
        [1, 2, 3, 4],
        [11, 0, 0, 7],
        [1, 0, 5, 0],
        [17, 0, 0, 2],
      ]);
      expect(first(weighted as tf.Tensor[])).toEqual([
        [1, 4, 9, 16],
        [8.5, 0, 0, 14],
        [1, 0, 5, 0],
        [26, 0, 0, 0.75],
      ]);
      expect(preserved['table_0']!.sampleCount).toBe(16);
      tf.dispose([plain, weighted, dense] as tf.Tensor[]);
      embedding.dispose();
    });
  });

  it('moves rows by the learning rate times their count with SGD and gradients of ones', async () => {
    await onCores(FOUR, () => {
      const embedding = make();
      setStart(embedding);
      const { ids } = steps[0]!;
      stepOnes(embedding, ids);
      const found = weightsOf(embedding);
      const counts = new Float32Array(TABLES.b.rows);
      for (const id of ids.y.flat()) counts[id]!++;
      const expected = start.b.map((value, i) => value - 0.1 * counts[Math.floor(i / TABLES.b.dim)]!);
      expect(farthest(found.b, expected)).toBeLessThan(1e-6);
      embedding.dispose();
    });
  });

  it('trains the same tables with stacking and without', async () => {
    await onCores(FOUR, () => {
      const apart = new tpu.SparseCoreEmbeddingConfig({ disableTableStacking: true });
      const [stacked, alone] = [make(), make({ sparseCoreEmbeddingConfig: apart })];
      expect([...alone.embeddingTables.keys()]).toEqual(['a', 'b']);
      const [one, other] = [trainV2(stacked, start, steps), trainV2(alone, start, steps)];
      expect(farthest(one.a, other.a)).toBeLessThan(1e-6);
      expect(farthest(one.b, other.b)).toBeLessThan(1e-6);
      stacked.dispose();
      alone.dispose();
    });
  });

  it('reads tables that are exactly one step old where execution is pipelined', async () => {
    await onCores(FOUR, () => {
      const [late, prompt] = [make({ pipelineExecutionWithTensorCore: true }), make()];
      const zeros = { x: tf.zeros([BATCH, 6]), y: tf.zeros([BATCH, 8]), z: tf.zeros([BATCH, 6]) };
      const gradients = steps.map((step) => gradientsOf(zeros, step));
      setStart(late);
      setStart(prompt);
      // What a prompt lookup finds before step n - 1 is what the pipelined one finds in step n.
      const before: Record<string, unknown>[] = [];
      const found: Record<string, unknown>[] = [];
      steps.forEach(({ ids }, n) => {
        before.push(lookUp(prompt, steps[n + 1]?.ids ?? ids));
        const csr = prompt.enqueue(ragged(ids));
        prompt.applyGradients(gradients[n], csr);
        const [activations, preserved] = late.embeddingLookup(ragged(ids));
        found.push(arrays(activations));
        // Reading tables in between changes nothing.
        if (n === 1) weightsOf(late);
        late.applyGradients(gradients[n], preserved);
      });
      for (let n = 1; n < steps.length; n++)
        expect(found[n])
          .withContext(`step ${n}`)
          .toEqual(before[n - 1]!);
      expect(weightsOf(late)).toEqual(weightsOf(prompt));
      // After a read in between the next lookup is still one step late.
      const stale = lookUp(late, steps[0]!.ids);
      const fresh = lookUp(late, steps[0]!.ids);
      expect(stale).not.toEqual(fresh);
      expect(fresh).toEqual(lookUp(prompt, steps[0]!.ids));
      late.dispose();
      prompt.dispose();
      tf.dispose([zeros, ...gradients].map((each) => Object.values(each) as tf.Tensor[]));
    });
  });

  it('joins the parts of cores once all are there', async () => {
    await onCores(FOUR, () => {
      const embedding = make();
      setStart(embedding);
      const { ids } = steps[0]!;
      const whole = lookUp(embedding, ids);
      const part = (core: number): Features<number[][]> => {
        const [from, to] = [(core * BATCH) / 4, ((core + 1) * BATCH) / 4];
        return { x: ids.x.slice(from, to), y: ids.y.slice(from, to), z: ids.z.slice(from, to) };
      };
      const enqueue = (core: number): tpu.Partitioned =>
        embedding.enqueue(ragged(part(core)), null, { device: `/device:TPU:${core}` });
      const parts = [2, 0, 3].map(enqueue);
      expectError(() => embedding.dequeue(parts[0]!), 'RuntimeError', 'dequeue', 'one without');
      const last = enqueue(1);
      const [activations, preserved] = embedding.dequeue(last);
      expect(preserved).toEqual(embedding.enqueue(ragged(ids)));
      expect(arrays(activations)).toEqual(whole);
      expectError(() => embedding.enqueue(ragged(ids), null, { device: '/device:CPU:0' }), 'ValueError', 'device');
      expectError(() => embedding.enqueue(ragged(ids), null, { device: '/device:TPU:4' }), 'ValueError', 'device');
      embedding.dispose();
    });
  });

  it('takes null for gradients, of padded tables too: zeros, which leave tables alone with SGD', async () => {
    await onCores(FOUR, () => {
      const embedding = make();
      setStart(embedding);
      const [activations, preserved] = embedding.embeddingLookup(ragged(steps[0]!.ids));
      tf.dispose(activations as tf.TensorContainer);
      embedding.applyGradients({ x: null, y: null, z: null }, preserved);
      expect(weightsOf(embedding)).toEqual(start);
      embedding.dispose();
    });
  });

  it('steps each occurrence by itself without gradient accumulation', async () => {
    await onCores(FOUR, () => {
      const optimizer = new tpu.Adagrad({ ...rate, useGradientAccumulation: false, initialAccumulatorValue: 1 });
      const table = new tpu.TableConfig({
        vocabularySize: 8,
        dim: 1,
        combiner: 'sum',
        initializer: tf.initializers.zeros(),
      });
      const config = new tpu.FeatureConfig({ table, outputShape: [4] });
      const embedding: AnyV2 = new tpu.TPUEmbeddingV2({ featureConfig: config, optimizer });
      const [activations, preserved] = embedding.embeddingLookup([3, 3, 3, 0]);
      const gradient = tf.ones([4, 1]);
      embedding.applyGradients(gradient, preserved);
      // Accumulators 2, 3 and 4 in turn.
      const expected = -0.1 * (1 / Math.sqrt(2) + 1 / Math.sqrt(3) + 1 / 2);
      const weights = embedding.getWeights();
      expect(weights[0]!.dataSync()[3]).toBeCloseTo(expected, 6);
      expect(weights[1]!.dataSync()[3]).toBeCloseTo(4, 6);
      tf.dispose([activations as tf.Tensor, gradient, ...weights]);
      embedding.dispose();
    });
  });

  it('quantizes rows where they are looked up, and not where they are kept', async () => {
    await onCores(FOUR, () => {
      const quantizationConfig = new tpu.QuantizationConfig({ numBuckets: 5, lower: -1, upper: 1 });
      const values = [-2, -0.76, -0.1, 0.24, 0.26, 3, 0.5, 0.99];
      const initializer = (shape: number[]): tf.Tensor => tf.tensor(values, shape);
      const table = new tpu.TableConfig({
        vocabularySize: 8,
        dim: 1,
        combiner: 'sum',
        initializer,
        quantizationConfig,
      });
      const config = new tpu.FeatureConfig({ table, outputShape: [8] });
      const embedding: AnyV2 = new tpu.TPUEmbeddingV2({ featureConfig: config, optimizer: new tpu.SGD(rate) });
      const [activations] = embedding.embeddingLookup([0, 1, 2, 3, 4, 5, 6, 7]);
      expect([...(activations as tf.Tensor).dataSync()]).toEqual([-1, -1, 0, 0, 0.5, 1, 0.5, 1]);
      const weights = embedding.getWeights();
      expect([...weights[0]!.dataSync()]).toEqual(values.map(Math.fround));
      tf.dispose([activations as tf.Tensor, ...weights]);
      embedding.dispose();
    });
  });

  it('asks a dynamic learning rate once in a step, for all its tables', async () => {
    await onCores(FOUR, () => {
      let asked = 0;
      const learningRate = (): number => {
        asked++;
        return 0.1 * asked;
      };
      const apart = new tpu.SparseCoreEmbeddingConfig({ disableTableStacking: true });
      const embedding = make({ optimizer: new tpu.SGD({ learningRate }), sparseCoreEmbeddingConfig: apart });
      setStart(embedding);
      stepOnes(embedding, steps[0]!.ids);
      stepOnes(embedding, steps[1]!.ids);
      expect(asked).toBe(2);
      embedding.dispose();
    });
  });

  it('reads tables that were set in between as they were set, where execution is pipelined', async () => {
    await onCores(FOUR, () => {
      const [late, prompt] = [make({ pipelineExecutionWithTensorCore: true }), make()];
      setStart(late);
      stepOnes(late, steps[0]!.ids);
      const twos = [tf.fill([TABLES.a.rows, TABLES.a.dim], 2), tf.fill([TABLES.b.rows, TABLES.b.dim], 2)];
      for (const embedding of [late, prompt]) embedding.setWeights(twos);
      expect(lookUp(late, steps[1]!.ids)).toEqual(lookUp(prompt, steps[1]!.ids));
      prompt.dispose();
      tf.dispose(twos);
      late.dispose();
    });
  });

  it('asks dynamic learning rates when gradients come, also where the step waits', async () => {
    await onCores(FOUR, () => {
      let learningRate = 0.1;
      const args = {
        pipelineExecutionWithTensorCore: true,
        optimizer: new tpu.SGD({ learningRate: () => learningRate }),
      };
      const [late, prompt] = [make(args), make()];
      for (const embedding of [late, prompt]) {
        setStart(embedding);
        stepOnes(embedding, steps[0]!.ids);
      }
      learningRate = 1000;
      expect(weightsOf(late)).toEqual(weightsOf(prompt));
      late.dispose();
      prompt.dispose();
    });
  });
});
