import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { emptyFolder } from '../custom-ops/setup/set_up_module.js';
import { ImportGraph } from './import_graph.js';
import { PassedSpecs } from './passed_specs.js';

const NEAR = 'test/near.spec.ts';
const PROGRAM = 'test/program.spec.ts';

describe('spec files that passed', () => {
  const folder = emptyFolder();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true });
    writeFileSync(join(folder.path, path), text);
  };
  const now = (env: NodeJS.ProcessEnv = {}): PassedSpecs =>
    new PassedSpecs(folder.path, ImportGraph.of(folder.path), env);
  const unchanged = (env: NodeJS.ProcessEnv = {}): string[] => {
    const specs = now(env);
    return [NEAR, PROGRAM].filter((spec) => specs.isUnchanged(spec));
  };
  const record = (passed: readonly string[]): void => {
    const specs = now();
    specs.record(new Map([NEAR, PROGRAM].map((spec) => [spec, specs.stampOf(spec)])), new Set(passed));
  };

  beforeEach(() => {
    execFileSync('git', ['init', '-q'], { cwd: folder.path });
    write('.gitignore', '.cache/\ncustom-ops/build/\n');
    write('src/a.ts', "import './b.js';");
    write('src/b.ts', '');
    write('src/other.ts', '');
    write('test/fixtures/model.bin', '1');
    write('custom-ops/build/kernels.json', '1');
    write(NEAR, "import '../src/a.js';");
    write(PROGRAM, "import { spawn } from 'node:child_process';");
  });

  it('are unchanged until something differs that they reach', () => {
    expect(unchanged()).toEqual([]);
    record([NEAR, PROGRAM]);
    expect(unchanged()).toEqual([NEAR, PROGRAM]);
    // No import says what a program reads.
    write('src/other.ts', 'export {};');
    expect(unchanged()).toEqual([NEAR]);
    write('src/b.ts', 'export {};');
    expect(unchanged()).toEqual([]);
    write('src/b.ts', '');
    write('src/other.ts', '');
    expect(unchanged()).toEqual([NEAR, PROGRAM]);
  });

  for (const [what, path] of [
    ['its text', NEAR],
    ['a fixture', 'test/fixtures/model.bin'],
    ['a new fixture', 'test/fixtures/other.bin'],
    ['the native build', 'custom-ops/build/kernels.json'],
    ['a package', 'node_modules/.package-lock.json'],
  ] as const) {
    it(`are run again after ${what} changed`, () => {
      record([NEAR]);
      write(path, '2');
      expect(unchanged()).toEqual([]);
    });
  }

  it('are run again with other settings, but not for how the run is told', () => {
    record([NEAR]);
    expect(unchanged({ TFJS_EMBEDDINGS_TEST_SEED: '7' })).toEqual([]);
    expect(unchanged({ TFJS_EMBEDDINGS_TEST_PROCESSES: '1' })).toEqual([NEAR]);
    write('test/runner/seconds.json', '{}');
    expect(unchanged()).toEqual([NEAR]);
  });

  it('are not those that failed since, and none where what was kept is not whole', () => {
    record([NEAR, PROGRAM]);
    record([PROGRAM]);
    expect(unchanged()).toEqual([PROGRAM]);
    write('.cache/passed_specs.json', '{"test');
    expect(unchanged()).toEqual([]);
    rmSync(join(folder.path, '.cache'), { recursive: true });
    expect(unchanged()).toEqual([]);
  });
});
