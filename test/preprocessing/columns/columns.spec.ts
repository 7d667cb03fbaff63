/** Columns of texts and whole numbers: in C what the plain versions in TypeScript give. */
import * as tf from '@tensorflow/tfjs';
import '../../../src/node.js';
import { loadAddon } from '../../../src/backends/native/addon.js';
import {
  nativeTextBuckets,
  numberBuckets,
  plainNumberBuckets,
  plainTextBuckets,
} from '../../../src/preprocessing/columns/column_hashes.js';
import { nativeNumberIndex, plainNumberIndex, wideNumbers } from '../../../src/preprocessing/columns/number_index.js';
import { nativeTextIndex, plainTextIndex } from '../../../src/preprocessing/columns/text_index.js';
import { textsOf, utf8ColumnOf, type Utf8Column } from '../../../src/preprocessing/columns/utf8_column.js';
import { Hashing, IntegerLookup, StringLookup } from '../../../src/preprocessing/index.js';
import { Random } from '../../helpers/random.js';

const addon = loadAddon();

const ALPHABET = ['a', 'b', 'z', '0', ' ', '\0', 'é', '京', '𝒳', '\uffff'];

function drawText(random: Random): string {
  const length = random.whole(0, 3) === 0 ? random.whole(0, 90) : random.whole(0, 6);
  return Array.from({ length }, () => ALPHABET[random.whole(0, ALPHABET.length)]!).join('');
}

/** A column of texts and, among them, bytes that are no UTF-8. */
function drawColumn(random: Random, known: readonly string[], rows: number): Utf8Column {
  const parts = Array.from({ length: rows }, () => {
    const kind = random.whole(0, 4);
    if (kind === 0) return Uint8Array.from({ length: random.whole(0, 12) }, () => random.whole(0, 256));
    const text = kind < 3 && known.length > 0 ? known[random.whole(0, known.length)]! : drawText(random);
    return new TextEncoder().encode(text);
  });
  const before = random.whole(0, 5); // a column may be a slice of another
  const offsets = new Int32Array(rows + 1).fill(before);
  parts.forEach((part, i) => (offsets[i + 1] = offsets[i]! + part.length));
  const bytes = new Uint8Array(offsets[rows]! + random.whole(0, 5)).fill(97);
  parts.forEach((part, i) => bytes.set(part, offsets[i]));
  return { bytes, offsets };
}

