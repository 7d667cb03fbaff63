/** Pages of a column that end anywhere, also within a row; levels in runs and packed groups. */
import { ParquetColumn, type ColumnPlace, type PageReader } from '../../src/data/parquet_column.js';
import { decodeLevels, levelWidth, placesOfZero } from '../../src/data/parquet_levels.js';
import { Random } from '../helpers/random.js';

/** Levels as parquet files have them: runs and groups of eight, drawn. */
function encodeLevels(levels: readonly number[], width: number, random: Random): number[] {
  const bytes: number[] = [];
  const varint = (value: number): void => {
    for (; value > 0x7f; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
    bytes.push(value);
  };
  for (let at = 0; at < levels.length;) {
    const run = levels.slice(at).findIndex((level) => level !== levels[at]);
    const length = run < 0 ? levels.length - at : run;
    if (length >= 8 || random.chance(0.3)) {
      varint(length << 1);
      bytes.push(levels[at]!);
      at += length;
      continue;
    }
    const groups = random.whole(1, 4);
    varint((groups << 1) | 1);
    let bits = 0n;
    for (let i = 0; i < groups * 8; i++) bits |= BigInt(levels[at + i] ?? 0) << BigInt(i * width);
    for (let i = 0; i < groups * width; i++) bytes.push(Number((bits >> BigInt(8 * i)) & 0xffn));
    at += groups * 8;
  }
  return bytes;
}

describe('levels of parquet pages', () => {
  for (const width of [1, 2, 3, 5, 8]) {
    it(`of ${width} bits are decoded as they were encoded`, () => {
      const random = new Random(width);
      for (let i = 0; i < 60; i++) {
        const most = 2 ** width;
        let level = 0;
        const levels = Array.from({ length: random.whole(0, 200) }, () => {
          if (random.chance(0.4)) level = random.whole(0, most);
          return level;
        });
        const bytes = Uint8Array.from(encodeLevels(levels, width, random));
        const full = random.chance(0.5) ? most - 1 : (levels[0] ?? 0);
        const found = decodeLevels(bytes, width, levels.length, full);
        expect(found.known).toBe(levels.filter((each) => each === full).length);
        if (found.known === levels.length) expect(found.levels).toBeNull();
        else expect(Array.from(found.levels!)).toEqual(levels);
        if (width !== 1) continue;
        const places = levels.flatMap((each, place) => (each === 0 ? [place] : []));
        expect(Array.from(placesOfZero(bytes, levels.length))).toEqual(places);
      }
    });
  }

  it('take as many bits as the largest needs', () => {
    expect([1, 2, 3, 4, 7, 8].map(levelWidth)).toEqual([1, 2, 2, 3, 3, 4]);
  });

  it('are refused where bytes are missing, a run is empty or its length has no end', () => {
    for (const bytes of [[], [3], [5, 1], [16], [0x80]]) {
      expect(() => decodeLevels(Uint8Array.from(bytes), 1, 16, 1)).toThrowError(/end before/);
      expect(() => placesOfZero(Uint8Array.from(bytes), 16)).toThrowError(/end before/);
    }
    expect(() => decodeLevels(Uint8Array.of(3, 1, 1), 3, 8, 1)).toThrowError(/end before/);
    // A run that is all there is, without its level.
    expect(() => decodeLevels(Uint8Array.of(16), 1, 8, 1)).toThrowError(/end before/);
    expect(() => placesOfZero(Uint8Array.of(16), 8)).toThrowError(/end before/);
    expect(() => decodeLevels(Uint8Array.of(0, 1), 1, 3, 1)).toThrowError(/end before/);
    expect(() => decodeLevels(Uint8Array.of(255, 255, 255, 255, 255, 255, 1), 1, 3, 1)).toThrowError(/end before/);
  });
});

interface Level {
  readonly repetition: number;
  readonly definition: number;
  readonly value: number | null;
}

/** Of optional lists of optional values. */
const [NULL_LIST, EMPTY_LIST, NULL_VALUE, VALUE] = [0, 1, 2, 3];

function levelsOf(rows: readonly (readonly (number | null)[] | null)[]): Level[] {
  return rows.flatMap((row): Level[] => {
    if (row === null) return [{ repetition: 0, definition: NULL_LIST, value: null }];
    if (row.length === 0) return [{ repetition: 0, definition: EMPTY_LIST, value: null }];
    return row.map((value, i) => ({
      repetition: i === 0 ? 0 : 1,
      definition: value === null ? NULL_VALUE : VALUE,
      value,
    }));
  });
}

/** What was read of the file of the column that was made last. */
let reads: Uint8Array[] = [];

/** A column of these pages; the reader that it is given knows their headers and values. `told`: by the file's footer. */
function columnOf(pages: readonly Level[][], seed: number, told = pages.flat().length): ParquetColumn {
  const random = new Random(seed);
  let page = -1;
  const encoded = pages.map((levels) => {
    const repetition = encodeLevels(
      levels.map((each) => each.repetition),
      1,
      random,
    );
    const definition = encodeLevels(
      levels.map((each) => each.definition),
      2,
      random,
    );
    return { levels, first: repetition.length, bytes: [...repetition, ...definition] };
  });
  // A byte in front of each stands for its header.
  const bytes = Uint8Array.from(encoded.flatMap((each) => [7, ...each.bytes]));
  const reader = {
    parquetHeader(from: { offset: number }) {
      page += 1;
      from.offset += 1;
      const { levels, first, bytes: all } = encoded[page]!;
      return {
        type: 'DATA_PAGE_V2',
        compressed_page_size: all.length,
        uncompressed_page_size: all.length,
        data_page_header_v2: {
          num_values: levels.length,
          encoding: 'PLAIN',
          repetition_levels_byte_length: first,
          definition_levels_byte_length: all.length - first,
          is_compressed: false,
        },
      };
    },
    readDataPage(_: Uint8Array, header: { num_values: number }) {
      const values = encoded[page]!.levels.filter(({ value }) => value !== null).map(({ value }) => value!);
      return { dataPage: Int32Array.from(values.slice(0, header.num_values)) };
    },
    convert: (values: unknown) => values,
  } as unknown as PageReader;
  const place = {
    decoder: { pathInSchema: ['x'] },
    start: 0,
    end: bytes.length,
    values: told,
    full: VALUE,
    element: NULL_VALUE,
  } as unknown as ColumnPlace;
  const file = {
    name: 'pages',
    size: bytes.length,
    async read(start: number, end: number) {
      reads.push(bytes.slice(start, end));
      return reads.at(-1)!;
    },
  };
  reads = [];
  return new ParquetColumn(reader, file, place, 'pages');
}

describe('columns of lists in pages', () => {
  for (let seed = 0; seed < 30; seed++) {
    it(`give the rows that were written, wherever pages and reads end (${seed})`, async () => {
      const random = new Random(seed + 40);
      const rows = Array.from({ length: random.whole(1, 30) }, () => {
        if (random.chance(0.1)) return null;
        return Array.from({ length: random.whole(0, 5) }, () => (random.chance(0.05) ? null : random.whole(0, 99)));
      });
      const levels = levelsOf(rows);
      const pages: Level[][] = [];
      for (let at = 0; at < levels.length;) {
        const end = at + random.whole(1, seed % 3 === 0 ? 3 : 20);
        pages.push(levels.slice(at, end));
        at = end;
      }
      const column = columnOf(pages, seed);
      const found: unknown[] = [];
      for (let left = rows.length; left > 0;) {
        const count = Math.min(left, random.whole(1, 8));
        const { values, rowSplits } = await column.read(count);
        expect(rowSplits!.length).toBe(count + 1);
        expect(rowSplits![count]).toBe(values.length);
        for (let row = 0; row < count; row++)
          found.push(Array.from(values).slice(rowSplits![row], rowSplits![row + 1]));
        left -= count;
      }
      expect(found).toEqual(rows.map((row) => row ?? []));
      // A file that is smaller than a piece comes at once.
      expect(reads.length).toBe(1);
      await expectAsync(column.read(1)).toBeRejectedWithError(/0 rows where 1 are left/);
    });
  }

  it('give numbers in one typed array, whatever the number of pages', async () => {
    const levels = levelsOf([[1, 2], [3], [4, 5, 6]]);
    for (const pages of [[levels], [levels.slice(0, 2), levels.slice(2)], levels.map((level) => [level])]) {
      const { values } = await columnOf(pages, 2).read(3);
      expect(values).toEqual(Int32Array.of(1, 2, 3, 4, 5, 6));
    }
  });

  it('end where the footer tells their values, and are refused where it tells another number', async () => {
    const rows = [[1, 2, null], [], [4], null, [5, 6]];
    // Of empty lists and of no lists, levels count too.
    const levels = levelsOf(rows);
    const pages = [levels.slice(0, 4), levels.slice(4)];
    for (const [told, isRight] of [
      [levels.length, true],
      [levels.length - 1, false],
      [levels.length + 1, false],
      [6, false],
      [0, false],
    ] as const) {
      const column = columnOf(pages, 3, told);
      await column.read(rows.length);
      if (isRight) await expectAsync(column.end()).toBeResolved();
      else {
        const text = new RegExp(`${levels.length} values where ${told} are told`);
        await expectAsync(column.end()).toBeRejectedWithError(text);
      }
    }
  });

  it('may end with pages of nothing, and with none of something', async () => {
    const levels = levelsOf([[1, 2], [3]]);
    const empty = columnOf([levels, [], []], 3);
    await empty.read(2);
    await expectAsync(empty.end()).toBeResolved();
    const more = columnOf([levels, [], levelsOf([[4]])], 3);
    await more.read(2);
    await expectAsync(more.end()).toBeRejectedWithError(/pages behind the last row/);
  });

  it('are refused where they begin within a row', async () => {
    const [, ...rest] = levelsOf([[1, 2, 3], [4]]);
    await expectAsync(columnOf([rest], 1).read(1)).toBeRejectedWithError(/not begun/);
  });
});

describe('pages that cannot be', () => {
  /** Reads one row of a column of values whose pages have these headers; values are numbers of this dictionary. */
  const read = (headers: object[], places: number[], size = 7): Promise<unknown> => {
    const left = [...headers];
    const reader = {
      parquetHeader(from: { offset: number }) {
        from.offset += 1;
        return { compressed_page_size: size, uncompressed_page_size: size, ...left.shift() };
      },
      readPage: () => ({ data: Int32Array.of(5, 6) }),
      decompressPage: (page: Uint8Array) => page,
      readRleBitPackedHybrid: (_from: object, _width: number, into: Int32Array) => into.set(places),
      convert: (values: unknown) => values,
    } as unknown as PageReader;
    const bytes = Uint8Array.from(headers.flatMap(() => [7, 2, 0, 0, 0, 2, 1, 1].slice(0, size + 1)));
    const file = {
      name: 'pages',
      size: bytes.length,
      read: async (start: number, end: number) => bytes.slice(start, end),
    };
    const place = { decoder: { pathInSchema: ['x'] }, start: 0, end: bytes.length, full: 1, element: null };
    return new ParquetColumn(reader, file, place as unknown as ColumnPlace, 'pages').read(1);
  };
  const page = (definitions = 'RLE'): object => ({
    type: 'DATA_PAGE',
    data_page_header: { num_values: 1, encoding: 'RLE_DICTIONARY', definition_level_encoding: definitions },
  });
  const dictionary = { type: 'DICTIONARY_PAGE', dictionary_page_header: {} };

  it('are told by what is wrong', async () => {
    const refused = (headers: object[], places: number[], text: RegExp): Promise<void> =>
      expectAsync(read(headers, places)).toBeRejectedWithError(text) as unknown as Promise<void>;
    expect(await read([dictionary, page()], [1])).toEqual(jasmine.objectContaining({ values: Int32Array.of(6) }));
    await expectAsync(read([dictionary, page()], [1], 6)).toBeRejectedWithError(/ends before its values/);
    for (const size of [3, 5])
      await expectAsync(read([dictionary, page()], [1], size)).toBeRejectedWithError(/ends within its levels/);
    await refused([dictionary, page()], [2], /value 2 of a dictionary of 2/);
    await refused([dictionary, page()], [-1], /value -1 of a dictionary of 2/);
    await refused([page()], [0], /without its dictionary/);
    await refused([dictionary, page('BIT_PACKED')], [0], /levels encoded by BIT_PACKED/);
    await refused([dictionary, { ...page(), compressed_page_size: 99 }], [0], /99 bytes where/);
    await refused([dictionary, { ...page(), compressed_page_size: -1 }], [0], /a page without a size/);
  });
});
