/** Every output mode, and the classes that make vectors, against what Keras returns for the same settings and data. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import { RaggedTensor } from '../../src/ids/ragged_tensor.js';
import {
  CategoryEncoding,
  Discretization,
  HashedCrossing,
  Hashing,
  IntegerLookup,
  Normalization,
  StringLookup,
  TextVectorization,
} from '../../src/preprocessing/index.js';

type Values = (number | string)[];
interface Result {
  shape?: number[];
  values?: Values;
  ragged?: Values[];
}
interface Case {
  settings: object;
  data: never;
  result: Result;
}
interface Adapted extends Case {
  adapt: never;
  vocabulary: string[];
  idf: number[] | null;
}
interface Learned {
  adapt: string[][];
  vocabulary: string[];
  idf: number[];
}
interface Goldens {
  lookups: (Omit<Adapted, 'data' | 'result'> & { queries: { data?: never; ragged?: string[][]; result: Result }[] })[];
  givenWeights: Case[];
  documents: (Learned & { name: string })[];
  batches: Learned & { steps: { count: number; vocabulary: string[]; idf: number[] } };
  inverted: (Case & { name: string })[];
  integers: Case[];
  salted: Case;
  files: (Case & { name: string; text: string })[];
  texts: (Adapted & { query: never })[];
  crossings: (Case & { features: never })[];
  encodings: (Case & { weights?: never })[];
  hashings: Case[];
  bins: Case[];
  adaptedBins: { settings: object; batches: number[][]; boundaries: number[] }[];
  normalizations: (Case & { adapt?: never; batched?: boolean; mean?: never; variance?: never })[];
}

const file = new URL('../goldens/preprocessing_modes.json', import.meta.url);
const goldens = JSON.parse(readFileSync(file, 'utf8')) as Goldens;

/** Shape and values of nested arrays, tensors and ragged rows, as the goldens hold them. */
function plain(result: unknown): Result {
  if (result instanceof RaggedTensor) return { ragged: result.toRows() as Values[] };
  if (result instanceof tf.Tensor) return { shape: [...result.shape], values: Array.from(result.dataSync()) };
  if (!Array.isArray(result)) {
    if (ArrayBuffer.isView(result)) return plain(Array.from(result as Int32Array));
    return { shape: [], values: [result as number] };
  }
  const shape: number[] = [];
  for (let part: unknown = result; Array.isArray(part); part = (part as unknown[])[0]) shape.push(part.length);
  return { shape, values: (result as Values[]).flat(Infinity) as Values };
}

function expectSame(result: unknown, golden: Result, what = ''): void {
  const found = plain(result);
  // Keras says that oneHot of one value is [depth], and gives [1, depth].
  const isOne = found.shape?.length === 1 && golden.shape?.length === 2 && golden.shape[0] === 1;
  expect(found.shape)
    .withContext(what)
    .toEqual(isOne ? golden.shape!.slice(1) : golden.shape);
  expect(found.ragged).withContext(what).toEqual(golden.ragged);
  if (golden.values === undefined) return;
  expect(found.values!.length).withContext(what).toBe(golden.values.length);
  golden.values.forEach((value, i) => {
    const own = found.values![i]!;
    if (typeof value === 'string') expect(own).withContext(what).toBe(value);
    else
      expect(Math.abs((own as number) - value))
        .withContext(`${what} [${i}]: ${own}, ${value}`)
        .toBeLessThan(1e-6 * (1 + Math.abs(value)));
  });
}

function expectWeights(found: readonly number[] | null, golden: readonly number[] | null): void {
  if (golden === null) expect(found).toBeNull();
  // Keras keeps zeros for places without a token.
  else
    expectSame([...found!, ...golden.slice(found!.length).map(() => 0)], {
      shape: [golden.length],
      values: [...golden],
    });
}

const saved = (config: object): object => JSON.parse(JSON.stringify(config)) as object;
const title = (settings: object): string => JSON.stringify(settings);

