/** Parquet and Arrow files that pyarrow wrote: encodings, compressions, pages, nulls; and broken ones. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as arrow from 'apache-arrow';
import { parquetMetadata } from 'hyparquet';
import * as emb from 'tfjs-embeddings/node';
import { expectError, expectRejection } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';
import { rowsOf, type Row } from './rows.js';

const { fromArrow, fromParquet } = emb.data;
const FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../goldens/parquet');
const path = (name: string): string => join(FOLDER, name);
const ROWS = 257;
const DAY = 86_400_000;

type Values = Record<string, (number | string | boolean | null | (number | string | null)[])[]>;
const held = JSON.parse(readFileSync(path('expected.json'), 'utf8')) as Values;

const TYPES: emb.data.ColumnSpecs = {
  ...{ int32: 'int', int64: 'int', int8: 'int', uint16: 'int', bool: 'int', float32: 'float', string: 'string' },
  int32_null: { type: 'int', missing: -5 },
  float64: { type: 'float', missing: 'mask' },
  string_null: { type: 'string', missing: '?' },
  ...{ date: 'date', time_us: 'date', time_ns: 'date' },
  time_ms: { type: 'date', part: 'hour' },
  ...{ ids: 'ids', ids64: 'ids', words: { list: 'string' } },
  ids_null: { type: 'ids', missing: 'mask' },
  vector: { list: 'float', length: 3 },
};

/** What the columns hold, as these types read it. */
const expected: Row[] = Array.from({ length: ROWS }, (_, row) => {
  const known = Object.entries(held).filter(([name]) => name !== 'decimal');
  const of = Object.fromEntries(known.map(([name, values]) => [name, values[row]!])) as Record<string, never>;
  const days = (name: string): number => Math.fround(of[name]! / DAY);
  return {
    ...(of as Row),
    bool: Number(of['bool']),
    int32_null: of['int32_null'] ?? -5,
    float64: Math.fround(of['float64'] ?? 0),
    float64_mask: of['float64'] === null ? 0 : 1,
    string_null: of['string_null'] ?? '?',
    ...{ date: days('date'), time_us: days('time_us'), time_ns: days('time_ns') },
    time_ms: new Date(of['time_ms']!).getUTCHours(),
    ids_null: ((of['ids_null'] ?? []) as (number | null)[]).filter((id) => id !== null),
  };
});

/** Which rows differ from those expected: none. */
function expectRows(found: readonly Row[], wanted: readonly Row[]): void {
  expect(found.length).toBe(wanted.length);
  found.forEach((row, i) => {
    for (const [name, value] of Object.entries(wanted[i]!)) {
      if (JSON.stringify(row[name]) !== JSON.stringify(value)) {
        expect(row[name]).withContext(`${name} in row ${i}`).toEqual(value);
      }
    }
  });
}

