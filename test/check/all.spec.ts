/** The parts of `npm run check` on a small project: it passes, and one broken file fails its part and no other. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../helpers/project.js';

const SETTINGS = ['.prettierrc.json', '.prettierignore', '.editorconfig', '.gitignore', '.oxlintrc.json', 'LICENSE'];
/** All but the declared types, which need a build and a release: their specs lie in tools/release. */
const PARTS = ['API docs', 'tsc', 'prettier', 'imports', 'oxlint', 'words'];

const INDEX = `/** The public names. */
export { double } from './base/double.js';
`;
const DOUBLE = `/**
 * Twice a number, see {@link double}.
 * @param value - The number.
 * @returns Twice that.
 */
export function double(value: number): number {
  return 2 * value;
}
`;
const FLOORS = `# Architecture

## Rooms

| room       | what |
| ---------- | ---- |
| \`node.ts\`  | Node |
| \`index.ts\` | all  |
| \`base/\`    | some |
`;

describe('npm run check', () => {
  let folder = '';

  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };

  /** How each part ended, and all that was said. */
  function check(parts: readonly string[], ci = ''): { readonly ends: Map<string, string>; readonly said: string } {
    const args = [join(folder, 'test/check/all.mjs'), ...parts];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, CI: ci, NODE_OPTIONS: '' },
    });
    const last = stdout.trimEnd().split('\n').at(-2) ?? '';
    const ends = new Map(
      last.split(', ').map((end) => {
        const [, name, how] = /^(.*) (passed|FAILED|unchanged)/.exec(end) ?? [];
        return [name!, how!];
      }),
    );
    expect(status).toBe([...ends.values()].includes('FAILED') ? 1 : 0);
    return { ends, said: stdout + stderr };
  }

  /** What a part says of a file with another text, which is then as it was. */
  function saidOf(part: string, path: string, text: string): string {
    const before = readFileSync(join(folder, path), 'utf8');
    write(path, text);
    const { ends, said } = check([part]);
    write(path, before);
    expect([...ends]).toEqual([[part, 'FAILED']]);
    return said;
  }

  const allAre = (how: string): [string, string][] => PARTS.map((part) => [part, how]);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-check-'));
    for (const path of SETTINGS) cpSync(join(ROOT, path), join(folder, path));
    cpSync(join(ROOT, 'test/check'), join(folder, 'test/check'), {
      recursive: true,
      filter: (path) => !/\.spec\.ts$|api\.mjs$/.test(path),
    });
    for (const name of ['stamp.mjs', 'unfinished.mjs']) {
      cpSync(join(ROOT, 'custom-ops/setup', name), join(folder, 'custom-ops/setup', name));
    }
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const tsconfig = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as {
      compilerOptions: Record<string, unknown>;
    };
    // What is kept lies with this project.
    const compilerOptions = { ...tsconfig.compilerOptions, paths: {}, tsBuildInfoFile: '.cache/tsbuildinfo.json' };
    write('tsconfig.json', `${JSON.stringify({ compilerOptions, include: ['src'] }, null, 2)}\n`);
    const typedoc = JSON.parse(readFileSync(join(ROOT, 'typedoc.json'), 'utf8')) as Record<string, unknown>;
    // The theme asks for pages of this project.
    for (const own of ['plugin', 'theme', 'customCss', 'customJs']) delete typedoc[own];
    const small = { ...typedoc, projectDocuments: ['docs/*.md'], intentionallyNotExported: [] };
    write('typedoc.json', `${JSON.stringify(small)}\n`);
    write('package.json', '{ "name": "small", "version": "1.0.0", "type": "module" }\n');
    write('README.md', '# Small\n\nSee [how it is built](docs/architecture.md).\n');
    write('docs/architecture.md', FLOORS);
    write('src/base/double.ts', DOUBLE);
    write('src/index.ts', INDEX);
    write('src/node.ts', "/** The names for Node. */\nexport * from './index.js';\n");
    spawnSync(process.execPath, [join(ROOT, 'node_modules/prettier/bin/prettier.cjs'), '--write', '.'], {
      cwd: folder,
    });
    execFileSync('git', ['init', '-q'], { cwd: folder });
  }, 60_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('passes, and does not look again at what did not change, but in CI', () => {
    const first = check(PARTS);
    expect([...first.ends])
      .withContext(first.said)
      .toEqual(allAre('passed'));
    expect([...check(PARTS).ends]).toEqual(allAre('unchanged'));
    write('docs/architecture.md', `${readFileSync(join(folder, 'docs/architecture.md'), 'utf8')}\nMore.\n`);
    const read = new Set(['prettier', 'API docs', 'imports', 'words']);
    expect([...check(PARTS).ends]).toEqual(PARTS.map((part) => [part, read.has(part) ? 'passed' : 'unchanged']));
    expect([...check(PARTS, 'true').ends]).toEqual(allAre('passed'));
  }, 240_000);

  it('fails where types, lint, format, links, imports or words are wrong', () => {
    expect(saidOf('tsc', 'src/index.ts', `${INDEX}export const three: string = 3;\n`)).toContain('TS2322');
    const unused = DOUBLE.replace('  return', '  let unused = 1;\n  return');
    expect(saidOf('oxlint', 'src/base/double.ts', unused)).toContain('no-unused-vars');
    const loose = DOUBLE.replace('2 * value', '2*value');
    expect(saidOf('prettier', 'src/base/double.ts', loose)).toContain(
      'src/base/double.ts is not as prettier writes it',
    );
    const broken = DOUBLE.replace('return 2', 'return (2');
    expect(saidOf('prettier', 'src/base/double.ts', broken)).toContain("src/base/double.ts: ')' expected");
    const lost = DOUBLE.replace('{@link double}', '{@link nothing}');
    expect(saidOf('API docs', 'src/base/double.ts', lost)).toContain('nothing');
    const silent = DOUBLE.replace(' * @param value - The number.\n', '');
    expect(saidOf('API docs', 'src/base/double.ts', silent)).toContain('lacks @param value');
    expect(saidOf('API docs', 'README.md', '# Small\n\n[gone](docs/gone.md)\n')).toContain('docs/gone.md');
    expect(saidOf('imports', 'src/base/double.ts', `import '../index.js';\n${DOUBLE}`)).toContain('circular import');
    expect(saidOf('words', 'README.md', `# Small\n\nSee ${'/ro'}ot/here.\n`)).toContain('a path of one machine');
    // What failed is run again, although its files are those of when it passed.
    expect([...check(['imports', 'words']).ends.values()]).toEqual(['passed', 'passed']);
  }, 240_000);

  it('knows its parts by name', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'test/check/all.mjs'), 'lint'], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([
      2,
      `There is no part named lint: ${[...PARTS.slice(0, 2), 'declared types', ...PARTS.slice(2)].join(', ')}\n`,
    ]);
  });
});
