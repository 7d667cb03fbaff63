/**
 * A column of a row group of a parquet file, page by page: hyparquet unpacks and decodes the pages, and lists come as
 * values and row splits, without an object for each row.
 */
import type * as column from 'hyparquet/src/column.js';
import type * as convert from 'hyparquet/src/convert.js';
import type * as encoding from 'hyparquet/src/encoding.js';
import type * as datapage from 'hyparquet/src/datapage.js';
import type { ColumnDecoder, Compressors, DataPageHeader, DecodedArray, PageHeader } from 'hyparquet/src/types.js';
import { RuntimeError, ValueError, described } from '../base/errors.js';
import { part } from './chunk.js';
import { noteOnBytes } from '../io/byte_source.js';
import type { DataFile } from './data_file.js';
import { decodeLevels, levelWidth, placesOfZero } from './parquet_levels.js';
import type { RawColumn } from './raw_column.js';

/** The parts of hyparquet that read a page. */
export interface PageReader {
  readonly parquetHeader: typeof column.parquetHeader;
  readonly readPage: typeof column.readPage;
  readonly decompressPage: typeof datapage.decompressPage;
  readonly readDataPage: typeof datapage.readDataPage;
  readonly convert: typeof convert.convert;
  readonly readRleBitPackedHybrid: typeof encoding.readRleBitPackedHybrid;
  readonly compressors: Compressors;
}

/** Where the pages of a column lie, and what they hold. */
export interface ColumnPlace {
  readonly decoder: ColumnDecoder;
  /** First byte, and the one behind the last. */
  readonly start: number;
  readonly end: number;
  /** How many there are, those that are missing and empty lists among them. */
  readonly values: number;
  /** Definition level of a value that is there. */
  readonly full: number;
  /** Definition level from which on there is an element of a list; null: the column has one value per row. */
  readonly element: number | null;
}

/** Values of a page; rows that it goes on with come first. */
interface Page {
  readonly values: ArrayLike<unknown>;
  /** Number of values up to the end of each row; null: a value per row. */
  readonly ends: Int32Array | null;
  /** Values that belong to the last row of the page before. */
  readonly continued: number;
  readonly rows: number;
}

/** A page, unpacked. */
interface PageParts {
  readonly levels: { readonly repetition: Uint8Array; readonly definition: Uint8Array };
  readonly body: Uint8Array;
}

/** Bytes that are read at once; pages are mostly as large. */
const PIECE = 2 ** 20;
const HEADER = 2 ** 12;

/** Bytes of a part of a file, in order, a piece at a time. */
class Window {
  #bytes = new Uint8Array(0);
  /** Where in `#bytes` the next byte lies, and where in the file. */
  #at = 0;

  constructor(
    private readonly file: DataFile,
    private next: number,
    private readonly end: number,
  ) {}

  /** Bytes that are left. */
  get left(): number {
    return this.end - this.next + this.#bytes.length - this.#at;
  }

