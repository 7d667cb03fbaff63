/** What is wrong with options and files, as the functions that find it say it. */
import { join } from 'node:path';
import { InputError } from '../../../models/input_error.mjs';
import { readDatasets } from '../../../models/wide_and_deep/data.js';
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
    ['a row that is too short', () => ['--data', folder.write('short.csv', 'a,y\n1,x\n2\n')], /short\.csv: .*line 3/],
    ['a row that is too long', () => ['--data', folder.write('long.csv', 'a,y\n1,x\n2,y,z\n')], /long\.csv: .*line 3/],
    ['two columns of one name', () => ['--data', folder.write('twice.csv', 'a,a,y\n1,2,x\n')], /two columns/],
    ['too few rows', () => ['--data', folder.write('few.csv', 'a,y\n1,p\n2,q\n')], /at least 10 rows/],
    [
      'a test file that lacks a column',
      () => ['--data', data, '--test', folder.write('lacks.csv', 'size,colour,verdict\n1,red,good\n')],
      /lacks\.csv lacks columns of the training file: tags/,
    ],
    ['an unknown option', () => ['--dat', data], /Unknown option '--dat'/],
    ['an unknown backend', () => ['--backend', 'cuda'], /one of cpu, tensorflow, wasm, tpu-emulator, not "cuda"/],
    ['an option without its value', () => ['--data'], /--data/],
    ['a number that is none', () => ['--epochs', 'many'], /--epochs must be a whole number/],
    ['a folder for the model below a file', () => ['--save', join(data, 'model')], /--save must be .* is no folder/],
    ['a file as the folder for the model', () => ['--save', data], /--save must be .* that is a file/],
    ['a label without data', () => ['--label', 'y'], /^--label needs --data$/],
  ];
  for (const [what, args, text] of mistakes) {
    it(`are named: ${what}`, () => {
      expect(() => readDatasets(readOptions(args()))).toThrowError(InputError, text);
    });
  }
});

describe('datasets', () => {
  const folder = scratchFolder();
  const data = folder.write('data.csv', learnableCsv(100));
  afterAll(() => folder.remove());
  const key = (rows: readonly (readonly string[])[]): string[] => rows.map((row) => row.join()).sort();

  it('split a fifth off for the test and a tenth of the rest for the epoch, by the seed', () => {
    const { fit, heldOut, test } = readDatasets(readOptions(['--data', data, '--seed', '5']));
    expect([test.rows.length, heldOut.rows.length, fit.rows.length]).toEqual([20, 8, 72]);
    const all = learnableCsv(100).split('\n').slice(1);
    expect(key([...fit.rows, ...heldOut.rows, ...test.rows])).toEqual([...all].sort());
    const again = readDatasets(readOptions(['--data', data, '--seed', '5']));
    const other = readDatasets(readOptions(['--data', data, '--seed', '6']));
    expect(again.test.rows).toEqual(test.rows);
    expect(key(other.test.rows)).not.toEqual(key(test.rows));
  });

  it('take every row of a test file, columns in any order', () => {
    const text = 'verdict,tags,colour,size,more\ngood,hot,red,99,1\nbad,,blue,3,2\n';
    const test = folder.write('test.csv', text);
    const datasets = readDatasets(readOptions(['--data', data, '--test', test]));
    expect(datasets.test.rows.length).toBe(2);
    expect(datasets.fit.rows.length + datasets.heldOut.rows.length).toBe(100);
    expect(datasets.bestAuc).toBeNull();
  });

  it('reads quoted cells, a byte order mark and spaces after commas', () => {
    const rows = Array.from({ length: 12 }, (_, i) => `"a, b", ${i}, ${i % 2 === 0 ? 'no' : 'yes'}`);
    const path = folder.write('quoted.csv', `\ufeffname, n, y\r\n${rows.join('\r\n')}\r\n\r\n`);
    const { fit, label } = readDatasets(readOptions(['--data', path]));
    expect(fit.columns).toEqual(['name', 'n', 'y']);
    expect(fit.rows[0]![0]).toBe('a, b');
    expect(label).toEqual({ name: 'y', positive: 'yes', negative: 'no' });
  });
});
