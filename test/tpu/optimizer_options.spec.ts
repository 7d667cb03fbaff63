/** What all TPU optimizers may be told, in both versions of the API, against the rule written out in doubles. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { Random } from '../helpers/random.js';
import { expectClose, expectNoLeak } from '../helpers/tensors.js';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';

const { tpu } = emb;

const [ROWS, DIM, SAMPLES, STEPS] = [5, 3, 8, 3];

/** Options under the names of the API; the rate of step s is rate(s). */
interface Options {
  readonly what: string;
  readonly args: emb.tpu.CommonArgs;
  readonly rate?: (step: number) => number;
}

const CASES: readonly Options[] = [
  { what: 'a limit of gradients', args: { clipvalue: 0.3 } },
  { what: 'a lower limit of gradients alone', args: { clipvalue: [-0.2, null] } },
  { what: 'limits of weights', args: { clipWeightMin: -0.4, clipWeightMax: 0.5 } },
  { what: 'an upper limit of weights alone', args: { clipWeightMax: 0.1 } },
  { what: 'weight decay', args: { weightDecayFactor: 0.2 } },
  {
    what: 'weight decay times the learning rate',
    args: { weightDecayFactor: 0.4, multiplyWeightDecayFactorByLearningRate: true },
  },
  { what: 'no accumulation', args: { useGradientAccumulation: false } },
  {
    what: 'no accumulation, weight decay and limits of weights',
    args: { useGradientAccumulation: false, weightDecayFactor: 0.2, clipWeightMin: -0.3, clipWeightMax: 0.3 },
  },
  { what: 'a dynamic learning rate', args: {}, rate: (step) => 0.1 * (step + 1) },
  {
    what: 'everything at once',
    args: {
      clipvalue: [-0.4, 0.5],
      clipWeightMin: -0.6,
      clipWeightMax: 0.6,
      weightDecayFactor: 0.1,
      multiplyWeightDecayFactorByLearningRate: true,
    },
    rate: (step) => 0.3 - 0.1 * step,
  },
];

interface Batch {
  readonly ids: number[];
  readonly gradients: number[][];
}

const random = new Random(31);
const START = Array.from({ length: ROWS }, () => Array.from({ length: DIM }, () => random.next() - 0.5));
const BATCHES = Array.from({ length: STEPS }, (): Batch => {
  const ids = Array.from({ length: SAMPLES }, () => random.whole(0, ROWS - 1));
  return { ids, gradients: ids.map(() => Array.from({ length: DIM }, () => 2 * random.next() - 1)) };
});

const between = (value: number, min: number | null | undefined, max: number | null | undefined): number =>
  Math.min(max ?? Infinity, Math.max(min ?? -Infinity, value));

/** The table after all steps of SGD or Adagrad. Row 4 is never looked up. */
function expectedTable(isAdagrad: boolean, { args, rate = () => 0.5 }: Options): number[] {
  const table = START.map((row) => [...row]);
  const sums = START.map((row) => row.map(() => 0.1));
  const [low, high] = Array.isArray(args.clipvalue)
    ? (args.clipvalue as [number | null, number | null])
    : [args.clipvalue === undefined ? null : -(args.clipvalue as number), (args.clipvalue ?? null) as number | null];
  BATCHES.forEach(({ ids, gradients }, step) => {
    const learningRate = rate(step);
    for (const id of new Set(ids)) {
      const own = gradients.filter((_, sample) => ids[sample] === id);
      const summed = own.reduce((sum, each) => sum.map((value, c) => value + each[c]!));
      const rounds = args.useGradientAccumulation === false ? own : [summed.map((value) => between(value, low, high))];
      const decay =
        (args.weightDecayFactor ?? 0) * (args.multiplyWeightDecayFactorByLearningRate === true ? learningRate : 1);
      table[id] = table[id]!.map((weight) => weight - decay * weight);
      for (const gradient of rounds) {
        gradient.forEach((g, c) => {
          sums[id]![c]! += g * g;
          const update = isAdagrad ? g / Math.sqrt(sums[id]![c]!) : g;
          table[id]![c] = between(table[id]![c]! - learningRate * update, args.clipWeightMin, args.clipWeightMax);
        });
      }
    }
  });
  return table.flat();
}

/** The table after the same steps, trained by one of the two versions. */
function trainedTable(version: 1 | 2, isAdagrad: boolean, { args, rate = () => 0.5 }: Options): number[] {
  let step = 0;
  const learningRate = (): number => rate(step++);
  const optimizer = new (isAdagrad ? tpu.Adagrad : tpu.SGD)({ ...args, learningRate });
  const initializer = (): tf.Tensor => tf.tensor2d(START);
  const table = new tpu.TableConfig({ vocabularySize: ROWS, dim: DIM, combiner: 'sum', initializer });
  const featureConfig = { seen: new tpu.FeatureConfig({ table, outputShape: [SAMPLES] }) };
  const embedding =
    version === 1
      ? new tpu.TPUEmbedding({ featureConfig, optimizer })
      : new tpu.TPUEmbeddingV2({ featureConfig, optimizer });
  for (const { ids, gradients } of BATCHES) {
    const seen = tf.tensor2d(gradients);
    if (embedding instanceof tpu.TPUEmbedding) {
      embedding.enqueue({ seen: ids });
      tf.dispose(embedding.dequeue());
      embedding.applyGradients({ seen });
    } else {
      const [activations, preserved] = embedding.embeddingLookup({ seen: ids });
      tf.dispose(activations);
      embedding.applyGradients({ seen }, preserved);
    }
    seen.dispose();
  }
  const weights = embedding.getWeights();
  const values = [...weights[0]!.dataSync()];
  if (version === 2) tf.dispose(weights);
  embedding.dispose();
  return values;
}

describe('Options of TPU optimizers', () => {
  for (const options of CASES) {
    it(`have their effect in both versions, on 1 core and on 4: ${options.what}`, async () => {
      for (const isAdagrad of [false, true]) {
        const expected = expectedTable(isAdagrad, options);
        for (const machine of [{ chips: 1 }, { chips: 2, coresPerChip: 2 }]) {
          await withTpuEmulator(machine, () => {
            for (const version of [1, 2] as const) {
              const found = expectNoLeak(() => trainedTable(version, isAdagrad, options));
              const what = `version ${version}, ${isAdagrad ? 'Adagrad' : 'SGD'}, ${JSON.stringify(machine)}`;
              expectClose(found, expected, 1, what, 1e-6);
            }
          });
        }
      }
    });
  }
});
