/** Two settings of what makes ids of values at once: every two values of two settings meet, beside plain definitions. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { bucketOf } from '../../src/preprocessing/hashes/hash_bucket.js';
import { expectError } from '../helpers/errors.js';
import { caseText, pairCases } from '../helpers/pairs/covering.js';
import { FORMS, NUMBERS, WORDS, encoded, expectSame, given, rowsOf, type Mode, type Token } from './plain_ids.js';

const LOOKUP = {
  kind: ['StringLookup', 'IntegerLookup'],
  vocabulary: ['given', 'with special tokens', 'adapted'],
  maxTokens: [undefined, 4, 9],
  numOovIndices: [undefined, 0, 1, 3],
  maskToken: [undefined, 'value'],
  oovToken: [undefined, 'value'],
  outputMode: [undefined, 'int', 'oneHot', 'multi_hot', 'count', 'tfIdf'],
  padToMaxTokens: [undefined, true],
  invert: [undefined, true],
  oovMethod: [undefined, 'floormod', 'farmhash'],
  salt: [undefined, 7, [3, 11]],
  form: FORMS,
  values: ['known', 'unknown', 'mask'],
  saved: [false, true],
} as const;

const MODES: Readonly<Record<string, Mode>> = { multi_hot: 'multiHot' };
type LookupCase = (typeof LOOKUPS.legal)[number];

/** What a lookup must know and do, by its settings. */
class PlainLookup {
  readonly mode: Mode;
  readonly first: number;
  readonly hasMaskRow: boolean;
  readonly unknown: number;
  readonly mask: Token | null;
  readonly oov: Token;
  readonly vocabulary: readonly Token[];
  readonly idf: number[];

  constructor(readonly settings: Readonly<Record<keyof typeof LOOKUP, unknown>>) {
    const { kind, outputMode = 'int', numOovIndices = 1, maskToken, oovToken, maxTokens, vocabulary } = settings;
    const isText = kind === 'StringLookup';
    this.mode = MODES[outputMode as string] ?? (outputMode as Mode);
    this.unknown = numOovIndices as number;
    this.mask = maskToken === undefined ? null : isText ? 'mm' : 0;
    this.oov = oovToken === undefined ? (isText ? '[UNK]' : -1) : isText ? 'uu' : -99;
    this.hasMaskRow = this.mask !== null && this.mode === 'int';
    this.first = this.unknown + Number(this.hasMaskRow);
    const all: readonly Token[] = isText ? WORDS : NUMBERS;
    const known = all.slice(0, 4);
    const room = maxTokens === undefined ? 9 : (maxTokens as number) - this.first;
    this.vocabulary = vocabulary === 'adapted' ? known.slice(0, Math.max(room, 0)) : known;
    this.idf = this.#factors();
  }

  get documents(): Token[][] {
    // Each value is seen once more than the next, in as many documents.
    const all: readonly Token[] = this.settings.kind === 'StringLookup' ? WORDS : NUMBERS;
    return [0, 1, 2, 3].map((last) => all.slice(0, 4 - last));
  }

