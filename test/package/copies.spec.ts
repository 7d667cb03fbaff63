/** Two copies of the package in one process take each other's objects. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));

/** What went wrong when the copies passed objects to each other. */
function failuresOf(first: string, second: string): string[] {
  const program = join(here, 'copies_program.mjs');
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, first, second], { encoding: 'utf8' });
  expect(status).withContext(stderr).toBe(0);
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as string[];
}

describe('copies of the package in one process', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'copies of a package '));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(root, 'node_modules', '@tensorflow'), join(folder, 'node_modules', '@tensorflow'), 'dir');
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** The package in a folder of its own, under another version. */
  function install(name: string, version: string): string {
    const home = join(folder, name);
    cpSync(join(root, 'dist'), join(home, 'dist'), { recursive: true });
    const description = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as object;
    writeFileSync(join(home, 'package.json'), JSON.stringify({ ...description, version }));
    return join(home, 'dist');
  }

  it('ESM and CommonJS take what the other made', () => {
    expect(failuresOf(`import:${root}/dist/index.mjs`, `require:${root}/dist/index.cjs`)).toEqual([]);
  }, 60_000);

  it('CommonJS and ESM of the Node entry take what the other made', () => {
    expect(failuresOf(`require:${root}/dist/node.cjs`, `import:${root}/dist/node.mjs`)).toEqual([]);
  }, 60_000);

  it('two versions in two folders take what the other made', () => {
    const [old, young] = [install('old', '0.0.9'), install('young', '9.9.9')];
    expect(failuresOf(`import:${old}/node.mjs`, `import:${young}/index.mjs`)).toEqual([]);
  }, 60_000);
});
