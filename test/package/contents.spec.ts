/** What npm packs, beside a list that was read: `TFJS_EMBEDDINGS_APPROVE=1 npm test -- package/contents` writes it anew. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../helpers/project.js';

const LIST = fileURLToPath(new URL('packed_files.txt', import.meta.url));

/** What there is many of, whose names change with their content or with the sources. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^dist\/chunks\/[\w.]+-[\w-]{8}(\.d\.[cm]?ts|\.[cm]js(\.map)?)$/, 'dist/chunks/NAME-HASH$1'],
  [/^custom-ops\/(kernels|hosts)\/(?:\w+\/)*\w+(\.(?:c|cc|h|def))$/, 'custom-ops/$1/**/*$2'],
];

function packedFiles(): string[] {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const shell = process.platform === 'win32';
  const { stdout } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26, shell });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const kinds = files.map(({ path }) => {
    const [pattern, kind] = KINDS.find(([each]) => each.test(path)) ?? [null, path];
    return pattern === null ? path : path.replace(pattern, kind);
  });
  return [...new Set(kinds)].sort();
}

describe('what npm packs', () => {
  it('is what the list has that was read', () => {
    const found = packedFiles();
    if (process.env['TFJS_EMBEDDINGS_APPROVE'] === '1') writeFileSync(LIST, `${found.join('\n')}\n`);
    const listed = readFileSync(LIST, 'utf8').trim().split('\n');
    expect(found.filter((path) => !listed.includes(path)))
      .withContext('not listed')
      .toEqual([]);
    expect(listed.filter((path) => !found.includes(path)))
      .withContext('not packed')
      .toEqual([]);
  });
});
