// runner: packages
/** A package is the same to the byte whenever and wherever it is made. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { ROOT, runIn } from '../helpers/project.js';
import { archiveOf, prebuilt, timeToPrebuild } from './packages.js';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const BUILD = join('custom-ops', 'build');

/** A copy of what packages are made of, in a folder of another name; the compiler is the one that is there. */
function copyOfSources(folder: string): void {
  const isBuilt = (path: string): boolean => relative(ROOT, path) === BUILD;
  for (const name of ['package.json', 'LICENSE', 'custom-ops', join('docs', 'licenses.md')]) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter: (path) => !isBuilt(path) });
  }
  const zig = readFileSync(join(ROOT, 'custom-ops', 'prebuild', 'zig.mjs'), 'utf8').match(/ZIG_VERSION = '(.*)'/)![1]!;
  for (const path of [join(BUILD, 'prebuild', `zig-${zig}`), join(BUILD, 'prebuild', 'zig-cache'), 'node_modules']) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, path), 'dir');
  }
}

describe('a package that is made twice', () => {
  let folder: string;
  beforeAll(async () => {
    await prebuilt('linux-arm64'); // brings the compiler
    folder = mkdtempSync(join(tmpdir(), 'made elsewhere '));
    copyOfSources(folder);
  }, timeToPrebuild(1));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  // One of each kind of file: ELF, Mach-O, PE.
  for (const name of ['linux-arm64', 'darwin-arm64', 'win32-x64']) {
    it(
      `has the same bytes: ${name}`,
      async () => {
        const [first] = await prebuilt(name);
        const main = join(folder, 'custom-ops', 'prebuild', 'main.mjs');
        const { code, errors } = await runIn(folder, process.execPath, main, '--only', name);
        expect(code).withContext(errors).toBe(0);
        const archive = archiveOf(first!, version);
        const again = readFileSync(join(folder, BUILD, 'packages', basename(archive)));
        expect(again.equals(readFileSync(archive))).toBeTrue();
      },
      timeToPrebuild(2),
    );
  }
});