  #factors(): number[] {
    if (this.mode !== 'tfIdf') return [];
    const count = this.documents.length;
    const own =
      this.settings.vocabulary === 'adapted'
        ? this.vocabulary.map((token) =>
            Math.log(1 + count / (1 + this.documents.filter((each) => each.includes(token)).length)),
          )
        : [0.5, 1, 2, 4];
    const mean = own.length === 0 ? 0 : own.reduce((sum, each) => sum + each, 0) / own.length;
    const ofSpecial = this.settings.vocabulary === 'with special tokens' ? 3 : mean;
    return [...new Array<number>(this.first).fill(ofSpecial), ...own];
  }

  get specialTokens(): Token[] {
    return [...(this.hasMaskRow ? [this.mask!] : []), ...new Array<Token>(this.unknown).fill(this.oov)];
  }

  get depth(): number {
    const { padToMaxTokens, maxTokens } = this.settings;
    return padToMaxTokens === true ? (maxTokens as number) : this.first + this.vocabulary.length;
  }

  /** Values of a case. */
  get tokens(): Token[] {
    const all: readonly Token[] = this.settings.kind === 'StringLookup' ? WORDS : NUMBERS;
    const kept = this.vocabulary.length === 0 ? all : this.vocabulary;
    const at = (i: number): Token => kept[i % kept.length]!;
    const known = [at(1), at(0), at(2), at(1), at(3), at(0)];
    if (this.settings.values === 'known') return known;
    if (this.settings.values === 'mask') return [this.mask ?? at(0), ...known.slice(1)];
    return [all[4]!, at(1), all[5]!, all[4]!, at(0), at(2)];
  }

  idOf(token: Token): number {
    const { oovMethod, salt, kind } = this.settings;
    if (token === this.mask) return this.hasMaskRow ? 0 : -1;
    const place = this.vocabulary.indexOf(token);
    if (place >= 0) return this.first + place;
    const words = salt === undefined ? null : typeof salt === 'number' ? [salt, salt] : salt;
    const isHashed = kind === 'StringLookup' || oovMethod === 'farmhash';
    const rest = isHashed
      ? bucketOf(String(token), this.unknown, words as [number, number] | null)
      : (((token as number) % this.unknown) + this.unknown) % this.unknown;
    return Number(this.hasMaskRow) + rest;
  }

  tokenOf(id: number): Token {
    return [...this.specialTokens, ...this.vocabulary][id] ?? this.oov;
  }
}

const LOOKUPS = pairCases(LOOKUP, (each) => {
  if (each.invert === true && !['int', undefined].includes(each.outputMode as 'int')) return 'outputMode';
  if (each.padToMaxTokens === true && each.maxTokens === undefined) return 'maxTokens';
  if (each.kind === 'IntegerLookup' && each.salt !== undefined && each.oovMethod !== 'farmhash') return 'salt';
  const rows = new PlainLookup(each);
  if (each.vocabulary !== 'adapted' && rows.first + 4 > Number(each.maxTokens ?? 99)) return 'vocabulary';
  const isUnknown = rows.tokens.some((token) => token !== rows.mask && !rows.vocabulary.includes(token));
  return each.invert !== true && isUnknown && rows.unknown === 0 ? 'data' : null;
});

function makeLookup(
  each: LookupCase,
  rows: PlainLookup,
): emb.preprocessing.StringLookup | emb.preprocessing.IntegerLookup {
  const { kind, vocabulary, form: _form, values: _values, saved, maskToken, oovToken, ...rest } = each;
  const isFull = vocabulary === 'with special tokens';
  const tokens = isFull ? [...rows.specialTokens, ...rows.vocabulary] : rows.vocabulary;
  const own = vocabulary === 'adapted' ? {} : { vocabulary: tokens };
  // Weights of all that is given.
  const idfWeights =
    vocabulary !== 'adapted' && rows.mode === 'tfIdf' ? rows.idf.slice(rows.idf.length - tokens.length) : null;
  const args = {
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...own,
    ...(idfWeights === null ? {} : { idfWeights }),
    ...(maskToken === undefined ? {} : { maskToken: rows.mask }),
    ...(oovToken === undefined ? {} : { oovToken: rows.oov }),
  };
  const Lookup = emb.preprocessing[kind] as typeof emb.preprocessing.StringLookup;
  const lookup = new Lookup(args as never) as emb.preprocessing.StringLookup;
  if (vocabulary === 'adapted') lookup.adapt(rows.documents as string[][]);
  return saved ? Lookup.fromConfig(JSON.parse(JSON.stringify(lookup.getConfig())) as object) : lookup;
}

/** Applies a lookup; what it gives, and what is meant. */
function looked(each: LookupCase): { found: unknown; expected: unknown } {
  const rows = new PlainLookup(each);
  const lookup = makeLookup(each, rows) as { apply(data: unknown): unknown };
  if (each.invert === true) {
    const ids = rowsOf(each.form, [0, 1, 2, 3, 4, 9]) as number[][];
    const shown = ids.map((row) => row.map((id) => rows.tokenOf(id)));
    const expected = each.form === 'one' ? shown[0]![0] : each.form === 'vector' ? shown[0] : shown;
    return { found: lookup.apply(given(each.form, ids)), expected };
  }
  const data = rowsOf(each.form, rows.tokens);
  const found = lookup.apply(given(each.form, data));
  const ids = data.map((row) => row.map((token) => rows.idOf(token)));
  return { found, expected: encoded(rows.mode, each.form, ids, rows.depth, rows.idf) };
}

