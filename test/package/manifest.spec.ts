/** package.json: one address of the repository, as docs/releasing.md says, and nothing in the archive that is not meant. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../helpers/project.js';

interface Manifest {
  readonly homepage: string;
  readonly repository: { readonly type: string; readonly url: string };
  readonly bugs: { readonly url: string };
  readonly files: readonly string[];
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

/** The address that docs/releasing.md names. */
function documentedAddress(): string {
  const text = readFileSync(join(ROOT, 'docs', 'releasing.md'), 'utf8');
  const [, section] = /## The address of the repository\n([^]*?)\n## /.exec(text)!;
  return /`(https:[^`]+)`/.exec(section!)![1]!;
}

describe('package.json', () => {
  it('names the address of docs/releasing.md as repository, homepage and place of bugs', () => {
    const address = documentedAddress();
    expect(manifest.repository).toEqual({ type: 'git', url: `git+${address}.git` });
    expect(manifest.homepage).toBe(`${address}#readme`);
    expect(manifest.bugs).toEqual({ url: `${address}/issues` });
  });

  it('publishes the pages, and not what makes their site', () => {
    expect(manifest.files).toEqual(jasmine.arrayContaining(['docs/*.md', 'docs/examples', 'models/**/README.md']));
    expect(manifest.files).not.toContain('docs');
  });
});
