/** What a CSR says about a batch, read back by its description: over numbers of samples and ids, combiners, offsets, rotations. */
import * as emb from 'tfjs-embeddings';
import { expectClose } from '../../helpers/tensors.js';
import { Random } from '../../helpers/random.js';

const { tpu } = emb;

const [CHIPS, CORES] = [2, 4];
const SHARDS = CHIPS * CORES;
const PADDING = 2 ** 31 - 1;
const roundUp = (n: number): number => Math.ceil(n / 8) * 8;

interface Setting {
  readonly samples: number;
  readonly most: number;
  readonly combiner: emb.Combiner;
  readonly columnOffset: number;
  readonly rotation: number;
}

interface Bags {
  readonly ids: number[][];
  readonly weights: number[][];
}

function randomBags(random: Random, { samples, most }: Setting): Bags {
  // Few different ids: some occur twice in a row, and twice in a sample.
  const ids = Array.from({ length: samples }, () => Array.from({ length: random.whole(0, most + 1) }, () => random.whole(0, 40))); // prettier-ignore
  return { ids, weights: ids.map((list) => list.map(() => Math.fround(0.25 + random.next()))) };
}

/** The gain of each feature, sample and id. */
function gainsOf(features: readonly Bags[], combiner: emb.Combiner): Map<string, number> {
  const gains = new Map<string, number>();
  features.forEach(({ ids, weights }, feature) => {
    ids.forEach((list, sample) => {
      const own = weights[sample]!;
      const sum = own.reduce((total, w) => total + (combiner === 'mean' ? w : w * w), 0);
      const divisor = combiner === 'sum' ? 1 : combiner === 'mean' ? sum : Math.sqrt(sum);
      list.forEach((id, i) => {
        const key = `${feature}, ${sample}, ${id}`;
        gains.set(key, (gains.get(key) ?? 0) + own[i]! / divisor);
      });
    });
  });
  return gains;
}

/** The CSR of one chip for a stack of tables a and b, which the two features look up in turn. */
function partitioned(features: readonly Bags[], setting: Setting): emb.tpu.PartitionedCsrFormatTensor {
  const { samples, combiner, columnOffset, rotation } = setting;
  const ragged = (lists: number[][], dtype: 'int32' | 'float32'): emb.RaggedTensor => emb.RaggedTensor.fromRows(lists, { dtype }); // prettier-ignore
  const table = { paddedDim: 8, combiner };
  const { stack } = tpu.preprocessFeatures({
    ...{ numChips: CHIPS, numScPerChip: CORES, maxIdsPerChipPerSample: 64, maxMinibatchesPerSc: 1 },
    tables: [
      { name: 'a', paddedVocab: columnOffset - (columnOffset % SHARDS), ...table },
      { name: 'b', paddedVocab: 64, ...table },
    ],
    stackedTableToTables: { stack: ['a', 'b'] },
    tableToStackedTableOffset: { a: ['stack', 0, 0], b: ['stack', columnOffset, rotation] },
    featureToSampleOffset: { 0: 0, 1: samples },
    tableToSampleCount: { stack: 2 * samples },
    features: ['a', 'b'].map((name) => ({ table: name, outputShape: [samples] })),
    inputs: features.map(({ ids }) => ragged(ids, 'int32')),
    weights: features.map(({ weights }) => ragged(weights, 'float32')),
  });
  return stack!;
}

/** The same gains out of the CSR. Each bucket is in the order of rows, and filled up to eights. */
function readBack(csr: emb.tpu.PartitionedCsrFormatTensor, setting: Setting): Map<string, number> {
  const { samples, columnOffset, rotation } = setting;
  const perCore = samples / CORES;
  const gains = new Map<string, number>();
  let isRight = true;
  let end = 0;
  for (let core = 0; core < CORES; core++) {
    for (let shard = 0; shard < SHARDS; shard++) {
      const start = roundUp(end);
      isRight &&= csr.sortedTokenIds.subarray(end, start).every((token) => token === PADDING);
      end = csr.rowPointers[core * roundUp(SHARDS) + shard]!;
      for (let slot = start; slot < end; slot++) {
        const [row, place] = [csr.sortedSampleIds[slot]!, csr.sortedTokenIds[slot]!];
        isRight &&= slot === start || place >= csr.sortedTokenIds[slot - 1]!;
        const column = place * SHARDS + shard;
        const isSecond = column >= columnOffset;
        const [offset, turned] = isSecond ? [columnOffset, rotation] : [0, 0];
        const within = (column - offset) % SHARDS;
        const id = column - offset - within + ((within - turned + SHARDS) % SHARDS);
        const sample = core * perCore + row - (isSecond ? perCore : 0);
        const key = `${isSecond ? 1 : 0}, ${sample}, ${id}`;
        gains.set(key, (gains.get(key) ?? 0) + csr.sortedGains[slot]!);
      }
    }
  }
  expect(isRight).withContext('padding, and the order of rows').toBeTrue();
  return gains;
}

describe('The CSR of preprocessFeatures', () => {
  for (const combiner of ['sum', 'mean', 'sqrtn'] as const) {
    it(`holds every id of every sample with its gain, whatever the samples, ids, offset and rotation: ${combiner}`, () => {
      const random = new Random(8);
      for (const samples of [4, 16, 64]) {
        for (const most of [1, 6]) {
          for (const columnOffset of [64, 67, 192]) {
            for (const rotation of [0, 1, 4, 7]) {
              const setting = { samples, most, combiner, columnOffset, rotation };
              const features = [randomBags(random, setting), randomBags(random, setting)];
              const expected = gainsOf(features, combiner);
              const found = readBack(partitioned(features, setting), setting);
              const what = JSON.stringify(setting);
              expect([...found.keys()].sort())
                .withContext(what)
                .toEqual([...expected.keys()].sort());
              const keys = [...expected.keys()];
              expectClose(keys.map((key) => found.get(key) ?? NaN), keys.map((key) => expected.get(key)!), 1, what); // prettier-ignore
            }
          }
        }
      }
    });
  }
});
