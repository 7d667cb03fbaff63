/** CSV files: quoting, pieces, packing, several files, and what is said of broken ones. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectError, expectRejection } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';
import { rowsOf, type Row } from './rows.js';

const { fromCsv } = emb.data;

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The rows of a text. */
const read = (text: string, columns: emb.data.ColumnSpecs, args: object = {}): Promise<Row[]> =>
  rowsOf(fromCsv(bytesOf(text), { columns, ...args }));

describe('CSV files', () => {
  let folder = '';
  const path = (name: string): string => join(folder, name);
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'csv-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('give a list column, a label and a weight to a model as typed', async () => {
    writeFileSync(path('clicks.csv'), 'user,visits,click\n1,3|17|9,1\n2,,0\n3,"4, 5",1\n4,[6; 7],0\n');
    const dataset = fromCsv(path('clicks.csv'), { columns: { user: 'int', visits: 'ids' }, label: 'click' });
    expect(dataset.size).toBeNull();
    expect(await rowsOf(dataset)).toEqual([
      { user: 1, visits: [3, 17, 9], label: 1 },
      { user: 2, visits: [], label: 0 },
      { user: 3, visits: [4, 5], label: 1 },
      { user: 4, visits: [6, 7], label: 0 },
    ]);
    const { user, visits } = dataset.inputs() as Record<'user' | 'visits', tf.SymbolicTensor>;
    const parts = [
      emb.layers.embedding({ inputDim: 5, outputDim: 2, combiner: 'sum' }).apply(user),
      emb.layers.raggedEmbedding({ inputDim: 20, outputDim: 2, combiner: 'mean' }).apply(visits),
    ] as tf.SymbolicTensor[];
    const joined = tf.layers.concatenate().apply(parts) as tf.SymbolicTensor;
    const outputs = tf.layers.dense({ units: 1, activation: 'sigmoid' }).apply(joined) as tf.SymbolicTensor;
    const model = tf.model({ inputs: [user, visits], outputs });
    model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.5 }), loss: 'binaryCrossentropy' });
    const { history } = await model.fitDataset(dataset.shuffle(10, 1).batch(2), { epochs: 5, verbose: 0 });
    expect((history['loss'] as number[])[4]).toBeLessThan((history['loss'] as number[])[0]!);
    model.optimizer.dispose();
    model.dispose();
  });

  it('may be quoted, padded, marked and ended in any way', async () => {
    const types = { a: 'string', b: 'float' } as const;
    const rows = [
      { a: 'x, "y"\nz', b: 1.5 },
      { a: ' é', b: -2 },
      { a: '', b: 1e3 },
    ];
    for (const end of ['\n', '\r\n', '\r']) {
      for (const last of [end, '']) {
        const text = `\uFEFF b ,a${end}1.5,"x, ""y""\nz"${end}${end} -2 , é${end}1e3,${last}`;
        expect(await read(text, types))
          .withContext(JSON.stringify(text))
          .toEqual(rows);
      }
    }
    expect(await read('"b\n",a\r\n2,"x\ny"\r\n3,z\r\n', { a: 'string' })).toEqual([{ a: 'x\ny' }, { a: 'z' }]);
    expect(await read('a\tb\nx\t1', types, { delimiter: '\t' })).toEqual([{ a: 'x', b: 1 }]);
    expect(await read('a;b\nx,y;1', types, { delimiter: ';' })).toEqual([{ a: 'x,y', b: 1 }]);
    writeFileSync(path('tabs.tsv'), 'a\tb\n"x\ty"\t1');
    expect(await rowsOf(fromCsv(path('tabs.tsv'), { columns: types }))).toEqual([{ a: 'x\ty', b: 1 }]);
    const bare = { first: { type: 'int', column: 'column_1' }, rest: { type: 'string', column: 'column_0' } } as const;
    expect(await read('x,1\ny,2', bare, { header: false })).toEqual([
      { first: 1, rest: 'x' },
      { first: 2, rest: 'y' },
    ]);
    expect(await read('a,b\n', types)).toEqual([]);
    expect(await read('n\n1\n\n2\n', { n: { type: 'int', missing: -1 } })).toEqual([{ n: 1 }, { n: -1 }, { n: 2 }]);
  });

  it('have numbers, flags, dates, lists and missing values', async () => {
    expect(await read('f,i\nTRUE,false\n 1e-3 ,+16\n-.5,-7.\n-inf,1e3', { f: 'float', i: 'int' })).toEqual([
      { f: 1, i: 0 },
      { f: Math.fround(1e-3), i: 16 },
      { f: -0.5, i: -7 },
      { f: -Infinity, i: 1000 },
    ]);
    const when = { type: 'date', part: 'weekday' } as const;
    expect(await read('when\n2024-05-31\n', { when })).toEqual([{ when: 4 }]);
    const types = { words: { list: 'string' }, tags: { list: 'string', separator: '/' } } as const;
    expect(await read(`words,tags\n"['a b', ""c""]",a b/ c\n`, types)).toEqual([
      { words: ['a b', 'c'], tags: ['a b', 'c'] },
    ]);
    const gaps = {
      x: { type: 'float', missing: 'mask' },
      s: { type: 'string', missing: '?' },
      t: 'string',
    } as const;
    expect(await read('x,s,t\n1,,\nNA,NA,NA\n', gaps, { naValues: ['', 'NA'] })).toEqual([
      { x: 1, x_mask: 1, s: '?', t: '' },
      { x: 0, x_mask: 0, s: '?', t: 'NA' },
    ]);
    const lookup = new emb.preprocessing.IntegerLookup({ vocabulary: [900719925474099, 5] });
    expect(await read('k\n5\n900719925474099\n6', { k: lookup })).toEqual([{ k: 2 }, { k: 1 }, { k: 0 }]);
  });

  it('are missing where numbers and dates are empty, whatever else stands for it', async () => {
    for (const naValues of [[], ['NA'], ['', 'NA'], ['-']]) {
      for (const type of ['int', 'float', 'date'] as const) {
        const text = 'x,y\n,1\n';
        const error = expectRejection(() => read(text, { x: type }, { naValues }), 'ValueError', 'columns.x', 'row 1');
        await error;
        const filled = await read(text, { x: { type, missing: 7 } }, { naValues });
        expect(filled)
          .withContext(`${type} ${naValues.join()}`)
          .toEqual([{ x: 7 }]);
        expect(await read('x,y\n ,1\n', { x: { type, missing: 'mask' } }, { naValues })).toEqual([{ x: 0, x_mask: 0 }]);
      }
    }
    // A text may be empty.
    expect(await read('x,y\n,1\n', { x: { type: 'string', missing: '?' } }, { naValues: ['NA'] })).toEqual([{ x: '' }]);
  });

  it('have no numbers but decimal ones, no days but those of the calendar', async () => {
    for (const cell of ['0x1F', '0b1', '0o7', '1_000', '1,5', '1e', '.', '+-1', '１']) {
      for (const type of ['int', 'float'] as const) {
        await expectRejection(() => read(`x,y\n"${cell}",1`, { x: type }), 'ValueError', 'columns.x', cell);
      }
    }
    const days = ['2024-02-30', '2023-02-29', '2024-04-31', '2024-00-10', '2024-13-01', '2024-01-00', '1900-02-29'];
    const times = ['2024-05-31T24:00', '2024-05-31T08:60', '2024-05-31T08:00:60', '2024-05-31T08:00+25:00', '24-05-31'];
    for (const cell of [...days, ...times]) {
      await expectRejection(() => read(`x\n${cell}`, { x: 'date' }), 'ValueError', 'columns.x', cell);
    }
    const shown = [
      '2024-02-29',
      '2000-02-29T23:59:59.579',
      '0099-03-01',
      '1969-12-31 22:30+0130',
      '2024-05-31T08:00-05:30',
    ];
    const wanted = ['2024-02-29', '2000-02-29T23:59:59.579Z', '0099-03-01', '1969-12-31T21:00Z', '2024-05-31T13:30Z'];
    expect((await read(`x\n${shown.join('\n')}`, { x: 'date' })).map(({ x }) => x)).toEqual(
      wanted.map((each) => Math.fround(Date.parse(each) / 86_400_000)),
    );
    for (const missing of [0.5, 2 ** 31, NaN, 'x']) {
      const columns = { x: { type: 'int', missing } } as never;
      expectError(() => fromCsv('a.csv', { columns }), 'ValueError', 'columns.x.missing');
    }
  });

  it('may have an index and names that repeat, in many columns and encodings, without quotes', async () => {
    const pandas = ',user,item,item\n0,ann,3,4\n1,bob,5,6\n';
    expect(await read(pandas, { user: 'string' })).toEqual([{ user: 'ann' }, { user: 'bob' }]);
    await expectRejection(() => read(pandas, { item: 'int' }), 'ValueError', 'source', 'two named item');
    expect(await emb.data.columnsOf(bytesOf(pandas))).toEqual({ user: 'string' });
    const names = Array.from({ length: 30_000 }, (_, i) => `c${i}`);
    const wide = `${names.join(',')}\n${names.map((_, i) => i).join(',')}\n`;
    expect(Object.keys(await emb.data.columnsOf(bytesOf(wide))).length).toBe(30_000);
    const columns = Object.fromEntries(names.map((name) => [name, 'int' as const]));
    const [row] = await read(wide, columns);
    expect(names.every((name, i) => row![name] === i)).toBeTrue();
    const latin = Uint8Array.from('s,n\ncaf\u00E9 \u00FC,1\n', (each) => each.charCodeAt(0));
    const text = { columns: { s: 'string' } } as const;
    await expectRejection(() => rowsOf(fromCsv(latin, text)), 'ValueError', 'source', 'other bytes');
    expect(await rowsOf(fromCsv(latin, { ...text, encoding: 'latin1' }))).toEqual([{ s: 'café ü' }]);
    expect(await emb.data.columnsOf(latin, { encoding: 'latin1' })).toEqual({ s: 'string', n: 'int' });
    const wideText = new Uint8Array(Uint16Array.from('\uFEFFs\né,"\n', (each) => each.charCodeAt(0)).buffer);
    const options = { ...text, encoding: 'utf-16le', delimiter: ';', quote: false };
    expect(await rowsOf(fromCsv(wideText, options))).toEqual([{ s: 'é,"' }]);
    expect(await read('a,b\n"x,y"\n', { a: 'string', b: 'string' }, { quote: false })).toEqual([{ a: '"x', b: 'y"' }]);
    expectError(() => fromCsv('a.csv', { ...text, encoding: 'utf-9' }), 'ValueError', 'encoding', 'utf-9');
    expectError(() => fromCsv('a.csv', { ...text, encoding: 8 as never }), 'TypeError', 'encoding');
    expectError(() => fromCsv('a.csv', { ...text, quote: '"' as never }), 'TypeError', 'quote');
    expectError(() => fromCsv('a.csv', { ...text, delimiter: '\n' }), 'ValueError', 'delimiter');
  });

  it('tell ids and times of ten digits and more as whole numbers, which are read or refused', async () => {
    const text = 'time,user,bag,x\n1717142400,1999999999,3000000000|1,1.5\n1999999998,9007199254740993,7,2\n';
    const types = await emb.data.columnsOf(bytesOf(text));
    expect(types).toEqual({ time: 'int', user: 'int', bag: 'ids', x: 'float' });
    expect((await read(text, { time: 'int' })).map(({ time }) => time)).toEqual([1717142400, 1999999998]);
    await expectRejection(() => read(text, { user: 'int' }), 'ValueError', 'columns.user', '9007199254740993');
    await expectRejection(() => read(text, { bag: 'ids' }), 'ValueError', 'columns.bag', '3000000000');
    const hashed = new emb.preprocessing.Hashing({ numBins: 1_000_000 });
    const wanted = ['1999999999', '9007199254740993'].map((each) => ({ user: hashed.apply(each) }));
    expect(await read(text, { user: hashed })).toEqual(wanted);
  });

  it('have lists as MovieLens, Amazon and JSON write them', async () => {
    const cells = [
      ['(no genres listed)', ['(no genres listed)']],
      ['Adventure|Sci-Fi', ['Adventure', 'Sci-Fi']],
      ['(500) Days of Summer (2009)', ['(500) Days of Summer (2009)']],
      ["['Clothing, Shoes & Jewelry', 'Men']", ['Clothing, Shoes & Jewelry', 'Men']],
      ['["caf\\u00e9", "x|y"]', ['café', 'x|y']],
      ['', []],
      ['[]', []],
    ] as const;
    const lines = cells.map(([cell]) => `"${cell.replaceAll('"', '""')}"`);
    for (const separator of [undefined, '|']) {
      const type = { list: 'string', separator } as const;
      expect((await read(`g,n\n${lines.join(',1\n')},1`, { g: type })).map(({ g }) => g)).toEqual(
        cells.map(([, list]) => list) as never,
      );
    }
    const nulls = { list: 'int', separator: undefined } as const;
    await expectRejection(() => read('g,n\n"[1, null]",1', { g: nulls }), 'ValueError', 'columns.g', 'row 1');
    expect(await read('g,n\n"[1, null]",1', { g: { type: nulls, missing: 'mask' } })).toEqual([{ g: [1] }]);
  });

  it('have lists for preprocessors as these take them: texts with spaces, numbers between spaces', async () => {
    const { Discretization, IntegerLookup, StringLookup } = emb.preprocessing;
    const types = {
      words: { list: new StringLookup({ vocabulary: ['New York', 'York'] }) },
      ids: { list: new IntegerLookup({ vocabulary: [7, 5] }) },
      scores: { list: new Discretization({ binBoundaries: [1, 2] }) },
    };
    expect(await read('words,ids,scores\nYork|New York,5 7 6,0.5 2.5 1.5\n', types)).toEqual([
      { words: [2, 1], ids: [2, 1, 0], scores: [0, 2, 1] },
    ]);
  });

  it('are read in pieces, whatever the pieces cut', async () => {
    const random = new Random(3);
    const rows: Row[] = [];
    const lines = ['text,ids,n'];
    // Some 3 MB: pieces of a megabyte end within quotes, within characters of four bytes, within numbers.
    for (let row = 0; lines.length < 40_000; row++) {
      const text = random.chance(0.5) ? `é𝄞 "${row}",\r\n${'ü'.repeat(row % 40)}` : `plain ${row}`;
      const ids = Array.from({ length: random.whole(0, 8) }, () => random.whole(0, 1e6));
      rows.push({ text, ids, n: row });
      lines.push(`"${text.replaceAll('"', '""')}",${ids.join(' ')},${row}`);
    }
    const text = lines.join('\n');
    const types = { text: 'string', ids: 'ids', n: 'int' } as const;
    writeFileSync(path('big.csv'), text);
    writeFileSync(path('big.csv.gz'), gzipSync(text));
    for (const source of [
      path('big.csv'),
      path('big.csv.gz'),
      new Blob([text]),
      new URL(`file://${path('big.csv')}`),
      `file://${path('big.csv')}`,
    ]) {
      const found = await rowsOf(fromCsv(source, { columns: types }));
      expect(found.length).toBe(rows.length);
      expect(found.findIndex((row, i) => JSON.stringify(row) !== JSON.stringify(rows[i]))).toBe(-1);
    }
  });

  it('may be several, or a pattern', async () => {
    for (const i of [1, 2, 3]) writeFileSync(path(`part_${i}.csv`), `n,m\n${i},0\n`);
    writeFileSync(path('part_4.csv.gz'), gzipSync('m,n\n0,4\n'));
    const numbers = async (source: unknown): Promise<unknown[]> =>
      (await rowsOf(fromCsv(source as string, { columns: { n: 'int' } }))).map(({ n }) => n);
    expect(await numbers(path('part_*.csv'))).toEqual([1, 2, 3]);
    expect(await numbers(path('part_[23].csv*'))).toEqual([2, 3]);
    expect(await numbers(path('**/part_?.csv.gz'))).toEqual([4]);
    expect(await numbers([path('part_3.csv'), bytesOf('n\n9'), path('part_4.csv.gz')])).toEqual([3, 9, 4]);
    writeFileSync(path('odd[1].csv'), 'n\n7');
    expect(await numbers(path('odd[1].csv'))).toEqual([7]);
    // A colon in a name makes no URL of it.
    writeFileSync(path('log:1.csv'), 'n\n8');
    expect(await numbers(path('log:1.csv'))).toEqual([8]);
    // Nor does a word behind its beginning make a path of a URL.
    const url = 'data:text/csv,n,file:x%0A9,1';
    expect(await rowsOf(fromCsv(url, { columns: { n: 'int' } }))).toEqual([{ n: 9 }]);
    const here = process.cwd();
    try {
      process.chdir(folder);
      expect(await numbers('log:1.csv')).toEqual([8]);
    } finally {
      process.chdir(here);
    }
  });

  it('teach nothing where a file has no values', async () => {
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
    for (const type of [
      new emb.preprocessing.StringLookup(),
      { list: new emb.preprocessing.StringLookup() },
    ] as const) {
      const columns = { w: { type, missing: 'mask' } } as const;
      const files = ['w,n\n,1\n', 'w,n\na,2\n', 'w,n\n,3\n'].map(bytes);
      const dataset = fromCsv(files, { columns, naValues: [''] });
      await expectAsync(dataset.adapt()).toBeResolved();
      const lookup = ('list' in type ? type.list : type) as emb.preprocessing.StringLookup;
      expect(lookup.getConfig().vocabulary).toEqual(['a']);
      expect((await rowsOf(dataset)).length).toBe(3);
    }
  });

  it('say which row is wrong', async () => {
    const wrong = (text: string, columns: object, argument: string, received: string | RegExp): Promise<void> =>
      expectRejection(() => read(text, columns as never), 'ValueError', argument, received);
    await wrong('a,b\n1,2\n3', { a: 'int' }, 'source', '1 in row 2 of the bytes');
    await wrong('a,b\n1,2,3', { a: 'int' }, 'source', '3 in row 1');
    await wrong('a,a\n1,2', { a: 'int' }, 'source', 'two named a');
    await wrong('a,\n1,2', { '': 'int' }, 'columns.', 'no column');
    // Columns without a name are none to be asked for.
    for (const blank of ['', ' '])
      await expectAsync(read(`a,${blank}\n1,2`, { b: 'int' })).toBeRejectedWithError(
        /columns of the bytes: a, received/,
      );
    await wrong('', { a: 'int' }, 'source', 'empty');
    await wrong('a\n"x', { a: 'string' }, 'source', 'the bytes');
    await wrong('a\n"x"y,\n"z"', { a: 'string' }, 'source', 'the bytes');
    await wrong('user\n1', { usre: 'int' }, 'columns.usre', 'no column usre');
    await wrong('a\n1\n\n', { a: 'int', b: 'int' }, 'columns.b', 'no column b');
    await wrong('a,b\n1,x\n2,', { a: 'int', b: 'float' }, 'columns.b', '"x" in row 1');
    await wrong('a,b\n1,1\n2,', { a: 'int', b: 'float' }, 'columns.b', 'row 2 of the bytes');
    await wrong('a,b\n1,1\n2,1 x', { a: 'int', b: 'ids' }, 'columns.b', '"x" in row 2');
    await expectRejection(
      () => rowsOf(fromCsv(Uint8Array.of(97, 10, 0xff), { columns: { a: 'string' } })),
      'ValueError',
      'source',
      'other bytes',
    );
    const types = { columns: { a: 'int' } } as const;
    await expectRejection(() => rowsOf(fromCsv(path('none.csv'), types)), 'ValueError', 'source', 'none.csv');
    const below = fileURLToPath(new URL('from_csv.spec.ts/none.csv', import.meta.url));
    await expectRejection(() => rowsOf(fromCsv(below, types)), 'ValueError', 'source', below);
    await expectRejection(() => rowsOf(fromCsv(path('none*.csv'), types)), 'ValueError', 'source', 'none*.csv');
    await expectRejection(() => rowsOf(fromCsv(folder, types)), 'ValueError', 'source', 'which is none');
    writeFileSync(path('false.csv.gz'), 'a\n1');
    await expectRejection(() => rowsOf(fromCsv(path('false.csv.gz'), types)), 'ValueError', 'source', 'false.csv.gz');
    writeFileSync(path('cut.csv.gz'), gzipSync('a\n1').subarray(0, 12));
    await expectRejection(() => rowsOf(fromCsv(path('cut.csv.gz'), types)), 'ValueError', 'source', 'cut.csv.gz');
  });

  it('are refused with other arguments', () => {
    const types = { columns: { a: 'int' } } as const;
    expectError(() => fromCsv(5 as never, types), 'TypeError', 'source', '5');
    expectError(() => fromCsv('', types), 'ValueError', 'source');
    expectError(() => fromCsv([], types), 'ValueError', 'source');
    expectError(() => fromCsv(['a.csv', null] as never, types), 'TypeError', 'source', 'null');
    expectError(() => fromCsv('a.csv', {}), 'TypeError', 'columns', 'undefined');
    expectError(() => fromCsv('a.csv', undefined as never), 'TypeError', 'args');
    expectError(() => fromCsv('a.csv', { ...types, delimiter: '' }), 'ValueError', 'delimiter');
    expectError(() => fromCsv('a.csv', { ...types, delimiter: 5 as never }), 'TypeError', 'delimiter');
    expectError(() => fromCsv('a.csv', { ...types, naValues: 'NA' as never }), 'TypeError', 'naValues');
    expectError(() => fromCsv('a.csv', { ...types, header: 0 as never }), 'TypeError', 'header');
    expectError(() => fromCsv('a.csv', { ...types, sep: ';' } as never), 'ValueError', 'sep');
  });
});