  /** The next bytes, at most `count`, which stay next. */
  async peek(count: number): Promise<Uint8Array> {
    const wanted = Math.min(count, this.left);
    const held = this.#bytes.length - this.#at;
    if (held < wanted) {
      const more = await this.file.read(this.next, Math.min(this.end, this.next + Math.max(PIECE, wanted - held)));
      const joined = new Uint8Array(held + more.length);
      joined.set(this.#bytes.subarray(this.#at));
      joined.set(more, held);
      this.next += more.length;
      this.#bytes = joined;
      this.#at = 0;
    }
    return this.#bytes.subarray(this.#at, this.#at + wanted);
  }

  skip(count: number): void {
    this.#at += count;
  }
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Puts null in the places of values that are missing. */
function withNulls(values: ArrayLike<unknown>, levels: Uint8Array, { full, element }: ColumnPlace): unknown[] {
  const least = element ?? 0;
  const all: unknown[] = [];
  let at = 0;
  for (let i = 0; i < levels.length; i++) {
    if (levels[i] === full) all.push(values[at++]);
    else if (levels[i]! >= least) all.push(null);
  }
  return all;
}

/** The rows of a page of lists, which begin at `starts`; `definitions` null: all values are there. */
function listPage(
  values: ArrayLike<unknown>,
  definitions: Uint8Array | null,
  starts: Int32Array,
  place: ColumnPlace,
  count: number,
): Page {
  const rows = starts.length;
  const ends = new Int32Array(rows);
  if (definitions === null) {
    for (let row = 0; row < rows; row++) ends[row] = starts[row + 1] ?? count;
    return { values, ends, continued: starts[0] ?? count, rows };
  }
  const element = place.element!;
  let held = 0;
  const heldUpTo = (from: number, to: number): number => {
    for (let i = from; i < to; i++) held += definitions[i]! >= element ? 1 : 0;
    return held;
  };
  const continued = heldUpTo(0, starts[0] ?? count);
  for (let row = 0; row < rows; row++) ends[row] = heldUpTo(starts[row]!, starts[row + 1] ?? count);
  const all = held === values.length ? values : withNulls(values, definitions, place);
  return { values: all, ends, continued, rows };
}

/** Values of some pages as one list: typed where all pages are. */
function joined(parts: readonly ArrayLike<unknown>[]): ArrayLike<unknown> {
  if (parts.length === 1) return parts[0]!;
  const total = parts.reduce((sum, part) => sum + part.length, 0);
  const [first] = parts;
  const Kind = first?.constructor as { new (count: number): Int32Array } | undefined;
  const isTyped = ArrayBuffer.isView(first) && parts.every((part) => part.constructor === Kind);
  const all = (isTyped ? new Kind!(total) : []) as unknown[];
  let at = 0;
  for (const part of parts) {
    if (isTyped) (all as unknown as Int32Array).set(part as Int32Array, at);
    else for (let i = 0; i < part.length; i++) all[at + i] = part[i];
    at += part.length;
  }
  return all;
}

/** Reads a column of a row group row by row. */
export class ParquetColumn {
  readonly #window: Window;
  #dictionary: DecodedArray | undefined;
  /** The page in hand: its next row, and the number of its values that are taken. */
  #page: Page | null = null;
  #row = 0;
  #taken = 0;
  /** Values of all pages so far, as their headers count them. */
  #counted = 0;

  constructor(
    private readonly reader: PageReader,
    file: DataFile,
    private readonly place: ColumnPlace,
    private readonly where: string,
  ) {
    this.#window = new Window(file, place.start, place.end);
  }

  #wrong(error: unknown): Error {
    if (error instanceof ValueError || error instanceof RuntimeError) return error;
    const name = this.place.decoder.pathInSchema.join('.');
    const received = described(`column ${name} of ${this.where}`);
    return new ValueError('source', 'a parquet file that can be read', received, noteOnBytes(error));
  }

  /** The next page's header, after which its bytes come. */
  async #header(): Promise<PageHeader> {
    for (let count = HEADER; ; count *= 4) {
      const bytes = await this.#window.peek(count);
      const reader = { view: viewOf(bytes), offset: 0 };
      try {
        const header = this.reader.parquetHeader(reader);
        this.#window.skip(reader.offset);
        return header;
      } catch (error) {
        // Statistics may be longer than any number of bytes that one would look at first.
        if (!(error instanceof RangeError) || bytes.length === this.#window.left) throw error;
      }
    }
  }

  /** The next page with values; null: there is none. */
  async #nextPage(): Promise<Page | null> {
    const { reader, place } = this;
    while (this.#window.left > 0) {
      const header = await this.#header();
      const size = header.compressed_page_size;
      const bytes = await this.#window.peek(size);
      if (!(size >= 0)) throw new Error('a page without a size');
      if (bytes.length < size) throw new Error(`a page of ${size} bytes where ${bytes.length} are left`);
      this.#window.skip(size);
      if (header.type === 'DICTIONARY_PAGE') {
        // Kept for the whole column; its values may be views.
        const own = { view: viewOf(bytes.slice()), offset: 0 };
        const { data } = reader.readPage(own, header, place.decoder, undefined, undefined, 0);
        this.#dictionary = data === undefined ? undefined : reader.convert(data, place.decoder);
        continue;
      }
      const page = this.#decode(header, bytes);
      if (page !== null) return page;
    }
    return null;
  }

