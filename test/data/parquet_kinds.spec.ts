/** Parquet files of kinds of values that are easily taken for others, in every compression; and damaged ones. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as emb from 'tfjs-embeddings/node';
import { ValueError } from '../../src/base/errors.js';
import { crc32 } from '../../src/io/checksums/crc32.js';
import { expectRejection } from '../helpers/errors.js';
import { rowsOf, type Row } from './rows.js';

const { columnsOf, fromParquet } = emb.data;
const FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../goldens/parquet_kinds');
const bytesOf = (name: string): Uint8Array => new Uint8Array(readFileSync(join(FOLDER, `${name}.parquet`)));
const held = JSON.parse(readFileSync(join(FOLDER, 'expected.json'), 'utf8')) as Record<
  string,
  (string | number | null)[]
>;
const ROWS = 24;
const CODECS = ['none', 'snappy', 'gzip', 'lz4', 'zstd', 'brotli'];

const hashing = new emb.preprocessing.Hashing({ numBins: 1_000_003 });
const lookup = new emb.preprocessing.IntegerLookup({ vocabulary: [5] });
const TYPES: emb.data.ColumnSpecs = {
  ...{ id: 'string', text: 'string', json: 'string', bag: 'ids' },
  wide: hashing,
  wide_null: { type: hashing, missing: 'mask' },
  none: { type: 'int', missing: -3 },
  none_text: { type: 'string', missing: '?' },
  date: { type: 'date', part: 'days' },
};
const expected: Row[] = Array.from({ length: ROWS }, (_, row) => {
  const of = (name: string): never => held[name]![row] as never;
  const wide = of('wide_null') as string | null;
  return {
    ...{ id: of('id'), text: of('text'), json: of('json'), bag: [], date: of('date') },
    wide: hashing.apply(String(of('wide'))),
    ...{ wide_null: wide === null ? 0 : hashing.apply(wide), wide_null_mask: wide === null ? 0 : 1 },
    ...{ none: -3, none_text: '?' },
  };
});

describe('parquet files of kinds of values', () => {
  for (const name of CODECS.flatMap((codec) => [`${codec}_v1`, `${codec}_v2`])) {
    it(`hold what pyarrow wrote: ${name}`, async () => {
      const rows = await rowsOf(fromParquet(bytesOf(name), { columns: TYPES }));
      expect(rows).toEqual(expected);
      expect(await columnsOf(bytesOf(name))).toEqual(
        jasmine.objectContaining({ id: 'string', wide: 'int', text: 'string', json: 'string', date: 'date' }),
      );
    });
  }

  it('are refused where a number is beyond what it is to become', async () => {
    const read = (type: emb.data.ColumnType) => (): Promise<unknown> =>
      rowsOf(fromParquet(bytesOf('none_v1'), { columns: { wide: type } }));
    await expectRejection(read('int'), 'ValueError', 'columns.wide', 'row 1');
    // A vocabulary has no such number, which is found to be unknown and not rounded to another.
    expect(await read(lookup)()).toEqual(Array.from({ length: ROWS }, () => ({ wide: 0 })));
    const learned = fromParquet(bytesOf('none_v1'), { columns: { wide: new emb.preprocessing.IntegerLookup() } });
    await expectRejection(() => learned.adapt(), 'ValueError', 'data', '-4611686018427387904');
  });

  it('are whole or refused, whichever byte of the footer is changed', async () => {
    const whole = bytesOf('gzip_v1');
    const view = new DataView(whole.buffer);
    const footer = whole.length - 8 - view.getUint32(whole.length - 8, true);
    let refused = 0;
    for (let at = footer; at < whole.length - 4; at += 3) {
      for (const mask of [1, 0x40]) {
        const changed = whole.slice();
        changed[at]! ^= mask;
        const found = await rowsOf(fromParquet(changed, { columns: { text: 'string', date: 'date' } })).then(
          (rows) => rows.length,
          (error: unknown) => error,
        );
        if (found === ROWS) continue;
        refused += 1;
        expect(found instanceof ValueError || (found as Error).name === 'ValueError')
          .withContext(`byte ${at}, ${mask}: ${String(found)}`)
          .toBeTrue();
      }
    }
    expect(refused).toBeGreaterThan(20);
  });

  it('are refused where the footer tells fewer than no rows', async () => {
    const whole = bytesOf('gzip_v1');
    const view = new DataView(whole.buffer);
    const footer = whole.length - 8 - view.getUint32(whole.length - 8, true);
    // Row groups of 9, 9 and 6 rows become some of 24 and -9: numbers have their sign in the last bit.
    const placesOf = (rows: number): number[] =>
      Array.from({ length: whole.length - 8 - footer }, (_, i) => footer + i).filter((at) => whole[at] === 2 * rows);
    let negative = 0;
    for (const one of placesOf(9)) {
      for (const other of placesOf(6)) {
        const changed = whole.slice();
        [changed[one], changed[other]] = [2 * 24, 2 * 9 - 1];
        await rowsOf(fromParquet(changed, { columns: { text: 'string' } })).then(
          (rows) => expect(rows.length).toBe(ROWS),
          ({ message }: Error) => (negative += Number(/a row group without a number of rows/.test(message))),
        );
      }
    }
    expect(negative).toBeGreaterThan(0);
  });

  it('are refused where pages of gzip differ from their checksum', async () => {
    const whole = bytesOf('gzip_v2');
    let [changes, refused] = [0, 0];
    for (let at = 4; at + 10 < whole.length && changes < 30; at++) {
      // A member of gzip: its data begin behind ten bytes.
      if (whole[at] !== 0x1f || whole[at + 1] !== 0x8b || whole[at + 2] !== 8) continue;
      changes += 1;
      for (const behind of [12, 16]) {
        const changed = whole.slice();
        changed[at + behind]! ^= 4;
        const rows = await rowsOf(fromParquet(changed, { columns: TYPES })).catch((error: unknown) => {
          expect((error as Error).name).toBe('ValueError');
          return null;
        });
        if (rows === null) refused += 1;
        else expect(rows).withContext(`${at}`).toEqual(expected);
      }
    }
    expect(refused).toBeGreaterThan(changes);
    expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
  });
});
