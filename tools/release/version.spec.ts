/** What a release changes, and when it is refused; the programs that make its files. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../test/helpers/project.js';
import { announced } from './changelog.mjs';
import { bundledPackages, dependencies, licensesPage, LICENSES_PAGE } from './licenses.mjs';
import { writeOutput } from './output.mjs';
import { objections, released } from './version.mjs';

const CHANGELOG = `# Changelog

## 0.2.0 (unreleased)

- Something new.

## 0.1.0 (2026-11-23)

First version.
`;
const PLATFORM = 'tfjs-embeddings-linux-x64';
const MANIFEST = {
  name: 'tfjs-embeddings',
  version: '0.1.0',
  dependencies: { h5wasm: '0.1.0' },
  optionalDependencies: { [PLATFORM]: '0.1.0', other: '0.1.0' },
};
const LOCK = {
  name: 'tfjs-embeddings',
  version: '0.1.0',
  packages: {
    '': MANIFEST,
    'node_modules/h5wasm': { version: '0.1.0' },
    [`node_modules/${PLATFORM}`]: { version: '0.1.0', optional: true, os: ['linux'] },
  },
};
const STATE = {
  version: '0.2.0',
  last: '0.1.0',
  manifest: JSON.stringify(MANIFEST),
  lock: JSON.stringify(LOCK),
  changelog: CHANGELOG,
  breaks: [{ what: 'f', how: 'is gone' }],
  unlisted: [] as { what: string; how: string }[],
  changed: [] as string[],
};

describe('a release', () => {
  it('is not refused where its number says what it breaks, all is committed and the changelog tells of it', () => {
    expect(objections(STATE)).toEqual([]);
  });

  it('is refused with a number that hides a break', () => {
    const changelog = CHANGELOG.replace('0.2.0', '0.1.1');
    const [reason, ...rest] = objections({ ...STATE, version: '0.1.1', changelog });
    expect(reason).toBe('0.1.1: 1 breaks of 0.1.0 ask for 0.2.0 at least');
    expect(rest).toEqual([]);
    expect(objections({ ...STATE, version: '0.1.1', changelog, breaks: [] })).toEqual([]);
  });

  it('is refused with the number of the last one, and with what is no number', () => {
    expect(objections({ ...STATE, version: '0.1.0', breaks: [] })).toContain('0.1.0: 0.1.0 asks for 0.1.1 at least');
    for (const version of ['1.0', 'v1.2.3', '1.2.3-beta', '']) {
      expect(objections({ ...STATE, version })).toEqual([jasmine.stringContaining('is no version')]);
    }
  });

  it('is refused for breaks that nobody has given a reason for', () => {
    expect(objections({ ...STATE, unlisted: STATE.breaks })).toEqual([
      'tools/release/deliberate.json does not list f, which is gone',
    ]);
  });

  it('is refused with changes that are not committed', () => {
    expect(objections({ ...STATE, changed: ['src/a.ts', 'b'] })).toEqual(['not committed: src/a.ts, b']);
  });

  it('is refused where the changelog says nothing, tells of another version, or of none that is to come', () => {
    const said = (changelog: string): string[] => objections({ ...STATE, changelog });
    expect(said(CHANGELOG.replace('- Something new.\n\n', ''))).toEqual(['CHANGELOG.md says nothing of 0.2.0']);
    expect(said(CHANGELOG.replace('0.2.0', '0.3.0'))).toEqual(['CHANGELOG.md announces 0.3.0, not 0.2.0']);
    expect(said(CHANGELOG.replace('unreleased', '2026-11-27'))).toEqual([
      jasmine.stringContaining('nothing is unreleased'),
    ]);
  });

  it('sets the version of the package and of its platform packages, and the date, and nothing else', () => {
    const files = released(STATE, '2026-12-01');
    const named = { [PLATFORM]: '0.2.0', other: '0.1.0' };
    const manifest = { ...MANIFEST, version: '0.2.0', optionalDependencies: named };
    expect(JSON.parse(files['package.json'])).toEqual(manifest);
    expect(JSON.parse(files['package-lock.json'])).toEqual({
      ...LOCK,
      version: '0.2.0',
      packages: {
        '': manifest,
        'node_modules/h5wasm': { version: '0.1.0' },
        [`node_modules/${PLATFORM}`]: { version: '0.2.0', optional: true, os: ['linux'] },
      },
    });
    expect(files['CHANGELOG.md']).toBe(CHANGELOG.replace('unreleased', '2026-12-01'));
  });

  it('leaves the files of this tree as npm and prettier have them', () => {
    const state = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
    const { version } = JSON.parse(state('package.json')) as { version: string };
    const [manifest, lock] = [state('package.json'), state('package-lock.json')];
    const files = released({ version, manifest, lock, changelog: state('CHANGELOG.md') }, '2026-12-01');
    expect(files['package.json']).toBe(manifest);
    expect(files['package-lock.json']).toBe(lock);
  });

  it('reads the head of the changelog', () => {
    expect(announced(CHANGELOG)).toEqual({
      version: '0.2.0',
      isReleased: false,
      heading: '## 0.2.0 (unreleased)',
      body: '- Something new.',
    });
    expect(() => announced('# Changelog\n')).toThrowError(/no heading/);
  });
});

describe('what is shipped', () => {
  it('has its licences in docs/licenses.md, which `npm run release -- --licenses` writes', async () => {
    expect(bundledPackages()).toEqual(['@bufbuild/protobuf']);
    expect(dependencies()).toEqual(jasmine.arrayContaining(['@bufbuild/protobuf', 'fzstd', 'jsfive']));
    expect(dependencies()).not.toContain('h5wasm');
    expect(readFileSync(LICENSES_PAGE, 'utf8')).toBe(await licensesPage());
  });

  it('is packed with its bill of materials and checksums', () => {
    const folder = mkdtempSync(join(tmpdir(), 'release output '));
    const names = writeOutput(folder);
    expect(names).toEqual(jasmine.arrayContaining(['SHA256SUMS', 'licenses.md', 'sbom.cdx.json']));
    expect(names.sort()).toEqual(readdirSync(folder).sort());
    for (const line of readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n')) {
      const [sum, name] = line.split('  ');
      expect(
        createHash('sha256')
          .update(readFileSync(join(folder, name!)))
          .digest('hex'),
      ).toBe(sum!);
    }
    const bill = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as {
      bomFormat: string;
      metadata: { component: { name: string; type: string }; timestamp?: string };
      components: { group?: string; name: string; version: string; purl: string }[];
    };
    expect(bill.bomFormat).toBe('CycloneDX');
    expect(bill.metadata.component).toEqual(jasmine.objectContaining({ name: 'tfjs-embeddings', type: 'library' }));
    expect(bill.metadata.timestamp).toBeUndefined();
    const listed = bill.components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`));
    expect(listed.sort()).toEqual(dependencies());

    // The same bytes at another time, from files that were touched since.
    const touched = join(ROOT, 'dist', 'kernels.wasm');
    const { atime, mtime } = statSync(touched);
    utimesSync(touched, new Date(), new Date());
    const again = mkdtempSync(join(tmpdir(), 'again '));
    writeOutput(again);
    utimesSync(touched, atime, mtime);
    const sums = [folder, again].map((each) => readFileSync(join(each, 'SHA256SUMS'), 'utf8'));
    expect(sums[1]).toBe(sums[0]!);
    for (const each of [folder, again]) rmSync(each, { recursive: true });
  }, 240_000);
});
