/** What is wrong with options and files, as the functions that find it say it. */
import { join } from 'node:path';
import { InputError } from '../../../models/input_error.mjs';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { readDatasets, readTable } from '../../../models/wide_and_deep/data.js';
import { readOptions } from '../../../models/wide_and_deep/options.mjs';
import { learnableCsv, scratchFolder } from './program.js';

describe('mistakes in options and files', () => {
  const folder = scratchFolder();
  const data = folder.write('data.csv', learnableCsv(600));
  afterAll(() => folder.remove());

  const mistakes: [string, () => string[], RegExp][] = [
    ['a missing file', () => ['--data', join(folder.path, 'none.csv')], /none\.csv": there is no such file/],
    ['a folder', () => ['--data', folder.path], /--data must be .*: that is a folder/],
    ['a missing test file', () => ['--data', data, '--test', join(folder.path, 'x')], /--test must be .* no such file/],
    ['an empty file', () => ['--data', folder.write('empty.csv', '')], /is empty/],
    ['a header alone', () => ['--data', folder.write('header.csv', 'a,b\n')], /no rows/],
    ['an unknown label', () => ['--data', data, '--label', 'colr'], /no column "colr"; there are: size, colour/],
    ['a label with one value', () => ['--data', folder.write('one.csv', 'a,y\n1,x\n2,x\n')], /"y" .* holds 1 \("x"\)/],
    ['a label with three values', () => ['--data', data, '--label', 'colour'], /"colour" .* holds 3 /],
    ['an unknown positive value', () => ['--data', data, '--positive', 'great'], /"great" is no value of "verdict"/],
    [
      'a row that is too short',
      () => ['--data', folder.write('short.csv', 'a,y\n1,x\n2\n')],
      /1 in row 2 of .*short\.csv/,
    ],
    [
      'a row that is too long',
      () => ['--data', folder.write('long.csv', 'a,y\n1,x\n2,y,z\n')],
      /3 in row 2 of .*long\.csv/,
    ],
    ['two columns of one name', () => ['--data', folder.write('twice.csv', 'a,a,y\n1,2,x\n')], /two named a/],
    ['too few rows', () => ['--data', folder.write('few.csv', 'a,y\n1,p\n2,q\n')], /at least 10 rows/],
    [
      'a test file that lacks a column',
      () => ['--data', data, '--test', folder.write('lacks.csv', 'size,colour,verdict\n1,red,good\n')],
      /lacks\.csv lacks columns of the training file: tags/,
    ],
    ['an unknown option', () => ['--dat', data], /Unknown option '--dat'/],
    [
      'an unknown backend',
      () => ['--backend', 'cuda'],
      /one of cpu, tensorflow, wasm, tpu-emulator, tf-cluster, not "cuda"/,
    ],
    ['an option without its value', () => ['--data'], /--data/],
    ['a number that is none', () => ['--epochs', 'many'], /--epochs must be a whole number/],
    ['a folder for the model below a file', () => ['--save', join(data, 'model')], /--save must be .* is no folder/],
    ['a file as the folder for the model', () => ['--save', data], /--save must be .* that is a file/],
    ['a label without data', () => ['--label', 'y'], /^--label needs --data$/],
  ];
  for (const [what, args, text] of mistakes) {
    it(`are named: ${what}`, async () => {
      const reading = async (): Promise<unknown> => readDatasets(readOptions(args()));
      await expectAsync(reading()).toBeRejectedWithError(InputError, text);
    });
  }
});

describe('datasets', () => {
  const folder = scratchFolder();
  const data = folder.write('data.csv', learnableCsv(100));
  afterAll(() => folder.remove());
  const key = (rows: readonly (readonly string[])[]): string[] => rows.map((row) => row.join()).sort();

  it('split a fifth off for the test and a tenth of the rest for the epoch, by the seed', async () => {
    const { fit, heldOut, test } = await readDatasets(readOptions(['--data', data, '--seed', '5']));
    expect([test.rows.length, heldOut.rows.length, fit.rows.length]).toEqual([20, 8, 72]);
    const all = learnableCsv(100).split('\n').slice(1);
    expect(key([...fit.rows, ...heldOut.rows, ...test.rows])).toEqual([...all].sort());
    const again = await readDatasets(readOptions(['--data', data, '--seed', '5']));
    const other = await readDatasets(readOptions(['--data', data, '--seed', '6']));
    expect(again.test.rows).toEqual(test.rows);
    expect(key(other.test.rows)).not.toEqual(key(test.rows));
  });

  it('take every row of a test file, columns in any order', async () => {
    const text = 'verdict,tags,colour,size,more\ngood,hot,red,99,1\nbad,,blue,3,2\n';
    const test = folder.write('test.csv', text);
    const datasets = await readDatasets(readOptions(['--data', data, '--test', test]));
    expect(datasets.test.rows.length).toBe(2);
    expect(datasets.fit.rows.length + datasets.heldOut.rows.length).toBe(100);
    expect(datasets.bestAuc).toBeNull();
  });

  it('reads a parquet file as the same rows of text', async () => {
    const type = (name: string, kind: object): object => ({ name, repetition_type: 'OPTIONAL', ...kind });
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: 'age', data: [31, null, 2.5] },
        { name: 'city', data: ['Bonn', ' Ulm ', null] },
        { name: 'tags', data: [['a', 'b'], [], null] },
        { name: 'verdict', data: [1, 0, 1] },
      ],
      schema: [
        { name: 'root', num_children: 4 },
        type('age', { type: 'DOUBLE' }),
        type('city', { type: 'BYTE_ARRAY', converted_type: 'UTF8' }),
        type('tags', { converted_type: 'LIST', num_children: 1 }),
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        type('element', { type: 'BYTE_ARRAY', converted_type: 'UTF8' }),
        type('verdict', { type: 'INT32' }),
      ] as never,
    });
    const path = folder.write('rows.parquet', new Uint8Array(bytes));
    expect(await readTable(path, '|')).toEqual({
      columns: ['age', 'city', 'tags', 'verdict'],
      rows: [
        ['31', 'Bonn', 'a|b', '1'],
        ['', 'Ulm', '', '0'],
        ['2.5', '', '', '1'],
      ],
    });
  });

  it('reads quoted cells, a byte order mark and spaces after commas', async () => {
    const rows = Array.from({ length: 12 }, (_, i) => `"a, b", ${i}, ${i % 2 === 0 ? 'no' : 'yes'}`);
    const path = folder.write('quoted.csv', `\ufeffname, n, y\r\n${rows.join('\r\n')}\r\n\r\n`);
    const { fit, label } = await readDatasets(readOptions(['--data', path]));
    expect(fit.columns).toEqual(['name', 'n', 'y']);
    expect(fit.rows[0]![0]).toBe('a, b');
    expect(label).toEqual({ name: 'y', positive: 'yes', negative: 'no' });
  });
});