const HASHING = {
  numBins: [1, 2, 5],
  maskValue: [undefined, null, 'value', 'of the other type'],
  salt: [undefined, 7, [3, 11]],
  outputMode: [undefined, 'int', 'one_hot', 'multiHot', 'count'],
  isText: [true, false],
  form: FORMS,
  saved: [false, true],
} as const;
const HASHINGS = pairCases(HASHING);

const ENCODING = {
  numTokens: [1, 4, 7],
  outputMode: [undefined, 'oneHot', 'multi_hot', 'count'],
  countWeights: [false, true],
  ids: ['inside', 'beyond', 'negative', 'fractions'],
  form: FORMS,
} as const;
const ENCODINGS = pairCases(ENCODING, (each) => {
  if (each.countWeights && each.outputMode !== 'count') {
    // The ids are read first.
    return each.ids === 'negative' && each.outputMode !== 'oneHot' ? 'data' : 'countWeights';
  }
  return each.ids === 'negative' && each.outputMode !== 'oneHot' ? 'data' : null;
});

const BINS = {
  boundaries: ['given', 'adapted', 'repeated'],
  outputMode: [undefined, 'int', 'oneHot', 'multi_hot', 'count'],
  values: ['between', 'on them', 'infinite'],
  form: FORMS,
  saved: [false, true],
} as const;
const ALL_BINS = pairCases(BINS);

const modeOf = (mode: string | undefined, byDefault: Mode): Mode =>
  mode === undefined ? byDefault : ((MODES[mode] ?? mode.replace('one_hot', 'oneHot')) as Mode);

