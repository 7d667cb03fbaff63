/** What one topology saves every other one loads: cores, stacks, versions of the API, serving, plain layers. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { BATCH, FEATURE_NAMES, featureConfig, ragged, randomStep, TABLES } from '../sparse_core/batches.js';
import { Random } from '../../helpers/random.js';

const { tpu } = emb;

type Machine = { readonly chips: number; readonly coresPerChip: number } | null;
type AnyEmbedding = emb.tpu.TPUEmbedding | emb.tpu.TPUEmbeddingV2 | emb.tpu.TPUEmbeddingForServing;

interface Topology {
  readonly machine: Machine;
  readonly make: () => AnyEmbedding;
}

const optimizer = new tpu.Adam({ learningRate: 0.1 });
const apart = new tpu.SparseCoreEmbeddingConfig({ disableTableStacking: true });
const v1 = (): AnyEmbedding =>
  new tpu.TPUEmbedding({ featureConfig: { ...featureConfig() }, optimizer }) as emb.tpu.TPUEmbedding;
const v2 = (change: object) => (): AnyEmbedding =>
  new tpu.TPUEmbeddingV2({ featureConfig: featureConfig(), optimizer, ...change }) as emb.tpu.TPUEmbeddingV2;

const TOPOLOGIES: Record<string, Topology> = {
  'TPUEmbedding on 1 core': { machine: { chips: 1, coresPerChip: 1 }, make: v1 },
  'TPUEmbedding on 6 cores': { machine: { chips: 3, coresPerChip: 2 }, make: v1 },
  'TPUEmbeddingV2 on 8 cores, stacked': { machine: { chips: 2, coresPerChip: 4 }, make: v2({}) },
  'TPUEmbeddingV2 on 4 cores, without stacks': {
    machine: { chips: 1, coresPerChip: 4 },
    make: v2({ sparseCoreEmbeddingConfig: apart }),
  },
  TPUEmbeddingForServing: {
    machine: null,
    make: () => new tpu.TPUEmbeddingForServing({ featureConfig: { ...featureConfig() }, optimizer }),
  },
};

/** Runs on the machine of a topology, with an object of it. */
async function on<T>({ machine, make }: Topology, body: (embedding: AnyEmbedding) => Promise<T>): Promise<T> {
  const run = (): Promise<T> =>
    expectNoLeakAsync(async () => {
      const embedding = make();
      try {
        return await body(embedding);
      } finally {
        embedding.dispose();
      }
    });
  return machine === null ? run() : withTpuEmulator(machine, run);
}

function valuesOf(embedding: AnyEmbedding): Float32Array[] {
  const weights = embedding.getWeights();
  const values = weights.map((weight) => weight.dataSync<'float32'>().slice());
  if (embedding instanceof tpu.TPUEmbeddingV2) tf.dispose(weights);
  return values;
}

/** Values that differ everywhere: of tables a and b, then of momenta and velocities of each. */
function started(random: Random): Float32Array[] {
  const { a, b } = TABLES;
  return [a, b, a, a, b, b].map(({ rows, dim }) => random.floats(rows * dim));
}

/** One step of training, where the topology trains. */
function step(embedding: AnyEmbedding): void {
  if (embedding instanceof tpu.TPUEmbeddingForServing) return;
  const ids = ragged(randomStep(new Random(4)).ids);
  const gradients = Object.fromEntries(
    FEATURE_NAMES.map((name) => [name, tf.ones([BATCH, TABLES[name === 'y' ? 'b' : 'a'].dim])]),
  );
  if (embedding instanceof tpu.TPUEmbedding) {
    embedding.enqueue(ids);
    tf.dispose(embedding.dequeue() as tf.TensorContainer);
    embedding.applyGradients(gradients);
  } else {
    const [activations, preserved] = embedding.embeddingLookup(ids);
    embedding.applyGradients(gradients, preserved);
    tf.dispose(activations as tf.TensorContainer);
  }
  tf.dispose(gradients);
}