  #decode(header: PageHeader, bytes: Uint8Array): Page | null {
    const { place } = this;
    const { full, element } = place;
    const { data_page_header: first, data_page_header_v2: second } = header;
    if (first === undefined && second === undefined) return null;
    const { encoding, num_values: count } = (first ?? second)!;
    if (!(count >= 0)) throw new Error('a page without a number of values');
    this.#counted += count;
    const { levels, body } = first !== undefined ? this.#partsOf(header, bytes) : this.#partsOfV2(header, bytes);
    const starts = element === null ? null : placesOfZero(levels.repetition, count);
    const { levels: definitions, known } =
      full === 0 ? { levels: null, known: count } : decodeLevels(levels.definition, levelWidth(full), count, full);
    const values = this.#valuesOf(body, known, encoding);
    if (values.length !== known) throw new Error(`a page with ${values.length} values for ${known}`);
    const rows = starts?.length ?? count;
    if ((second?.num_rows ?? rows) !== rows) throw new Error(`a page of ${rows} rows for ${second!.num_rows}`);
    if (starts !== null) return listPage(values, definitions, starts, place, count);
    const all = definitions === null ? values : withNulls(values, definitions, place);
    return { values: all, ends: null, continued: 0, rows: count };
  }

  /** `count` values behind the levels of a page. */
  #valuesOf(body: Uint8Array, count: number, encoding: string): ArrayLike<unknown> {
    const { reader } = this;
    const { decoder } = this.place;
    if (encoding !== 'PLAIN_DICTIONARY' && encoding !== 'RLE_DICTIONARY') {
      // Levels are read; what is left are values, as of a column without any.
      const header = { num_values: count, encoding } as DataPageHeader;
      return reader.convert(reader.readDataPage(body, header, { ...decoder, schemaPath: [] }).dataPage, decoder);
    }
    const dictionary = this.#dictionary;
    if (dictionary === undefined) throw new Error('a page without its dictionary');
    if (count > 0 && body.length === 0) throw new Error('a page that ends before its values');
    const places = new Int32Array(count);
    const width = body[0] ?? 0;
    if (width > 0) reader.readRleBitPackedHybrid({ view: viewOf(body), offset: 1 }, width, places, body.length - 1);
    const isTyped = ArrayBuffer.isView(dictionary);
    const Kind = dictionary.constructor as new (count: number) => Int32Array;
    const values = (isTyped ? new Kind(count) : []) as unknown[];
    for (let i = 0; i < count; i++) {
      const place = places[i]!;
      if (place < 0 || place >= dictionary.length)
        throw new Error(`value ${place} of a dictionary of ${dictionary.length}`);
      values[i] = dictionary[place] as unknown;
    }
    return values;
  }

  /** Levels and values of a page, which are packed together. */
  #partsOf(header: PageHeader, bytes: Uint8Array): PageParts {
    const { decoder, full, element } = this.place;
    const { definition_level_encoding: ofDefinitions, repetition_level_encoding: ofRepetitions } =
      header.data_page_header!;
    const size = Number(header.uncompressed_page_size);
    const page = this.reader.decompressPage(bytes, size, decoder.codec, decoder.compressors);
    let at = 0;
    const levels = (isThere: boolean, encoding: string): Uint8Array => {
      if (!isThere) return page.subarray(0, 0);
      if (encoding !== 'RLE') throw new Error(`levels encoded by ${encoding}`);
      if (at + 4 > page.length) throw new Error('a page that ends within its levels');
      const start = at + 4;
      at = start + viewOf(page).getUint32(at, true);
      if (at > page.length) throw new Error('a page that ends within its levels');
      return page.subarray(start, at);
    };
    const repetition = levels(element !== null, ofRepetitions);
    const definition = levels(full > 0, ofDefinitions);
    return { levels: { repetition, definition }, body: page.subarray(at) };
  }

  /** Those of a page of the second version, whose levels are not packed. */
  #partsOfV2(header: PageHeader, bytes: Uint8Array): PageParts {
    const { codec, compressors } = this.place.decoder;
    const second = header.data_page_header_v2!;
    const { repetition_levels_byte_length: first, definition_levels_byte_length: more } = second;
    const at = first + more;
    if (!(first >= 0 && more >= 0 && at <= bytes.length)) throw new Error('a page that ends within its levels');
    const rest = bytes.subarray(at);
    const size = Number(header.uncompressed_page_size) - at;
    const isPacked = second.is_compressed !== false;
    return {
      levels: { repetition: bytes.subarray(0, first), definition: bytes.subarray(first, at) },
      body: isPacked && rest.length > 0 ? this.reader.decompressPage(rest, size, codec, compressors) : rest,
    };
  }

  /** Throws ValueError where the column goes on behind the rows that were read, or has another number of values. */
  async end(): Promise<void> {
    try {
      const { values } = this.place;
      const isRead = this.#page === null || this.#row === this.#page.rows;
      const next = isRead ? await this.#nextPage() : this.#page;
      if (next !== null && next.rows + next.continued > 0) throw new Error('pages behind the last row');
      if (this.#counted !== values) throw new Error(`${this.#counted} values where ${values} are told`);
    } catch (error) {
      throw this.#wrong(error);
    }
  }

  /** The next `count` rows. Throws ValueError where the file holds fewer, or cannot be decoded. */
  async read(count: number): Promise<RawColumn> {
    try {
      return await this.#read(count);
    } catch (error) {
      throw this.#wrong(error);
    }
  }

  async #read(count: number): Promise<RawColumn> {
    const isList = this.place.element !== null;
    const parts: ArrayLike<unknown>[] = [];
    const rowSplits = isList ? new Int32Array(count + 1) : null;
    let [rows, values] = [0, 0];
    for (;;) {
      if (this.#page === null || this.#row === this.#page.rows) {
        // Whether the last row goes on is only known from the next page.
        if (rows === count && !isList) break;
        this.#page = await this.#nextPage();
        this.#row = 0;
        this.#taken = 0;
        if (this.#page === null) break;
        const { continued } = this.#page;
        if (continued > 0) {
          if (rows === 0) throw new Error('a page that goes on with a row that was not begun');
          parts.push(part(this.#page.values, 0, continued));
          values += continued;
          rowSplits![rows] = values;
          this.#taken = continued;
        }
        continue;
      }
      if (rows === count) break;
      const { ends, rows: held, values: all } = this.#page;
      const taken = Math.min(count - rows, held - this.#row);
      const end = ends === null ? this.#row + taken : ends[this.#row + taken - 1]!;
      const start = this.#taken;
      parts.push(part(all, start, end));
      if (rowSplits !== null)
        for (let i = 0; i < taken; i++) rowSplits[rows + i + 1] = values + ends![this.#row + i]! - start;
      values += end - start;
      rows += taken;
      this.#row += taken;
      this.#taken = end;
    }
    if (rows < count) throw new Error(`${rows} rows where ${count} are left`);
    return { values: joined(parts), rowSplits, isText: false };
  }
}
