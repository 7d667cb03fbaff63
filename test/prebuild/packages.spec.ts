// runner: packages
/** The seven packages: what their addons hand out and ask for, how large they are, what is said of them. */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { TARGETS, TENSORFLOW_TARGETS } from '../../custom-ops/prebuild/targets.mjs';
import { ROOT, runIn } from '../helpers/project.js';
import { fromDebian } from './debian.js';
import { prebuilt, timeToPrebuild, type Prebuilt } from './packages.js';

const EXPORTS = ['napi_register_module_v1', 'node_api_module_get_api_version_v1'];
/** Libraries that every system of the kind has. */
const LIBRARIES = {
  glibc: /^(libc\.so\.6|libm\.so\.6|libpthread\.so\.0|libdl\.so\.2|ld-linux-(x86-64|aarch64)\.so\.[12])$/,
  musl: /^libc\.so$/,
  darwin: /^\/usr\/lib\/libSystem\.B\.dylib$/,
  win32: /^(KERNEL32|api-ms-win-crt-[a-z]+-l1-1-0)\.dll$/i,
};
const MOST_BYTES = 2e6;
const OLDEST_GLIBC = 28; // 2.28

interface Manifest {
  readonly [field: string]: unknown;
  readonly os: string[];
  readonly cpu: string[];
  readonly libc?: string[];
  readonly addon: { readonly file: string; readonly bytes: number; readonly sha256: string };
}

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
const main = manifestIn(ROOT) as Manifest & { readonly optionalDependencies: Record<string, string> };

async function said(program: string, ...args: string[]): Promise<string> {
  const { code, output, errors } = await runIn(ROOT, program, ...args);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${errors}`);
  return output;
}

/** All that a pattern finds: its first group. */
const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, part]) => part!);

interface Binary {
  readonly exports: string[];
  readonly libraries: string[];
  /** What is left of it that only debuggers read. */
  readonly names: string[];
  /** Minor numbers of the releases of glibc 2 that its symbols ask for. */
  readonly glibc: number[];
}

async function elf(path: string): Promise<Binary> {
  const symbols = await said('readelf', '--wide', '--dyn-syms', path);
  const defined = symbols.split('\n').filter((line) => / (GLOBAL|WEAK) /.test(line) && !/ UND /.test(line));
  const sections = await said('readelf', '--wide', '--sections', '--dynamic', path);
  return {
    exports: defined.map((line) => line.trim().split(/\s+/)[7]!),
    libraries: found(sections, /\(NEEDED\).*\[(.*)\]/g),
    names: found(sections, / (\.symtab|\.debug\S*|\.note\.gnu\.build-id) /g),
    glibc: found(symbols, /@GLIBC_2\.(\d+)/g).map(Number),
  };
}

async function machO(path: string): Promise<Binary> {
  const [exported, libraries, headers] = await Promise.all(
    ['--exports-trie', '--dylibs-used', '--private-headers'].map((what) => said('llvm-objdump', '--macho', what, path)),
  );
  return {
    // Two of the linker's own come along, which every file for macOS has.
    exports: found(exported!, /^0x\w+\s+_(\w+)/gm).filter((name) => !/^(_mh_dylib_header|__dso_handle)$/.test(name)),
    libraries: found(libraries!, /^\s+(\S+) \(compat/gm).filter((name) => name !== 'tfjs_embeddings.node'),
    names: found(headers!, /sectname (__debug\w*)/g),
    glibc: [],
  };
}

async function pe(path: string): Promise<Binary> {
  const [headers, sections] = await Promise.all([
    said('llvm-objdump', '--private-headers', path),
    said('llvm-objdump', '--section-headers', path),
  ]);
  const [, exported = ''] = headers.split('Export Table:');
  return {
    exports: found(exported, /^\s+\d+\s+0x\w+\s+(\w+)/gm),
    libraries: found(headers, /DLL Name: (\S+)/g),
    names: found(sections, / (\.debug\S*) /g),
    glibc: [],
  };
}

const READERS = { linux: elf, darwin: machO, win32: pe };

describe('the packages of platforms', () => {
  const packages: Prebuilt[] = [];

  beforeAll(() => fromDebian('/usr/bin/readelf', '/usr/bin/llvm-objdump'), 10 * 60_000);

  it('are those that the main package names, in its version', () => {
    const names = [...TARGETS, ...TENSORFLOW_TARGETS].map(({ name }) => `tfjs-embeddings-${name}`);
    const versions = Object.fromEntries(names.map((name) => [name, main['version']]));
    expect(main.optionalDependencies).toEqual(jasmine.objectContaining(versions) as never);
    const others = Object.keys(main.optionalDependencies).filter((name) => !names.includes(name));
    expect(others.filter((name) => name.startsWith('tfjs-embeddings-'))).toEqual([]);
  });

  for (const [i, target] of TARGETS.entries()) {
    const { name, platform, arch, libc } = target as typeof target & { libc?: 'glibc' | 'musl' };

    // One at a time, as each may take minutes.
    it(
      `are made: ${name}`,
      async () => {
        packages.push(...(await prebuilt(name)));
        expect(packages[i]!.name).toBe(`tfjs-embeddings-${name}`);
      },
      timeToPrebuild(1),
    );

    it(`say where they run and what they hold: ${name}`, () => {
      const { folder, addon } = packages[i]!;
      expect(readdirSync(folder).sort()).toEqual([
        'LICENSE',
        'README.md',
        'licenses.md',
        'package.json',
        'tfjs_embeddings.node',
      ]);
      const manifest = manifestIn(folder);
      expect([manifest.os, manifest.cpu, manifest.libc]).toEqual([[platform], [arch], libc && [libc]] as never);
      for (const field of ['version', 'license', 'repository', 'engines']) expect(manifest[field]).toEqual(main[field]);
      for (const field of ['scripts', 'dependencies', 'bin', 'main']) expect(manifest[field]).toBeUndefined();
      const sha256 = createHash('sha256').update(readFileSync(addon)).digest('hex');
      expect(manifest.addon).toEqual({ file: 'tfjs_embeddings.node', bytes: statSync(addon).size, sha256 });
      expect(statSync(addon).size).toBeLessThan(MOST_BYTES);
    });

    it(`hand out the same functions and ask for nothing but the system: ${name}`, async () => {
      const { addon } = packages[i]!;
      const { exports, libraries, names, glibc } = await READERS[platform as keyof typeof READERS](addon);
      expect(exports.sort()).toEqual(EXPORTS);
      const known = LIBRARIES[libc ?? (platform as 'darwin' | 'win32')];
      expect(libraries.length).toBeGreaterThan(0);
      expect(libraries.filter((library) => !known.test(library))).toEqual([]);
      expect(names).toEqual([]);
      expect(Math.max(0, ...glibc)).toBeLessThanOrEqual(OLDEST_GLIBC);
      expect(glibc.length > 0).toBe(libc === 'glibc');
    });

    it(`hold no path of the machine that made them, and every function of JavaScript: ${name}`, () => {
      const bytes = readFileSync(packages[i]!.addon);
      expect(bytes.includes(ROOT)).toBeFalse();
      expect(bytes.includes('custom-ops')).toBeFalse();
      for (const each of ['embeddingBag', 'sparseApplyMany', 'finishRunsAsync']) {
        expect(bytes.includes(`${each}\0`))
          .withContext(each)
          .toBeTrue();
      }
    });
  }
});