describe('two settings of preprocessing at once', () => {
  let tensors: number;
  beforeEach(() => void (tensors = tf.memory().numTensors));
  afterEach(() => void expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

  it('are what both lookups say', () => {
    for (const each of LOOKUPS.legal) {
      tf.tidy(() => {
        const { found, expected } = looked(each);
        expectSame(found, expected, caseText(each));
      });
    }
  });

  it('of lookups are refused where they do not go together', () => {
    expect(LOOKUPS.refused.length).toBeGreaterThan(0);
    for (const { given: each, argument } of LOOKUPS.refused) {
      expectError(() => tf.tidy(() => void looked(each)), 'ValueError', argument);
    }
  });

  it('are what Hashing says', () => {
    for (const each of HASHINGS.legal) {
      tf.tidy(() => {
        const { isText, numBins, salt } = each;
        const tokens: readonly Token[] = isText ? WORDS : NUMBERS;
        const mask =
          { value: tokens[1]!, 'of the other type': isText ? NUMBERS[1]! : WORDS[1]! }[each.maskValue as 'value'] ??
          null;
        const args = { numBins, maskValue: mask, salt: salt ?? null, outputMode: each.outputMode ?? null };
        const hashing = new emb.preprocessing.Hashing(args as never);
        const again = each.saved ? emb.preprocessing.Hashing.fromConfig(hashing.getConfig()) : hashing;
        const words =
          salt === undefined ? null : ((typeof salt === 'number' ? [salt, salt] : salt) as [number, number]);
        // With one bin there is no place for a mask.
        const first = mask !== null && numBins > 1 ? 1 : 0;
        const rows = rowsOf(each.form, tokens);
        const ids = rows.map((row) =>
          row.map((token) =>
            first === 1 && token === mask ? 0 : first + bucketOf(String(token), numBins - first, words),
          ),
        );
        const expected = encoded(modeOf(each.outputMode, 'int'), each.form, ids, numBins, []);
        expectSame(again.apply(given(each.form, rows) as never), expected, caseText(each));
      });
    }
  });

  /** What CategoryEncoding of a case gives, and what is meant. */
  function categories(each: (typeof ENCODINGS.legal)[number]): { found: unknown; expected: unknown } {
    const { numTokens, outputMode, form } = each;
    const all = {
      inside: [0, 0, 0, 0, 0],
      beyond: [0, numTokens, 0, 0, 90],
      negative: [0, -2, 0, 0, 0],
      fractions: [0.5, 0, 0.25, 0, 0],
    };
    const base = all[each.ids];
    // Beside those that are special, ids up to the last one.
    const tokens = [...base, numTokens - 1];
    if (form === 'one') tokens.reverse();
    const isFloat = each.ids === 'fractions' && (form === 'tensor' || form === 'ragged');
    const rows = rowsOf(form, tokens) as number[][];
    const data = isFloat ? rows : given(form, rows);
    const weights = rows.map((row) => row.map((_, i) => i + 0.5));
    const encoding = new emb.preprocessing.CategoryEncoding({ numTokens, ...(outputMode && { outputMode }) });
    const shape = form === 'one' ? weights[0]![0]! : form === 'vector' ? weights[0]! : weights;
    const found = encoding.apply(data as number[][], each.countWeights ? { countWeights: shape as number[][] } : {});
    const ids = rows.map((row) => row.map((id) => (Math.trunc(id) < numTokens ? Math.trunc(id) : -1)));
    if (!each.countWeights)
      return { found, expected: encoded(modeOf(outputMode, 'multiHot'), form, ids, numTokens, []) };
    const counted = ids.map((row, r) =>
      Array.from({ length: numTokens }, (_, at) =>
        row.reduce((sum, id, i) => sum + (id === at ? weights[r]![i]! : 0), 0),
      ),
    );
    return { found, expected: form === 'one' || form === 'vector' ? counted[0] : counted };
  }

  it('are what CategoryEncoding says', () => {
    for (const each of ENCODINGS.legal) {
      tf.tidy(() => {
        const { found, expected } = categories(each);
        expectSame(found, expected, caseText(each));
      });
    }
  });

  it('of CategoryEncoding are refused where they do not go together', () => {
    expect(ENCODINGS.refused.length).toBeGreaterThan(0);
    for (const { given: each, argument } of ENCODINGS.refused) {
      // A negative id alone is no case of one value.
      if (each.form === 'one' && argument === 'data') continue;
      expectError(() => tf.tidy(() => void categories(each)), 'ValueError', argument);
    }
  });

  it('are what Discretization says', () => {
    for (const each of ALL_BINS.legal) {
      tf.tidy(() => {
        const boundaries = { given: [-1.5, 0, 2], adapted: null, repeated: [0, 0, 2] }[each.boundaries];
        const { outputMode } = each;
        const args = {
          ...(outputMode && { outputMode }),
          ...(boundaries === null ? { numBins: 3 } : { binBoundaries: boundaries }),
        };
        const bins = new emb.preprocessing.Discretization(args);
        if (boundaries === null) bins.adapt([-4, -3, -2, -1, 0, 1, 2, 3, 4]);
        const again = each.saved
          ? emb.preprocessing.Discretization.fromConfig(JSON.parse(JSON.stringify(bins.getConfig())) as object)
          : bins;
        const edges = bins.binBoundaries!;
        const values = {
          between: [-9, -1, 1, 3, 0.5, 2.5],
          'on them': [edges[0]!, edges[1]!, edges.at(-1)!, 0, 2, -1.5],
          infinite: [Infinity, -Infinity, 1, 1, Infinity, 0],
        }[each.values];
        const rows = rowsOf(each.form, values) as number[][];
        const form = each.form;
        const data = form === 'tensor' ? tf.tensor2d(rows) : form === 'ragged' ? emb.RaggedTensor.fromRows(rows, { dtype: 'float32' }) : given(form, rows); // prettier-ignore
        const ids = rows.map((row) =>
          row.map((value) => edges.filter((edge) => Math.fround(edge) <= Math.fround(value)).length),
        );
        const expected = encoded(modeOf(outputMode, 'int'), form, ids, edges.length + 1, []);
        expectSame(again.apply(data as number[][]), expected, caseText(each));
      });
    }
  });
});
