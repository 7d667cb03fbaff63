/** Forward and training of both versions, by kind and rank of ids, weights and optimizer, against doubles. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { Random } from '../helpers/random.js';
import { expectClose, expectNoLeak } from '../helpers/tensors.js';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';

const { tpu } = emb;

const [ROWS, DIM, SAMPLES, STEPS, RATE] = [9, 3, 8, 2, 0.1];
const COMBINERS = ['sum', 'mean', 'sqrtn'] as const;
const KINDS = ['sparse', 'ragged', 'dense'] as const;
type Kind = (typeof KINDS)[number];

/** One weight with its slots: a step by the gradient g. */
type Weight = [w: number, first: number, second: number];
interface Rule {
  readonly make: () => emb.tpu.TPUEmbeddingOptimizer;
  readonly start: readonly [number, number];
  readonly step: (weight: Weight, g: number) => Weight;
}

const learningRate = RATE;
const RULES: Record<string, Rule> = {
  SGD: { make: () => new tpu.SGD({ learningRate }), start: [0, 0], step: ([w], g) => [w - RATE * g, 0, 0] },
  Adagrad: {
    make: () => new tpu.Adagrad({ learningRate }),
    start: [0.1, 0],
    step: ([w, a], g) => [w - (RATE * g) / Math.sqrt(a + g * g), a + g * g, 0],
  },
  AdagradMomentum: {
    make: () => new tpu.AdagradMomentum({ learningRate, momentum: 0.9, epsilon: 0.01 }),
    start: [0, 0],
    step: ([w, a, m], g) => {
      const moved = 0.9 * m + g / Math.sqrt(a + g * g + 0.01);
      return [w - RATE * moved, a + g * g, moved];
    },
  },
  Adam: {
    make: () => new tpu.Adam({ learningRate, epsilon: 0.01 }),
    start: [0, 0],
    step: ([w, m, v], g) => {
      const [momentum, velocity] = [0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g];
      return [w - (RATE * momentum) / Math.sqrt(velocity + 1e-4), momentum, velocity];
    },
  },
  FTRL: {
    make: () => new tpu.FTRL({ learningRate }),
    start: [0.1, 0],
    step: ([w, a, linear], g) => {
      const [before, after] = [Math.sqrt(a), Math.sqrt(a + g * g)];
      const moved = linear + g - ((after - before) * w) / RATE;
      return [(-moved * RATE) / after, a + g * g, moved];
    },
  },
};

/** Ids and weights of each sample, and the gradient of its activation, for one table. */
interface Feature {
  readonly ids: number[][];
  readonly weights: number[][] | null;
  readonly gradient: number[][];
}

function randomStep(random: Random, kind: Kind, isWeighted: boolean): Feature[] {
  return COMBINERS.map(() => {
    const ids = Array.from({ length: SAMPLES }, () =>
      Array.from({ length: kind === 'dense' ? 1 : random.whole(0, 4) }, () => random.whole(0, ROWS)),
    );
    const weights = isWeighted ? ids.map((list) => list.map(() => Math.fround(0.25 + random.next()))) : null;
    return { ids, weights, gradient: ids.map(() => Array.from({ length: DIM }, () => random.next() - 0.5)) };
  });
}

/** The factor of each id in its activation. */
function factors({ ids, weights }: Feature, combiner: emb.Combiner): number[][] {
  return ids.map((list, sample) => {
    const own = weights?.[sample] ?? list.map(() => 1);
    const sum = own.reduce((total, w) => total + (combiner === 'mean' ? w : w * w), 0);
    const divisor = combiner === 'sum' ? 1 : combiner === 'mean' ? sum : Math.sqrt(sum);
    return own.map((w) => w / divisor);
  });
}

/** Activations of each step, then the tables: of one table after the other. */
function expectedValues(start: number[][][], steps: readonly Feature[][], { step, start: slots }: Rule): number[][] {
  const tables = start.map((table) => table.map((row) => row.map((w): Weight => [w, ...slots])));
  const activations: number[][] = [];
  for (const features of steps) {
    features.forEach((feature, t) => {
      const [table, gains] = [tables[t]!, factors(feature, COMBINERS[t]!)];
      const gradients = new Map<number, number[]>();
      const pooled = feature.ids.map((list, sample) => {
        const sum = new Array<number>(DIM).fill(0);
        list.forEach((id, i) => {
          const ofRow = gradients.get(id) ?? new Array<number>(DIM).fill(0);
          gradients.set(id, ofRow);
          for (let c = 0; c < DIM; c++) {
            sum[c]! += gains[sample]![i]! * table[id]![c]![0];
            ofRow[c]! += gains[sample]![i]! * feature.gradient[sample]![c]!;
          }
        });
        return sum;
      });
      activations.push(pooled.flat());
      for (const [id, gradient] of gradients) table[id] = table[id]!.map((w, c) => step(w, gradient[c]!));
    });
  }
  return [...activations, ...tables.map((table) => table.flat().map(([w]) => w))];
}

type Rank = 2 | 3;

