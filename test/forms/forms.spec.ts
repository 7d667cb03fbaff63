import { LONG_FORM, casesOf, inForm, type LongForm } from './forms.js';
import { specFiles } from '../runner/spec_files.js';

const file = (name: string) => ({ name, path: `/project/${name}` });
const FILES = ['test/ids.spec.ts', 'test/slow.spec.ts'].map(file);
const LIST: LongForm = {
  files: { 'test/slow.spec.ts': 'a minute' },
  draws: { CASES: { short: 2, long: 20, of: 'ids' } },
};

describe('forms of the suite', () => {
  it('the short one leaves out what the list names, unless it was asked for', () => {
    expect(inForm(FILES, { isLong: false, areNamed: false }, LIST)).toEqual({ files: [FILES[0]!], leftOut: 1 });
    expect(inForm(FILES, { isLong: false, areNamed: true }, LIST)).toEqual({ files: FILES, leftOut: 0 });
    expect(inForm(FILES, { isLong: true, areNamed: false }, LIST)).toEqual({ files: FILES, leftOut: 0 });
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

  it('have no draw that is larger in the short form', () => {
    for (const [name, { short, long }] of Object.entries(LONG_FORM.draws)) {
      expect(short).withContext(name).toBeGreaterThan(0);
      expect(long).withContext(name).toBeGreaterThan(short);
    }
  });
});
