/** Arrow files and streams of pyarrow and polars: packed, with every kind of text and list, replaced dictionaries; cut ones. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import * as arrow from 'apache-arrow';
import * as emb from 'tfjs-embeddings/node';
import { teachCodecs } from '../../src/data/arrow_codecs.js';
import { expectRejection } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';
import { rowsOf } from './rows.js';

const { columnsOf, fromArrow } = emb.data;
const FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../goldens/arrow');
const bytesOf = (name: string): Uint8Array => new Uint8Array(readFileSync(join(FOLDER, name)));
const held = JSON.parse(readFileSync(join(FOLDER, 'expected.json'), 'utf8')) as Record<string, unknown[]>;
const ROWS = 60;

const PACKINGS = ['plain', 'lz4', 'zstd'];
const PYARROW = PACKINGS.flatMap((packing) => ['arrow', 'arrows'].map((kind) => `pyarrow_${packing}.${kind}`));
const POLARS = ['polars_uncompressed.arrow', 'polars_lz4.arrow', 'polars_zstd.arrow', 'polars_lz4.arrows'];

/** The rows of a file, by the types that it says its columns have; int64 as hashes, which no int32 holds. */
async function read(source: Uint8Array): Promise<Record<string, unknown>[]> {
  const types = await columnsOf(source);
  const columns = Object.entries(types).map(([name, type]): [string, unknown] => {
    if (name === 'int64') return [name, new emb.preprocessing.Hashing({ numBins: 1000 })];
    return [name, name.endsWith('_null') ? { type, missing: type === 'string' ? '?' : -7 } : type];
  });
  return await rowsOf(fromArrow(source, { columns: Object.fromEntries(columns) as never }));
}

function expectedOf(name: string, row: number): unknown {
  const value = held[name]![row];
  if (name === 'int64') return new emb.preprocessing.Hashing({ numBins: 1000 }).apply(String(value));
  if (typeof value === 'boolean') return Number(value);
  return value ?? (name === 'text_null' ? '?' : -7);
}

describe('Arrow files and streams', () => {
  for (const name of [...PYARROW, ...POLARS]) {
    it(`hold the same rows as ${name}`, async () => {
      const plain = bytesOf(name);
      for (const source of [plain, new Blob([plain as Uint8Array<ArrayBuffer>])]) {
        const rows = await read(source as Uint8Array);
        expect(rows.length).toBe(ROWS);
        expect(Object.keys(rows[0]!).length).toBe(name.startsWith('polars') ? 6 : 14);
        rows.forEach((row, i) => {
          for (const [column, value] of Object.entries(row)) {
            expect(value).withContext(`${column} in row ${i}`).toEqual(expectedOf(column, i));
          }
        });
      }
      const packed = new File([gzipSync(plain)], `${name}.gz`);
      expect((await rowsOf(fromArrow(packed, { columns: { int: 'int' } }))).length).toBe(ROWS);
    });
  }

  it('may have blocks that lean on earlier ones, and dictionaries that are replaced or grow', async () => {
    const rows = await rowsOf(fromArrow(bytesOf('long_lz4.arrow'), { columns: { row: 'int' } }));
    expect(rows.length).toBe(40_000);
    expect(rows.findIndex(({ row }, i) => row !== Math.floor(i / 3))).toBe(-1);
    for (const name of ['replaced', 'deltas']) {
      const words = await rowsOf(fromArrow(bytesOf(`${name}.arrows`), { columns: { word: 'string' } }));
      expect(words.map(({ word }) => word).join('')).toBe('abacdaeda');
    }
  });

  it('are refused where they are cut, wherever that is', async () => {
    for (const name of ['pyarrow_plain.arrow', 'pyarrow_lz4.arrow', 'pyarrow_plain.arrows', 'polars_lz4.arrow']) {
      const whole = bytesOf(name);
      const random = new Random(whole.length);
      const places = Array.from({ length: 40 }, () => random.whole(0, whole.length - 1));
      // Between messages too, where a stream could be at its end.
      for (let at = 0; at < whole.length; at += 8) {
        const isMessage = [0, 1, 2, 3].every((i) => whole[at + i] === 0xff);
        if (isMessage && at > 0) places.push(at);
      }
      for (const place of places) {
        const read = (): Promise<unknown> => rowsOf(fromArrow(whole.slice(0, place), { columns: { int: 'int' } }));
        await expectRejection(
          read,
          'ValueError',
          'source',
          /the bytes, (a stream that ends early|which ends before|whose footer)/,
        );
      }
    }
  });

  it('are refused where a footer tells of other record batches than there are', async () => {
    const whole = bytesOf('pyarrow_plain.arrow');
    const view = new DataView(whole.buffer);
    const footer = whole.length - 10 - view.getInt32(whole.length - 10, true);
    const messages: number[] = [];
    for (let at = 8; at < footer; at += 8) if (view.getUint32(at, true) === 0xffffffff) messages.push(at);
    let refused = 0;
    for (const start of messages.slice(1)) {
      // Blocks of the footer name the place of a message.
      for (let at = footer; at + 8 <= whole.length; at += 4) {
        if (view.getUint32(at, true) !== start || view.getUint32(at + 4, true) !== 0) continue;
        const changed = whole.slice();
        // The block points at the schema, which is no record batch.
        new DataView(changed.buffer).setUint32(at, 8, true);
        await expectRejection(() => rowsOf(fromArrow(changed, { columns: { int: 'int' } })), 'ValueError', 'source');
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(2);
  });

  it('ask for a version of apache-arrow that can be taught to unpack', async () => {
    for (const earlier of [
      {},
      { CompressionType: arrow.CompressionType },
      { compressionRegistry: arrow.compressionRegistry },
    ])
      await expectRejection(() => teachCodecs(earlier as never), 'RuntimeError', 'source', 'an earlier version');
  });

  it('leave codecs as they are that a user gave apache-arrow', async () => {
    const { compressionRegistry: registry, CompressionType } = arrow;
    await rowsOf(fromArrow(bytesOf('pyarrow_zstd.arrow'), { columns: { int: 'int' } }));
    const known = registry.get(CompressionType.ZSTD)!;
    let calls = 0;
    registry.set(CompressionType.ZSTD, { decode: (bytes) => ((calls += 1), known.decode!(bytes)) });
    await rowsOf(fromArrow(bytesOf('pyarrow_zstd.arrow'), { columns: { int: 'int' } }));
    expect(calls).toBeGreaterThan(0);
    registry.set(CompressionType.ZSTD, known);
  });
});
