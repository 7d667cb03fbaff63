import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../helpers/project.js';
import { LONG_FORM, casesOf, inForm, shortFormOf, type LongForm } from './forms.js';
import { specFiles } from '../runner/spec_files.js';

const file = (name: string) => ({ name, path: `/project/${name}` });
const FILES = ['test/ids.spec.ts', 'test/slow.spec.ts'].map(file);
const LIST: LongForm = {
  files: { 'test/slow.spec.ts': 'a minute' },
  specs: { 'test/ids.spec.ts': { names: ['all platforms'], why: 'hours' } },
  sampled: { 'test/grid.spec.ts': { oneIn: 3, why: 'a grid' } },
  draws: { CASES: { short: 2, long: 20, of: 'ids' } },
};

describe('forms of the suite', () => {
  it('the short one leaves out what the list names', () => {
    expect(inForm(FILES, true, LIST)).toEqual({ files: [FILES[0]!], leftOut: 1 });
    expect(inForm(FILES, false, LIST)).toEqual({ files: FILES, leftOut: 0 });
  });

  it('the short one leaves specs out of files that it runs', () => {
    const runs = shortFormOf('test/ids.spec.ts', LIST);
    expect([runs('ids of all platforms', 0), runs('ids of this platform', 1)]).toEqual([false, true]);
    for (const other of ['test/slow.spec.ts', 'toString']) {
      expect(shortFormOf(other, LIST)('ids of all platforms', 7)).toBeTrue();
    }
  });

  it('the short one runs one in some specs of a grid, in every row and column of it', () => {
    const runs = shortFormOf('test/grid.spec.ts', LIST);
    for (const width of [2, 3, 4, 5, 6, 8, 12, 13]) {
      const places = Array.from({ length: 30 * width }, (_, place) => place).filter((place) => runs('a spec', place));
      expect(places.length).toBe(10 * width);
      expect(new Set(places.map((place) => place % width)).size)
        .withContext(`${width} columns`)
        .toBe(width);
    }
    expect(Array.from({ length: 9 }, (_, place) => runs('a spec', place)).filter(Boolean).length).toBe(3);
  });

  it('draw as many cases as their line says, or as the environment does', () => {
    expect(casesOf('CASES', {}, LIST)).toBe(2);
    expect(casesOf('CASES', { TFJS_EMBEDDINGS_TEST_FORM: 'long' }, LIST)).toBe(20);
    expect(casesOf('CASES', { TFJS_EMBEDDINGS_TEST_FORM: 'long', CASES: '7' }, LIST)).toBe(7);
    for (const given of ['0', '-1', '1.5', 'many']) {
      expect(() => casesOf('CASES', { CASES: given }, LIST)).toThrowError(
        `CASES must be a positive whole number, not "${given}"`,
      );
    }
    expect(() => casesOf('toString', {}, LIST)).toThrowError('test/forms/long_form.json has no line for toString');
  });

  it('have a list of files that there are, with reasons', () => {
    const names = new Set(specFiles().map(({ name }) => name));
    for (const [name, why] of Object.entries(LONG_FORM.files)) {
      expect(names.has(name)).withContext(name).toBeTrue();
      expect(why.length).withContext(name).toBeGreaterThan(10);
    }
  });

  it('have a list of specs that there are, of files that the short one runs', () => {
    for (const [file, { names, why }] of Object.entries(LONG_FORM.specs)) {
      const text = readFileSync(join(ROOT, file), 'utf8');
      expect(LONG_FORM.files[file]).withContext(file).toBeUndefined();
      expect(names.length).withContext(file).toBeGreaterThan(0);
      expect(why.length).withContext(file).toBeGreaterThan(10);
      // Names are made of the words of the file; what a loop puts in is not told here.
      for (const name of names.filter((each) => !/^[:[(]/.test(each))) {
        const [, longest] = name
          .split(' ')
          .sort((a, b) => a.length - b.length)
          .slice(-2);
        expect(text).withContext(`${file}: ${name}`).toContain(longest!);
      }
    }
  });

  it('have samples of files that the short one runs, with reasons', () => {
    const names = new Set(specFiles().map(({ name }) => name));
    for (const [file, { oneIn, why }] of Object.entries(LONG_FORM.sampled)) {
      expect(names.has(file) && !Object.hasOwn(LONG_FORM.files, file))
        .withContext(file)
        .toBeTrue();
      expect(Number.isInteger(oneIn) && oneIn > 1)
        .withContext(file)
        .toBeTrue();
      expect(why.length).withContext(file).toBeGreaterThan(10);
    }
  });

  it('have no draw that is larger in the short form', () => {
    for (const [name, { short, long }] of Object.entries(LONG_FORM.draws)) {
      expect(short).withContext(name).toBeGreaterThan(0);
      expect(long).withContext(name).toBeGreaterThan(short);
    }
  });
});
