import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choose, longestFirst, needsOf, specFiles, type SpecFile } from './spec_files.js';

const file = (name: string): SpecFile => ({ name, path: `/project/${name}` });
const FILES = ['test/ids.spec.ts', 'test/ops/sum.spec.ts', 'test/ops/step.spec.ts'].map(file);

describe('spec files', () => {
  it('are found with their paths, this one among them', () => {
    const found = specFiles();
    expect(found.map(({ name }) => name)).toContain('test/runner/spec_files.spec.ts');
    expect(new Set(found.map(({ path }) => path)).size).toBe(found.length);
  });

  it('are chosen by a part of the path; what is part of none chooses specs', () => {
    expect(choose(FILES, [])).toEqual({ files: FILES, texts: [] });
    expect(choose(FILES, ['ops/'])).toEqual({ files: FILES.slice(1), texts: [] });
    expect(choose(FILES, ['ids', 'names the position'])).toEqual({ files: [FILES[0]!], texts: ['names the position'] });
    expect(choose(FILES, ['no file'])).toEqual({ files: FILES, texts: ['no file'] });
    expect(() => choose(FILES, ['ids', 'test/opts'])).toThrowError('No spec file has test/opts in its path.');
  });

  it('are begun with the longest, the others in their order', () => {
    const names = longestFirst(FILES, new Map([['test/ops/step.spec.ts', 9]])).map(({ name }) => name);
    expect(names).toEqual(['test/ops/step.spec.ts', 'test/ids.spec.ts', 'test/ops/sum.spec.ts']);
  });

  it('say what they need, in words that are known', () => {
    const folder = mkdtempSync(join(tmpdir(), 'spec-files-'));
    const needs = (text: string): string[] => {
      const path = join(folder, 'some.spec.ts');
      writeFileSync(path, text);
      return [...needsOf({ name: 'some.spec.ts', path })];
    };
    try {
      expect(needs("it('runs', () => {});\n")).toEqual([]);
      expect(needs('// runner: python\n// runner: alone\n')).toEqual(['python', 'alone']);
      expect(() => needs('// runner: alnoe\n')).toThrowError(/there is no need named alnoe/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('that use Python say so', () => {
    const starts = /pythonWith(TensorFlow|Keras|Converter)\(/;
    const uses = specFiles().filter(({ path }) => starts.test(readFileSync(path, 'utf8')));
    expect(uses.length).toBeGreaterThan(5);
    for (const each of uses)
      expect([...needsOf(each)])
        .withContext(each.name)
        .toContain('python');
  });

  it('that use packages of platforms say so', () => {
    const uses = specFiles().filter(({ path }) => /\bprebuilt\(/.test(readFileSync(path, 'utf8')));
    expect(uses.length).toBeGreaterThan(4);
    for (const each of uses)
      expect([...needsOf(each)])
        .withContext(each.name)
        .toContain('packages');
  });

  it('that start servers say so', () => {
    const starts = /ServerProcess\.start\(|startServer\(/;
    const uses = specFiles().filter(({ path }) => starts.test(readFileSync(path, 'utf8')));
    expect(uses.length).toBeGreaterThan(5);
    for (const each of uses)
      expect([...needsOf(each)])
        .withContext(each.name)
        .toContain('servers');
  });
});