describe('Tables and slots of the TPU embedding API', () => {
  let folder: string;
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'topologies-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  for (const [name, from] of Object.entries(TOPOLOGIES)) {
    it(`load everywhere, to the bit, where they were saved by ${name}`, async () => {
      const saved = await on(from, async (embedding) => {
        embedding.setWeights(started(new Random(12)));
        step(embedding);
        await embedding.save(join(folder, 'npy'), { format: 'npy' });
        await embedding.save(join(folder, 'tfjs'));
        return valuesOf(embedding);
      });
      expect(saved.length).toBe(6);
      expect(readdirSync(join(folder, 'npy')).sort()).toEqual(
        ['a', 'b'].flatMap((table) => [`${table}.momenta.npy`, `${table}.npy`, `${table}.velocities.npy`]),
      );
      for (const [other, to] of Object.entries(TOPOLOGIES)) {
        for (const format of ['npy', 'tfjs']) {
          const loaded = await on(to, async (embedding) => {
            await embedding.load(join(folder, format));
            return valuesOf(embedding);
          });
          expect(loaded).withContext(`${other}, ${format}`).toEqual(saved);
        }
      }
    });
  }

  it('go on to the same tables after a step on other cores', async () => {
    const [first, second] = [TOPOLOGIES['TPUEmbedding on 6 cores']!, TOPOLOGIES['TPUEmbeddingV2 on 8 cores, stacked']!];
    const expected = await on(first, async (embedding) => {
      embedding.setWeights(started(new Random(12)).map((values, i) => (i < 2 ? values : values.map(Math.abs))));
      step(embedding);
      await embedding.save(folder);
      step(embedding);
      return valuesOf(embedding);
    });
    const found = await on(second, async (embedding) => {
      await embedding.load(folder);
      step(embedding);
      return valuesOf(embedding);
    });
    found.forEach((values, i) => {
      const worst = values.reduce((most, value, k) => Math.max(most, Math.abs(value - expected[i]![k]!)), 0);
      expect(worst).withContext(`variable ${i}`).toBeLessThan(1e-5);
    });
  });

  it('are plain .npy files that plain layers write and read', async () => {
    const [a, b] = started(new Random(3));
    const plain = [
      tf.tensor2d(a!, [TABLES.a.rows, TABLES.a.dim]),
      tf.tensor2d(b!, [TABLES.b.rows, TABLES.b.dim]),
    ] as const;
    await emb.weights.writeNpy(join(folder, 'a.npy'), plain[0]);
    await emb.weights.writeNpy(join(folder, 'b.npy'), plain[1]);
    tf.dispose([...plain]);
    const sgd = new tpu.SGD();
    const stacked = {
      machine: { chips: 1, coresPerChip: 4 },
      make: (): AnyEmbedding =>
        new tpu.TPUEmbeddingV2({ featureConfig: featureConfig(), optimizer: sgd }) as emb.tpu.TPUEmbeddingV2,
    };
    await on(stacked, async (embedding) => {
      await embedding.load(folder);
      expect(valuesOf(embedding)).toEqual([a!, b!]);
      await embedding.save(join(folder, 'again'), { format: 'npy' });
    });
    const layer = emb.layers.embedding({ inputDim: TABLES.b.rows, outputDim: TABLES.b.dim });
    layer.build([null]);
    const read = await emb.weights.readNpy(join(folder, 'again', 'b.npy'));
    layer.setWeights([read]);
    expect(layer.getWeights()[0]!.dataSync<'float32'>()).toEqual(b!);
    tf.dispose(read);
    tf.dispose(layer.getWeights());
  });

  it('come back into stacks row by row where the layouts say, and initializers are not asked', async () => {
    let asked = 0;
    const initializer = (shape: number[]): tf.Tensor => {
      asked++;
      return tf.ones(shape);
    };
    const [a, b] = started(new Random(5));
    await on(TOPOLOGIES['TPUEmbeddingForServing']!, async (embedding) => {
      embedding.setWeights([a!, b!]);
      await embedding.save(folder);
    });
    await withTpuEmulator({ chips: 2, coresPerChip: 4 }, async () => {
      const embedding = new tpu.TPUEmbeddingV2({ featureConfig: featureConfig({ initializer }), optimizer });
      await embedding.load(folder);
      expect(asked).toBe(0);
      const stack = embedding.embeddingTables.get('a_b')!.arraySync() as number[][];
      for (const [name, values] of [
        ['a', a!],
        ['b', b!],
      ] as const) {
        const layout = embedding.embeddingLayouts.get(name)!;
        const { rows, dim } = TABLES[name];
        const { shardIndex, positionInShard } = tpu.mapIndicesInShard({
          numSparseCores: 8,
          offsetInShard: layout.sparseCoreShardRowOffset,
          shardRotation: layout.sparseCoreShardRotation,
          rows: Array.from({ length: rows }, (_, row) => row),
        });
        for (let row = 0; row < rows; row++) {
          const place = shardIndex[row]! * layout.totalRowsPerSparseCoreShard + positionInShard[row]!;
          const expected = [...values.subarray(row * dim, (row + 1) * dim), ...new Array<number>(8 - dim).fill(0)];
          expect(stack[place]).withContext(`row ${row} of ${name}`).toEqual(expected);
        }
      }
      embedding.dispose();
    });
  });
});