/** A whole number as footers have it. */
function zigzag(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let left = value < 0n ? -2n * value - 1n : 2n * value;
  for (; left > 0x7fn; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return Uint8Array.of(...bytes, Number(left));
}

const FILES = [
  'snappy_dictionary',
  'plain_small_pages',
  'plain_v2_small_pages',
  'gzip_dictionary_v2',
  'zstd_groups',
  'brotli',
  'lz4',
  'delta_encodings',
];

describe('parquet files', () => {
  for (const name of FILES) {
    it(`hold the same rows as ${name}`, async () => {
      const dataset = fromParquet(path(`${name}.parquet`), { columns: { ...TYPES, decimal: 'float' } });
      expect(dataset.size).toBeNull();
      expect((await dataset.ready()).size).toBe(ROWS);
      const found = await rowsOf(dataset);
      expectRows(
        found,
        expected.map((row, i) => ({ ...row, decimal: Math.fround(held['decimal']![i] as number) })),
      );
    });
  }

  it('may have no rows', async () => {
    const dataset = fromParquet(path('no_rows.parquet'), { columns: TYPES });
    expect(await rowsOf(dataset)).toEqual([]);
    expect(dataset.size).toBe(0);
  });

  it('may be several, bytes and blobs', async () => {
    const bytes = new Uint8Array(readFileSync(path('zstd_groups.parquet')));
    const types = { columns: { ids: 'ids' } } as const;
    const once = expected.map(({ ids }) => ({ ids }));
    for (const source of [bytes, bytes.buffer, new Blob([bytes])])
      expectRows(await rowsOf(fromParquet(source, types)), once);
    const twice = fromParquet([path('lz4.parquet'), bytes], types);
    expectRows(await rowsOf(twice), [...once, ...once]);
    expect(twice.size).toBe(2 * ROWS);
    expect(twice.batch(100).size).toBe(6);
    expect((await fromParquet(path('*_groups.parquet'), types).ready()).size).toBe(ROWS);
  });

  it('show how many batches there are while a model is trained', async () => {
    const dataset = fromParquet(path('lz4.parquet'), { columns: { ids: 'ids' }, label: 'float32' });
    const layer = emb.layers.raggedEmbedding({ inputDim: 1000, outputDim: 1, combiner: 'sum' });
    const { ids } = dataset.inputs();
    const tf = await import('@tensorflow/tfjs');
    const model = tf.model({ inputs: ids!, outputs: layer.apply(ids!) as never });
    model.compile({ optimizer: emb.train.sgd({ learningRate: 0.01 }), loss: 'meanSquaredError' });
    let steps: unknown = null;
    const watching = new tf.CustomCallback({});
    const { setParams } = watching;
    watching.setParams = function (params) {
      steps = params['steps'];
      setParams.call(this, params);
    };
    await model.fitDataset(dataset.batch(64), { epochs: 1, verbose: 0, callbacks: watching as never });
    expect(steps).toBe(5);
    model.optimizer.dispose();
    model.dispose();
  });

  it('are read by named columns and in parts, over HTTP too', async () => {
    const bytes = readFileSync(path('plain_small_pages.parquet'));
    const answers: [from: number, to: number][] = [];
    let knowsRanges = true;
    let isShort = false;
    const server: Server = createServer((request, response) => {
      const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '');
      if (request.url !== '/x.parquet') response.writeHead(404).end();
      else if (range === null || !knowsRanges) response.writeHead(200).end(bytes);
      else {
        const [from, to] = [Number(range[1]), Number(range[2])];
        answers.push([from, to]);
        response
          .writeHead(206, { 'content-range': `bytes ${from}-${to}/${bytes.length}` })
          .end(bytes.subarray(from, isShort ? Math.max(from + 1, to) : to + 1));
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.parquet`;
    try {
      const types = { columns: { uint16: 'int', ids: 'ids' } } as const;
      const wanted = expected.map(({ uint16, ids }) => ({ uint16, ids }));
      expectRows(await rowsOf(fromParquet(url, types)), wanted);
      // The footer comes whole; behind it the two columns, of which the places are known, and nothing else.
      const asked = answers
        .filter(([from, to]) => to - from + 1 < bytes.length)
        .reduce((sum, [from, to]) => sum + to - from + 1, 0);
      expect(asked).toBeGreaterThan(1000);
      expect(asked).toBeLessThan(bytes.length / 3);
      knowsRanges = false;
      expectRows(await rowsOf(fromParquet(new URL(url), types)), wanted);
      await expectRejection(() => rowsOf(fromParquet(`${url}x`, types)), 'ValueError', 'source', '404');
      [isShort, knowsRanges] = [true, true];
      await expectRejection(() => rowsOf(fromParquet(url, types)), 'RuntimeError', 'source', 'bytes for');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('are refused where they are none, or cannot be read', async () => {
    const types = { columns: { ids: 'ids' } } as const;
    const reading =
      (source: never, args: emb.data.DeclarationArgs = types) =>
      (): Promise<unknown> =>
        rowsOf(fromParquet(source, args));
    await expectRejection(reading(path('none.parquet') as never), 'ValueError', 'source', 'none.parquet');
    await expectRejection(reading(path('expected.json') as never), 'ValueError', 'source', 'expected.json');
    await expectRejection(reading(new Uint8Array(0) as never), 'ValueError', 'source', 'the bytes');
    const lz4 = path('lz4.parquet') as never;
    await expectRejection(reading(lz4, { columns: { idz: 'ids' } }), 'ValueError', 'columns.idz', 'no column idz');
    await expectRejection(reading(lz4, { columns: { struct: 'int' } }), 'ValueError', 'columns.struct', 'struct');
    await expectRejection(
      reading(lz4, { columns: { nested: 'ids' } }),
      'ValueError',
      'columns.nested',
      'lists of lists',
    );
    await expectRejection(reading(lz4, { columns: { ids: 'int' } }), 'ValueError', 'columns.ids', 'lists');
    await expectRejection(
      reading(lz4, { columns: { int32_null: 'int' } }),
      'ValueError',
      'columns.int32_null',
      'row 3 of',
    );
    await expectRejection(reading(lz4, { columns: { string: 'float' } }), 'TypeError', 'columns.string', 'row 1 of');
    expectError(() => fromParquet(lz4, {}), 'TypeError', 'columns');
    expectError(() => fromParquet(5 as never, types), 'TypeError', 'source', '5');
  });

  it('are refused where the footer tells pages before the file', async () => {
    const whole = new Uint8Array(readFileSync(path('lz4.parquet')));
    const placeIn = (bytes: Uint8Array): bigint => {
      const [group] = parquetMetadata(bytes.slice().buffer).row_groups;
      return group!.columns.find(({ meta_data: each }) => each!.path_in_schema[0] === 'ids')!.meta_data!
        .data_page_offset;
    };
    const place = placeIn(whole);
    const bytes = whole.slice();
    bytes.set(zigzag(-place), Buffer.from(whole).lastIndexOf(zigzag(place)));
    expect(placeIn(bytes)).toBe(-place);
    const reading = (): Promise<Row[]> => rowsOf(fromParquet(bytes, { columns: { ids: 'ids' } }));
    await expectRejection(reading, 'ValueError', 'source', 'which ends before ids does');
  });

  it('end in errors of ours where bytes are changed, never in others or in wrong lengths', async () => {
    const random = new Random(8);
    const outcomes = { rows: 0, refused: 0 };
    for (const name of ['plain_v2_small_pages', 'snappy_dictionary', 'zstd_groups']) {
      const whole = new Uint8Array(readFileSync(path(`${name}.parquet`)));
      for (let i = 0; i < 40; i++) {
        const bytes = whole.slice(0, random.chance(0.1) ? random.whole(0, whole.length) : whole.length);
        for (let change = 0; change < 5; change++) bytes[random.whole(0, bytes.length)] = random.whole(0, 256);
        const dataset = fromParquet(bytes, {
          columns: { ids: 'ids', ids_null: { type: 'ids', missing: 'mask' }, string: 'string' },
        });
        try {
          const rows = await rowsOf(dataset);
          outcomes.rows += 1;
          expect(rows.length).toBe(dataset.size!);
        } catch (error) {
          outcomes.refused += 1;
          const { name: kind, message } = error as Error;
          expect(['ValueError', 'TypeError']).withContext(`${kind}: ${message}`).toContain(kind);
        }
      }
    }
    expect(outcomes.rows).toBeGreaterThan(5);
    expect(outcomes.refused).toBeGreaterThan(20);
  });
});

describe('the columns of a file', () => {
  const types: Record<string, emb.data.ColumnType> = {
    ...{ int32: 'int', int32_null: 'int', int64: 'int', int8: 'int', uint16: 'int', bool: 'int' },
    ...{ float32: 'float', float64: 'float', string: 'string', string_null: 'string' },
    ...{ date: 'date', time_ms: 'date', time_us: 'date', time_ns: 'date' },
    ...{ ids: { list: 'int' }, ids_null: { list: 'int' }, ids64: { list: 'int' }, words: { list: 'string' } },
  };

  it('are told with their types', async () => {
    const parquet = await emb.data.columnsOf(path('lz4.parquet'));
    expect(parquet).toEqual({ ...types, decimal: 'float', vector: { list: 'float' } } as never);
    for (const name of ['table.arrow', 'table.arrows']) {
      expect(await emb.data.columnsOf(path(name))).toEqual({ ...types, vector: { list: 'float', length: 3 } } as never);
    }
    const { ids, string } = expected[0]!;
    const { date: _date, int32: _int, ...others } = parquet;
    const left = Object.keys(others).filter((name) => name !== 'ids' && name !== 'string');
    const some = Object.fromEntries(Object.entries(parquet).filter(([name]) => !left.includes(name)));
    expect((await rowsOf(fromParquet(path('lz4.parquet'), { columns: some })))[0]).toEqual(
      jasmine.objectContaining({ ids, string }),
    );
    const csv = 'n,x,when,bag,word,none,late\n1,1,2024-01-01,3|4,a,,\n-2,,2024-01-02T10:00Z,5,3|x,,\n,1e3,,,4,,7\n';
    const bytes = new TextEncoder().encode(csv);
    const found = { n: 'int', x: 'float', when: 'date', bag: 'ids', word: 'string', none: 'string', late: 'int' };
    expect(await emb.data.columnsOf(bytes)).toEqual(found as never);
    // The first thousand rows tell; empty lines are none.
    const long = (rows: number): Uint8Array => new TextEncoder().encode(`\n\nn,m\n${'1,\n'.repeat(rows)}\n\n1.5,x\n`);
    expect(await emb.data.columnsOf(long(999))).toEqual({ n: 'float', m: 'string' });
    expect(await emb.data.columnsOf(long(1000))).toEqual({ n: 'int', m: 'string' });
    expect(await emb.data.columnsOf(new TextEncoder().encode('1;a\n2;b'), { delimiter: ';', header: false })).toEqual({
      column_0: 'int',
      column_1: 'string',
    });
    await expectRejection(() => emb.data.columnsOf(path('none.csv')), 'ValueError', 'source', 'none.csv');
    await expectRejection(() => emb.data.columnsOf(new Uint8Array(0)), 'ValueError', 'source', 'empty');
    await expectRejection(() => emb.data.columnsOf(5 as never), 'TypeError', 'source', '5');
    await expectRejection(() => emb.data.columnsOf(bytes, { separator: ';' } as never), 'ValueError', 'separator');
  });
});

describe('Arrow files and tables', () => {
  for (const name of ['table.arrow', 'table.arrows']) {
    it(`hold the same rows as ${name}`, async () => {
      expectRows(await rowsOf(fromArrow(path(name), { columns: TYPES })), expected);
      const table = arrow.tableFromIPC(readFileSync(path(name)));
      const dataset = fromArrow(table, { columns: TYPES });
      expect(dataset.size).toBe(ROWS);
      expectRows(await rowsOf(dataset), expected);
      expectRows(await rowsOf(fromArrow(table.slice(50, 200), { columns: TYPES })), expected.slice(50, 200));
    });
  }

  it('keep texts as they are in the bytes, whichever type of text they have', async () => {
    const words = ['\ufeffa', 'a', null, '', '\ufeffmore than twelve bytes', 'é'];
    const types = [new arrow.Utf8(), new arrow.LargeUtf8(), new arrow.Utf8View()];
    for (const type of [...types, new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32())]) {
      const table = new arrow.Table({ word: arrow.vectorFromArray(words, type as arrow.Utf8) });
      const columns = { columns: { word: { type: 'string', missing: 'none' } } } as const;
      const rows = words.map((word) => ({ word: word ?? 'none' }));
      expect(await rowsOf(fromArrow(table, columns)))
        .withContext(`${String(type)}`)
        .toEqual(rows);
      expect(await rowsOf(fromArrow(table.slice(1, 5), columns))).toEqual(rows.slice(1, 5));
      expect(await rowsOf(fromArrow(arrow.tableToIPC(table, 'file'), columns))).toEqual(rows);
    }
    // Two texts that are no UTF-8 are not one.
    const bytes = Uint8Array.of(0x61, 0xff, 0xfe);
    const data = arrow.makeData({ type: new arrow.Utf8(), data: bytes, valueOffsets: Int32Array.of(0, 1, 2, 3) });
    const broken = new arrow.Table({ word: new arrow.Vector([data]) });
    await expectRejection(() => rowsOf(fromArrow(broken)), 'ValueError', 'columns.word', '255');
  });

  it('tell their types', async () => {
    const table = arrow.tableFromIPC(readFileSync(path('table.arrow')));
    const some = table.select([
      'int32',
      'int64',
      'bool',
      'float32',
      'string',
      'date',
      'ids',
      'words',
      'vector',
      'struct',
    ]);
    expectRows(
      await rowsOf(fromArrow(some)),
      expected.map(({ int32, int64, bool, float32, string, date, ids, words, vector }) => {
        return { int32, int64, bool, float32, string, date, ids, words, vector };
      }),
    );
    const dictionary = arrow.vectorFromArray(
      ['b', 'a', null, 'b'],
      new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()),
    );
    const coded = new arrow.Table({ word: dictionary });
    expect(await rowsOf(fromArrow(coded.slice(0, 2)))).toEqual([{ word: 'b' }, { word: 'a' }]);
    await expectRejection(() => rowsOf(fromArrow(coded)), 'ValueError', 'columns.word', 'row 3 of the table');
    // Rows are counted over all batches.
    const last = new arrow.Table(
      new arrow.Table({ n: arrow.vectorFromArray([1, 2], new arrow.Float64()) }).batches.concat(
        new arrow.Table({ n: arrow.vectorFromArray([3, null], new arrow.Float64()) }).batches,
      ),
    );
    await expectRejection(() => rowsOf(fromArrow(last)), 'ValueError', 'columns.n', 'row 4 of the table');
    // A list that is missing may have values behind it all the same.
    const lists = arrow.makeData({
      type: new arrow.List(arrow.Field.new('item', new arrow.Int32())),
      length: 3,
      nullBitmap: Uint8Array.of(0b101),
      valueOffsets: Int32Array.of(0, 2, 4, 5),
      child: arrow.makeData({ type: new arrow.Int32(), data: Int32Array.of(1, 2, 3, 4, 5) }),
    });
    const hidden = new arrow.Table({ ids: new arrow.Vector([lists]) });
    expect(await rowsOf(fromArrow(hidden))).toEqual([{ ids: [1, 2] }, { ids: [] }, { ids: [5] }]);
  });

  it('are refused where they are none, or hold other types', async () => {
    const types = { columns: { ids: 'ids' } } as const;
    await expectRejection(
      () => rowsOf(fromArrow(path('expected.json'), types)),
      'ValueError',
      'source',
      'expected.json',
    );
    const cut = readFileSync(path('table.arrows')).subarray(0, 20_000);
    await expectRejection(() => rowsOf(fromArrow(new Uint8Array(cut), types)), 'ValueError', 'source', 'the bytes');
    await expectRejection(
      () => rowsOf(fromArrow(path('table.arrow'), { columns: { no: 'int' } })),
      'ValueError',
      'columns.no',
    );
    const table = arrow.tableFromIPC(readFileSync(path('table.arrow')));
    await expectRejection(
      () => rowsOf(fromArrow(table, { columns: { struct: 'int' } })),
      'ValueError',
      'columns.struct',
      'Struct',
    );
    expectError(() => fromArrow(table, { columns: { id: 'int' } }), 'ValueError', 'columns.id', 'no column id');
    expectError(() => fromArrow(path('table.arrow')), 'TypeError', 'columns');
    expectError(() => fromArrow(null as never), 'TypeError', 'source', 'null');
  });
});