/** Ids, or their weights, as the version takes them: 3 axes are [4, 2] samples. */
function inputOf(lists: number[][], kind: Kind, rank: Rank, version: 1 | 2, isFloat: boolean): unknown {
  const dtype = isFloat ? ('float32' as const) : ('int32' as const);
  if (kind === 'ragged') return emb.RaggedTensor.fromRows(lists, { dtype });
  const flat = isFloat ? Float32Array.from(lists.flat()) : Int32Array.from(lists.flat());
  if (kind === 'dense') {
    if (rank === 2) return flat;
    const pairs = Array.from({ length: SAMPLES / 2 }, (_, i) => [...flat.subarray(2 * i, 2 * i + 2)]);
    // TPUEmbedding combines the last axis.
    return version === 1 ? pairs.map((pair) => pair.map((id) => [id])) : pairs;
  }
  const isDeep = rank === 3 && version === 1;
  const indices = lists.flatMap((list, i) => list.map((_, j) => (isDeep ? [i >> 1, i & 1, j] : [i, j])));
  return { indices, values: flat, denseShape: isDeep ? [SAMPLES / 2, 2, 4] : [SAMPLES, 4] };
}

interface Variant {
  readonly version: 1 | 2;
  readonly kind: Kind;
  readonly rank: Rank;
}

/** The same from one of the two versions. */
function foundValues(start: number[][][], steps: readonly Feature[][], rule: Rule, variant: Variant): number[][] {
  const { version, kind, rank } = variant;
  const outputShape = rank === 2 ? [SAMPLES] : [SAMPLES / 2, 2];
  // Shapes of sparse and dense ids tell themselves in TPUEmbedding.
  const shape = version === 2 || kind === 'ragged' ? { outputShape } : {};
  const featureConfig = COMBINERS.map((combiner, t) => {
    const initializer = (): tf.Tensor => tf.tensor2d(start[t]!);
    const table = new tpu.TableConfig({ vocabularySize: ROWS, dim: DIM, combiner, initializer, name: combiner });
    return new tpu.FeatureConfig({ table, ...shape });
  });
  const optimizer = rule.make();
  const embedding =
    version === 1
      ? (new tpu.TPUEmbedding({ featureConfig, optimizer }) as emb.tpu.TPUEmbedding)
      : (new tpu.TPUEmbeddingV2({ featureConfig, optimizer }) as emb.tpu.TPUEmbeddingV2);
  const values: number[][] = [];
  for (const features of steps) {
    const ids = features.map((feature) => inputOf(feature.ids, kind, rank, version, false));
    const weights = features.map((each) => {
      return each.weights === null ? null : inputOf(each.weights, kind, rank, version, true);
    });
    const gradients = features.map(({ gradient }) => tf.tensor(gradient.flat(), [...outputShape, DIM]));
    let activations: tf.Tensor[];
    if (embedding instanceof tpu.TPUEmbedding) {
      embedding.enqueue(ids, weights);
      activations = embedding.dequeue() as tf.Tensor[];
      embedding.applyGradients(gradients);
    } else {
      const [found, preserved] = embedding.embeddingLookup(ids, weights);
      activations = found as tf.Tensor[];
      embedding.applyGradients(gradients, preserved);
    }
    for (const activation of activations) {
      expect(activation.shape).toEqual([...outputShape, DIM]);
      values.push([...activation.dataSync()]);
    }
    tf.dispose([activations, gradients]);
  }
  const weights = embedding.getWeights();
  for (const table of weights.slice(0, COMBINERS.length)) values.push([...table.dataSync()]);
  if (version === 2) tf.dispose(weights);
  embedding.dispose();
  return values;
}

for (const version of [1, 2] as const) {
  describe(version === 1 ? 'TPUEmbedding is correct' : 'TPUEmbeddingV2 is correct', () => {
    for (const kind of KINDS) {
      for (const rank of [2, 3] as const) {
        for (const isWeighted of [false, true]) {
          // TPUEmbedding refuses weights of dense ids.
          if (version === 1 && kind === 'dense' && isWeighted) continue;
          const what = `${kind} ids for activations of rank ${rank}, ${isWeighted ? 'with' : 'without'} weights`;
          it(`forward and in training, with each optimizer: ${what}`, async () => {
            const random = new Random(rank + (isWeighted ? 10 : 0));
            const start = COMBINERS.map(() =>
              Array.from({ length: ROWS }, () => Array.from({ length: DIM }, () => random.next() - 0.5)),
            );
            const steps = Array.from({ length: STEPS }, () => randomStep(random, kind, isWeighted));
            await withTpuEmulator({ chips: 2, coresPerChip: 2 }, () => {
              for (const [name, rule] of Object.entries(RULES)) {
                const expected = expectedValues(start, steps, rule);
                const found = expectNoLeak(() => foundValues(start, steps, rule, { version, kind, rank }));
                expect(found.length).toBe(expected.length);
                found.forEach((each, i) => expectClose(each, expected[i]!, 1, `${name}, part ${i}`, 1e-5));
              }
            });
          });
        }
      }
    }
  });
}
