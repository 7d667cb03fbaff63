import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder } from '../custom-ops/setup/set_up_module.js';
import { ROOT } from '../helpers/project.js';
import { specFiles } from '../runner/spec_files.js';
import { changedFiles, isRevision, specsFor } from './changed_specs.js';
import { ImportGraph } from './import_graph.js';

const spec = (name: string) => ({ name, path: `/project/${name}` });

describe('imports', () => {
  const graph = new ImportGraph(
    new Map([
      ['src/base/a.ts', ''],
      ['src/b.ts', "export { a } from './base/a.js';\nimport type { X } from './x.js';"],
      ['src/node.ts', "import './b.js';"],
      ['test/b.spec.ts', "import { b } from '../src/b.js';\nimport { c } from 'the-package/node';"],
      ['test/late.spec.ts', "const a = await import('../src/base/a.js');"],
      ['test/program.spec.ts', "const path = new URL('program.ts', import.meta.url);\nnew URL('./program.ts', x);"],
      ['test/program.ts', "import '../src/node.js';"],
    ]),
    { 'the-package/node': 'src/node.ts' },
  );

  it('lead to what holds a text', () => {
    expect([...graph.importersOfText(/from '\.\/base/, /^src/)]).toEqual([
      'src/b.ts',
      'src/node.ts',
      'test/b.spec.ts',
      'test/program.ts',
      'test/program.spec.ts',
    ]);
    expect(graph.importersOfText(/nobody says this/, /^/).size).toBe(0);
    expect(graph.importersOfText(/from '\.\/base/, /^test/).size).toBe(0);
  });

  it('are followed backwards, with their number', () => {
    expect([...graph.importersOf('src/base/a.ts')]).toEqual([
      ['src/base/a.ts', 0],
      ['src/b.ts', 1],
      ['test/late.spec.ts', 1],
      ['src/node.ts', 2],
      ['test/b.spec.ts', 2],
      ['test/program.ts', 3],
      ['test/program.spec.ts', 4],
    ]);
    expect([...graph.importersOf('test/b.spec.ts').keys()]).toEqual(['test/b.spec.ts']);
    expect([...graph.importersOf('README.md').keys()]).toEqual(['README.md']);
  });
});

describe('spec files for a change', () => {
  const graph = ImportGraph.of(ROOT);
  const all = specFiles();
  const first = (changed: string, seconds = 20): string[] =>
    specsFor([changed], all, graph, new Map(), seconds).files.map(({ name }) => name);

  it('begin with the one of its name, wherever it is', () => {
    for (const [changed, name] of [
      ['src/ranking/top_k.ts', 'test/ranking/top_k.spec.ts'],
      ['src/data/csv_records.ts', 'test/data/csv_records.spec.ts'],
      ['src/preprocessing/hashing.ts', 'test/preprocessing/hashing.spec.ts'],
      ['custom-ops/object_cache.mjs', 'test/custom-ops/object_cache.spec.ts'],
      ['custom-ops/kernels/ranking/top_k.c', 'test/ranking/top_k.spec.ts'],
      ['test/ranking/top_k.spec.ts', 'test/ranking/top_k.spec.ts'],
    ] as const) {
      if (!all.some((each) => each.name === name)) continue;
      expect(first(changed)[0]).withContext(changed).toBe(name);
    }
    expect(first('src/ranking/top_k.ts').length).toBe(20);
  });

  it('are those that import it, through others too', () => {
    expect(first('src/base/errors.ts', 1e9).length).toBeGreaterThan(all.length / 2);
    // In pieces, so that this file does not speak of it.
    expect(first(`docs/nothing_${'imports'}_this.svg`, 1e9).every((name) => name.startsWith('test/docs/'))).toBeTrue();
  });

  it('begin with those that speak of it where it has none of its own', () => {
    const picked = first('src/layers/attention/multi_head_attention.ts', 1e9).slice(0, 8);
    expect(picked).toContain('test/layers/attention/attention.spec.ts');
    expect(first('custom-ops/kernels/columns/hashes.c', 40).slice(0, 12)).toContain(
      'test/preprocessing/hashing.spec.ts',
    );
    const specs = ['test/far/a.spec.ts', 'test/far/b.spec.ts'].map(spec);
    const texts = [
      ['test/far/a.spec.ts', "import '../../src/index.js';"],
      ['test/far/b.spec.ts', "import { dotPairs } from '../../src/index.js';"],
      ['src/index.ts', "export { dotPairs } from './near/dots.js';"],
      ['src/near/dots.ts', 'export function dotPairs() {}'],
    ] as const;
    const { files } = specsFor(['src/near/dots.ts'], specs, new ImportGraph(new Map(texts)), new Map(), 9);
    expect(files.map(({ name }) => name)).toEqual(['test/far/b.spec.ts', 'test/far/a.spec.ts']);
  });

  it('have the own one first, although it takes all the time', () => {
    const specs = ['test/a.spec.ts', 'test/x.spec.ts'].map(spec);
    const texts = [...specs.map(({ name }) => [name, "import '../src/x.js';"] as const), ['src/x.ts', ''] as const];
    const small = new ImportGraph(new Map(texts));
    const picked = (seconds: number): string[] => {
      const { files } = specsFor(['src/x.ts'], specs, small, new Map([['test/x.spec.ts', seconds]]), 12);
      return files.map(({ name }) => name);
    };
    expect(picked(45)).toEqual(['test/x.spec.ts']);
    // But no more than a minute.
    expect(picked(70)).toEqual(['test/a.spec.ts']);
  });

  it('are whole where they are the nearest and there is time, though others run a sample', () => {
    const specs = ['test/a.spec.ts', 'test/b.spec.ts', 'test/c.spec.ts'].map(spec);
    const texts = specs.map(({ name }) => [name, "import '../src/x.js';"] as const);
    const small = new ImportGraph(new Map([...texts, ['src/x.ts', ''] as const]));
    const sampled = { 'test/a.spec.ts': 3, 'test/b.spec.ts': 30, 'test/c.spec.ts': 2 };
    const oneIn = (name: string): number => sampled[name as keyof typeof sampled];
    const picked = (seconds: number): string[] => {
      const { files } = specsFor(['src/x.ts'], specs, small, new Map(), seconds, oneIn);
      return files.map(({ name, isWhole = false }) => `${name} ${isWhole ? 'whole' : 'sampled'}`);
    };
    expect(picked(20)).toEqual(['test/a.spec.ts whole', 'test/b.spec.ts sampled', 'test/c.spec.ts whole']);
    expect(picked(2)).toEqual(['test/a.spec.ts sampled', 'test/b.spec.ts sampled']);
  });

  it('fill the time, and those left out are told', () => {
    const specs = ['test/a.spec.ts', 'test/b.spec.ts', 'test/c.spec.ts'].map(spec);
    const texts = new Map(specs.map(({ name }) => [name, "import '../src/x.js';"]));
    const small = new ImportGraph(new Map([...texts, ['src/x.ts', '']]));
    const seconds = new Map([
      ['test/a.spec.ts', 50],
      ['test/b.spec.ts', 9],
    ]);
    const { files, leftOut } = specsFor(['src/x.ts'], specs, small, seconds, 12);
    expect(files.map(({ name }) => name)).toEqual(['test/c.spec.ts', 'test/b.spec.ts']);
    expect(leftOut.map(({ name }) => name)).toEqual(['test/a.spec.ts']);
  });
});

describe('files that changed', () => {
  const folder = emptyFolder();
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], {
      cwd: folder.path,
      encoding: 'utf8',
    });
  const write = (name: string, text: string): void => writeFileSync(join(folder.path, name), text);

  beforeEach(() => {
    git('init', '-q');
    mkdirSync(join(folder.path, 'src'));
    write('src/a.ts', '1');
    git('add', '.');
    git('commit', '-qm', 'first');
    write('src/b.ts', '1');
    git('add', '.');
    git('commit', '-qm', 'second');
  });

  it('are those of the last commit where nothing changed since', () => {
    expect(changedFiles(folder.path, null)).toEqual({ since: 'HEAD~1', files: ['src/b.ts'] });
  });

  it('are those of the working tree, new ones too', () => {
    write('src/a.ts', '2');
    write('src/c.ts', '2');
    expect(changedFiles(folder.path, null)).toEqual({ since: 'HEAD', files: ['src/a.ts', 'src/c.ts'] });
    expect(changedFiles(folder.path, 'HEAD~1').files).toEqual(['src/a.ts', 'src/b.ts', 'src/c.ts']);
  });

  it('need a revision that there is', () => {
    expect([
      isRevision(folder.path, 'HEAD~1'),
      isRevision(folder.path, 'lookup/'),
      isRevision(folder.path, '--all'),
    ]).toEqual([true, false, false]);
    expect(() => changedFiles(folder.path, 'nothing')).toThrowError(/^--changed needs git: /);
  });
});