describe('preprocessing in the modes of Keras', () => {
  let tensors = 0;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).toBe(tensors));

  for (const golden of goldens.lookups) {
    it(`StringLookup ${title(golden.settings)}`, () => {
      const lookup = StringLookup.fromConfig(golden.settings).adapt(golden.adapt);
      expect(lookup.getVocabulary()).toEqual(golden.vocabulary);
      expectWeights(lookup.idfWeights, golden.idf);
      const again = StringLookup.fromConfig(saved(lookup.getConfig()));
      for (const { data, ragged, result } of golden.queries) {
        for (const each of [lookup, again]) {
          if (data !== undefined) {
            expectSame(each.apply(data), result, title(data));
            tf.tidy(() => expectSame(each.apply(tf.tensor(data, undefined, 'string')), result, title(data)));
            continue;
          }
          const values = ragged!.flat();
          const rowSplits = [0];
          for (const row of ragged!) rowSplits.push(rowSplits.at(-1)! + row.length);
          tf.tidy(() => expectSame(each.apply({ values, rowSplits }), result, 'ragged'));
          expectSame(each.apply(ragged!), 'ragged' in result ? plain(ragged!.map((row) => each.apply(row))) : result);
        }
      }
    });
  }

  for (const golden of goldens.givenWeights) {
    it(`StringLookup with weights ${title(golden.settings)}`, () => {
      const lookup = StringLookup.fromConfig(golden.settings);
      expectSame(lookup.apply(golden.data), golden.result);
      expectSame(StringLookup.fromConfig(saved(lookup.getConfig())).apply(golden.data), golden.result);
    });
  }

  for (const { name, adapt, vocabulary, idf } of goldens.documents) {
    it(`takes the values of a vector for documents, and rows of a ${name}`, () => {
      const lookup = new StringLookup({ outputMode: 'tf_idf' }).adapt(adapt);
      expect(lookup.getVocabulary()).toEqual(vocabulary);
      expectWeights(lookup.idfWeights, idf);
    });
  }

  it('adapts to batches of generators, async ones and data sets, all or some', async () => {
    const { adapt, vocabulary, idf, steps } = goldens.batches;
    const make = (): StringLookup<'tfIdf'> => new StringLookup({ outputMode: 'tfIdf' });
    const generator = function* (): Generator<string[]> {
      yield* adapt;
    };

    const slow = async function* (): AsyncGenerator<string[]> {
      yield* adapt;
    };
    const dataset = tf.data.generator(function* () {
      for (const batch of adapt) yield tf.tensor1d(batch, 'string');
    } as never);
    const learned = [
      make().adapt(generator()),
      make().adapt(new Set(adapt)),
      await make().adapt(slow()),
      await make().adapt(dataset as never as AsyncIterable<tf.Tensor>),
    ];
    for (const lookup of learned) {
      expect(lookup.getVocabulary()).toEqual(vocabulary);
      expectWeights(lookup.idfWeights, idf);
    }
    for (const lookup of [
      make().adapt(generator(), { steps: steps.count }),
      await make().adapt(slow(), { steps: 2 }),
    ]) {
      expect(lookup.getVocabulary()).toEqual(steps.vocabulary);
      expectWeights(lookup.idfWeights, steps.idf);
    }
  });

  for (const { name, settings, data, result } of goldens.inverted) {
    it(`${name} inverted ${title(settings)}`, () => {
      const cls = name === 'StringLookup' ? StringLookup : IntegerLookup;
      const lookup = cls.fromConfig(settings);
      expectSame(lookup.apply(data), result);
      expectSame(cls.fromConfig(saved(lookup.getConfig())).apply(data), result);
      tf.tidy(() => expectSame(lookup.apply(tf.tensor(data, undefined, 'int32')), result));
    });
  }

  for (const { settings, data, result } of goldens.integers) {
    it(`IntegerLookup ${title(settings)}`, () => {
      const lookup = IntegerLookup.fromConfig(settings);
      expectSame(lookup.apply(data), result);
      expectSame(IntegerLookup.fromConfig(saved(lookup.getConfig())).apply(data), result);
    });
  }

  it('StringLookup with a salt', () => {
    expectSame(StringLookup.fromConfig(goldens.salted.settings).apply(goldens.salted.data), goldens.salted.result);
  });

  for (const { name, text, settings, data, result } of goldens.files) {
    it(`vocabularies of files: ${name}`, () => {
      const folder = mkdtempSync(join(tmpdir(), 'vocabulary-'));
      try {
        const path = join(folder, 'words.txt');
        writeFileSync(path, text);
        for (const vocabulary of [path, { text }, { text: text.replaceAll('\n', '\r\n') }]) {
          const lookup = StringLookup.fromConfig({ ...settings, vocabulary });
          expectSame(lookup.apply(data), result);
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }

  for (const golden of goldens.texts) {
    it(`TextVectorization ${title(golden.settings)}`, () => {
      const texts = TextVectorization.fromConfig(golden.settings).adapt(golden.adapt);
      expect(texts.getVocabulary()).toEqual(golden.vocabulary);
      expectWeights(texts.idfWeights, golden.idf);
      const again = TextVectorization.fromConfig(saved(texts.getConfig()));
      for (const each of [texts, again]) {
        const rows: unknown = each.apply(golden.query);
        if (golden.result.ragged === undefined) expectSame(rows, golden.result);
        else expect(rows).toEqual(golden.result.ragged);
        tf.tidy(() => expectSame(each.apply(tf.tensor(golden.query, undefined, 'string')), golden.result));
      }
    });
  }

  for (const { settings, features, result } of goldens.crossings) {
    it(`HashedCrossing ${title(settings)} ${title(features).slice(0, 12)}`, () => {
      const crossing = HashedCrossing.fromConfig(settings);
      expectSame(crossing.apply(features), result);
      expectSame(HashedCrossing.fromConfig(saved(crossing.getConfig())).apply(features), result);
    });
  }

  for (const { settings, data, weights, result } of goldens.encodings) {
    it(`CategoryEncoding ${title(settings)} ${title(data)}`, () => {
      const encoding = CategoryEncoding.fromConfig(settings);
      expectSame(encoding.apply(data, { countWeights: weights ?? null }), result);
      expectSame(CategoryEncoding.fromConfig(saved(encoding.getConfig())).apply(data, { countWeights: weights ?? null }), result); // prettier-ignore
    });
  }

  for (const { settings, data, result } of goldens.hashings) {
    it(`Hashing ${title(settings)}`, () => expectSame(Hashing.fromConfig(settings).apply(data), result));
  }

  for (const { settings, data, result } of goldens.bins) {
    it(`Discretization ${title(settings)}`, () => expectSame(Discretization.fromConfig(settings).apply(data), result));
  }

  for (const { settings, batches, boundaries } of goldens.adaptedBins) {
    it(`Discretization of batches ${title(settings)}`, () => {
      const bins = Discretization.fromConfig(settings).adapt(batches.values());
      expect(bins.binBoundaries!.length).toBe(boundaries.length);
      // Interpolated in another order of float32 operations: the last bits may differ.
      bins.binBoundaries!.forEach((each, i) => expect(Math.abs(each - boundaries[i]!)).toBeLessThan(2e-5));
    });
  }

  for (const golden of goldens.normalizations) {
    const { settings, adapt, batched, data, result } = golden;
    it(`Normalization ${title(settings)} ${batched === true ? 'of batches' : ''}`, () => {
      const normalization = Normalization.fromConfig(settings);
      if (adapt !== undefined) {
        normalization.adapt(batched === true ? (adapt as never[]).values() : adapt);
        expectSame(normalization.mean, plain(golden.mean), 'mean');
        expectSame(normalization.variance, plain(golden.variance), 'variance');
      }
      const again = Normalization.fromConfig(saved(normalization.getConfig()));
      for (const each of [normalization, again]) {
        expectSame(each.apply(data), result);
        tf.tidy(() => expectSame(each.apply(tf.tensor(data)), result));
      }
    });
  }
});