describe('columns', () => {
  it('of texts are found alike, drawn, empty, unknown and no UTF-8', () => {
    const random = new Random(28);
    for (let round = 0; round < 60; round++) {
      const vocabulary = [...new Set(Array.from({ length: random.whole(0, 200) }, () => drawText(random)))];
      const known = round % 10 === 0 ? [] : vocabulary;
      const queries = drawColumn(random, known, round % 7 === 0 ? 0 : random.whole(1, 300));
      const [native, plain] = [nativeTextIndex(vocabulary, addon)!, plainTextIndex(vocabulary)!];
      const rows = queries.offsets.length - 1;
      const [found, expected] = [new Int32Array(rows).fill(7), new Int32Array(rows)];
      expect(native.find(queries, found)).toBe(plain.find(queries, expected));
      expect(found).toEqual(expected);
      const places = new Int32Array(vocabulary.length);
      expect(native.find(utf8ColumnOf(vocabulary)!, places)).toBe(0);
      expect(places).toEqual(Int32Array.from(vocabulary.keys()));
    }
  });

  it('of texts are hashed alike, plainly and with a key', () => {
    const random = new Random(29);
    for (let round = 0; round < 20; round++) {
      const column = drawColumn(random, [], random.whole(0, 60));
      for (const salt of [null, [random.whole(0, 1000), -3]] as const) {
        for (const of of [1, 7, 2 ** 31 - 1]) {
          expect(nativeTextBuckets(column, { of, salt }, addon)).toEqual(plainTextBuckets(column, { of, salt }));
        }
      }
    }
  });

  it('of numbers are found and hashed alike, the ends of int64 too', () => {
    const random = new Random(30);
    const ends = [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 32n, -(2n ** 32n)];
    for (let round = 0; round < 30; round++) {
      const draw = (): bigint => BigInt(random.whole(-1000, 1000)) * (random.whole(0, 2) === 0 ? 1n : 2n ** 40n);
      const vocabulary = [...new Set([...ends, ...Array.from({ length: random.whole(0, 300) }, draw)])];
      const numbers = BigInt64Array.from(round % 10 === 0 ? [] : vocabulary);
      const queries = BigInt64Array.from([...ends, ...Array.from({ length: random.whole(0, 300) }, draw)]);
      const [found, expected] = [new Int32Array(queries.length), new Int32Array(queries.length)];
      expect(nativeNumberIndex(numbers, addon).find(queries, found)).toBe(plainNumberIndex(numbers).find(queries, expected)); // prettier-ignore
      expect(found).toEqual(expected);
      for (const salt of [null, [5, -9]] as const) {
        expect(numberBuckets(queries, { of: 1001, salt })).toEqual(plainNumberBuckets(queries, { of: 1001, salt }));
      }
    }
    expect(wideNumbers(Int32Array.of(0, -1, 2 ** 31 - 1, -(2 ** 31)))).toEqual(BigInt64Array.of(0n, -1n, 2n ** 31n - 1n, -(2n ** 31n))); // prettier-ignore
  });

  it('tell the position of a text or a number that is there twice', () => {
    const { bytes, offsets } = utf8ColumnOf(['a', '', 'b', 'a'])!;
    expect(addon.indexTexts(bytes, offsets, new Int32Array(32))).toBe(3);
    expect(addon.indexNumbers(BigInt64Array.of(5n, 6n, 6n), new BigInt64Array(16))).toBe(2);
  });

  it('are never read outside of their bytes', () => {
    const { bytes, offsets } = utf8ColumnOf(['abc', 'd', 'efghijklm'])!;
    const slots = new Int32Array(32);
    addon.indexTexts(bytes, offsets, slots);
    const found = new Int32Array(3);
    const key = new BigInt64Array(2);
    const refused: [string, () => unknown][] = [
      ['queryOffsets', () => addon.findTexts(bytes, slots, bytes, Int32Array.of(0, 3, 2, 5), 0, found)],
      ['queryOffsets', () => addon.findTexts(bytes, slots, bytes, Int32Array.of(0, 3, 4, 99), 0, found)],
      ['queryOffsets', () => addon.findTexts(bytes, slots, bytes, Int32Array.of(-1, 3, 4, 5), 0, found)],
      ['queryOffsets', () => addon.findTexts(bytes, slots, bytes, Int32Array.of(0, 0, 4, 5), 1, found)],
      ['queryOffsets', () => addon.findTexts(bytes, slots, bytes, new Int32Array(0), 0, found)],
      ['found', () => addon.findTexts(bytes, slots, bytes, offsets, 0, new Int32Array(2))],
      ['slots', () => addon.findTexts(bytes, new Int32Array(12), bytes, offsets, 0, found)],
      ['slots', () => addon.indexTexts(bytes, offsets, new Int32Array(16))],
      ['slots', () => addon.indexNumbers(BigInt64Array.of(1n, 2n), new BigInt64Array(4))],
      ['offsets', () => addon.hashTexts(bytes, Int32Array.of(0, 99), 0, 3, null, new Int32Array(1))],
      ['of', () => addon.hashTexts(bytes, offsets, 0, 0, null, found)],
      ['key', () => addon.hashTexts(bytes, offsets, 0, 3, BigInt64Array.of(1n), found)],
      ['buckets', () => addon.hashNumbers(BigInt64Array.of(1n), 3, null, found)],
      ['numbers', () => addon.hashNumbers(found as never, 3, null, found)],
      ['buckets', () => addon.hashNumbers(new BigInt64Array(4), 3, key, new Int32Array(key.buffer))],
      ['buckets', () => addon.hashTexts(bytes, offsets, 0, 3, key, new Int32Array(key.buffer, 0, offsets.length - 1))],
      ['separator', () => addon.splitTexts(bytes, 256, found)],
    ];
    for (const [argument, call] of refused) expect(call).withContext(argument).toThrowError(new RegExp(argument));
    // Slots that say anything find what is there, or nothing.
    const random = new Random(31);
    for (let round = 0; round < 500; round++) {
      const wild = slots.slice();
      for (let n = 0; n < 20; n++) {
        const word = random.whole(0, 2) === 0 ? random.whole(-3, 20) : random.whole(-(2 ** 31), 2 ** 31 - 1);
        // Tags stay, so that the rest is looked at.
        wild[4 * random.whole(0, 8) + random.whole(1, 4)] = word;
      }
      const unknown = addon.findTexts(bytes, wild, bytes, offsets, 0, found);
      expect(unknown >= 0 && unknown <= 3).toBeTrue();
    }
  });

  describe('in lookups', () => {
    const random = new Random(32);
    const draw = (): string => drawText(random).replaceAll('\0', 'q');
    const words = [...new Set(Array.from({ length: 400 }, draw))];
    const texts = Array.from({ length: 3000 }, () => {
      return random.whole(0, 3) === 0 ? draw() : words[random.whole(0, words.length)]!;
    });
    // Some hold zeros, and one a half of a surrogate pair: those go one by one.
    const odd = [...texts.slice(0, 600), 'x\0y', 'x\ud800', '\ud83d'];

    for (const settings of [
      {},
      { numOovIndices: 5 },
      { maskToken: words[3]! },
      { numOovIndices: 3, salt: 9, maskToken: '' },
    ]) {
      it(`strings, columns, tensors and rows give the ids of strings one by one ${JSON.stringify(settings)}`, () => {
        const vocabulary = words.filter((word) => word !== (settings as { maskToken?: string }).maskToken);
        const lookup = new StringLookup({ vocabulary, ...settings });
        for (const given of [texts, odd]) {
          const expected = given.map((text) => lookup.apply(text));
          expect(lookup.apply(given)).toEqual(expected);
          if (given === odd) {
            const zeros = [...texts.slice(0, 300), 'x\0y', ''];
            expect(lookup.apply(zeros)).toEqual(zeros.map((text) => lookup.apply(text)));
            continue;
          }
          const column = utf8ColumnOf(given)!;
          expect(textsOf(column)).toEqual(given);
          expect(Array.from(lookup.apply(column))).toEqual(expected);
          const rows = lookup.apply({ values: column, rowSplits: Int32Array.of(0, 10, 10, given.length) });
          expect(Array.from(rows.values)).toEqual(expected);
          tf.tidy(() => expect(Array.from(lookup.apply(tf.tensor1d(given, 'string')).dataSync())).toEqual(expected));
        }
      });
    }

    it('int32 and int64 columns give the ids of numbers one by one', () => {
      const numbers = Array.from({ length: 2000 }, () => random.whole(-50, 50));
      for (const settings of [
        {},
        { numOovIndices: 4 },
        { maskToken: 7 },
        { numOovIndices: 3, oovMethod: 'farmhash' },
      ] as const) {
        const lookup = new IntegerLookup({ vocabulary: Array.from({ length: 30 }, (_, i) => i - 40), ...settings });
        const expected = Int32Array.from(numbers, (number) => lookup.apply(number));
        expect(lookup.apply(Int32Array.from(numbers))).toEqual(expected);
        expect(lookup.apply(BigInt64Array.from(numbers, BigInt))).toEqual(expected);
      }
      const large = new IntegerLookup({ vocabulary: [1] }).apply(BigInt64Array.of(1n, 2n ** 62n, -(2n ** 63n)));
      expect(large).toEqual(Int32Array.of(1, 0, 0));
    });

    it('an unknown value is told with its position where there is no row for it', () => {
      const lookup = new StringLookup({ vocabulary: ['a', 'b'], numOovIndices: 0 });
      const data = [...new Array<string>(400).fill('a'), 'zz'];
      expect(() => lookup.apply(data)).toThrowError(/"zz" at position 400/);
      expect(() => lookup.apply(utf8ColumnOf(data)!)).toThrowError(/"zz" at position 400/);
    });

    it('hashes are those of values one by one, masked ones too', () => {
      for (const settings of [{}, { maskValue: words[0]! }, { salt: 4 }]) {
        const hashing = new Hashing({ numBins: 1000, ...settings });
        const expected = texts.map((text) => hashing.apply(text));
        expect(hashing.apply(texts)).toEqual(expected);
        expect(Array.from(hashing.apply(utf8ColumnOf(texts)!))).toEqual(expected);
      }
      const numbers = Array.from({ length: 500 }, (_, i) => (i - 250) * 7919);
      const hashing = new Hashing({ numBins: 97, maskValue: 0 });
      const expected = Int32Array.from(numbers, (number) => hashing.apply(number));
      expect(hashing.apply(Int32Array.from(numbers))).toEqual(expected);
      expect(hashing.apply(BigInt64Array.from(numbers, BigInt))).toEqual(expected);
    });

    it('wrong columns are named', () => {
      const lookup = new StringLookup({ vocabulary: ['a'] });
      const bytes = new Uint8Array(4);
      const refused: [RegExp, unknown][] = [
        [/`data.offsets`.*-1 at position 0/, { bytes, offsets: Int32Array.of(-1, 2) }],
        [/`data.offsets`.*1 at position 2/, { bytes, offsets: Int32Array.of(0, 2, 1) }],
        [/`data.offsets`.*5 at position 1/, { bytes, offsets: Int32Array.of(0, 5) }],
        [/`data.offsets`.*none/, { bytes, offsets: new Int32Array(0) }],
        [/`data.offsets`.*Int32Array/, { bytes, offsets: [0, 1] }],
        [/`data.bytes`.*Uint8Array/, { bytes: 'abc', offsets: Int32Array.of(0) }],
        [/`data.rowSplits`/, { values: ['a', 'b'], rowSplits: [0, 1] }],
        [/`data.values`.*flat/, { values: [['a']], rowSplits: [0, 1] }],
      ];
      for (const [message, data] of refused) expect(() => lookup.apply(data as never)).toThrowError(message);
    });
  });
});
