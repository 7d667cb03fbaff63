/** The workflows, which nobody has run yet: the platforms that they name, and the order in which packages are published. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TARGETS, TENSORFLOW_TARGETS } from '../../custom-ops/prebuild/targets.mjs';
import { ROOT } from '../helpers/project.js';

const workflow = (name: string): string => readFileSync(join(ROOT, '.github', 'workflows', `${name}.yml`), 'utf8');

/** The values of a list in brackets. */
function listed(text: string, key: string): string[] {
  return new RegExp(`${key}: \\[([^\\]]*)\\]`)
    .exec(text)![1]!
    .split(',')
    .map((each) => each.trim());
}

describe('the workflow of tests', () => {
  it('runs on every platform with a package of its own, with every Node that is taken', () => {
    const text = workflow('ci');
    const platforms = new Set(TARGETS.map(({ platform, arch }) => `${platform}-${arch}`));
    expect(new Set(listed(text, 'platform'))).toEqual(platforms);
    for (const platform of platforms) expect(text).toMatch(new RegExp(`\\{ platform: ${platform}, runner: \\S+ \\}`));
    expect(listed(text, 'node')).toEqual(['20', '22', '24']);
    expect(text).toContain('bash .ci/run');
    expect(text).toContain('has not been run yet');
  });
});

describe('the workflow of releases', () => {
  const text = workflow('release');

  it('publishes what was built and checked, with provenance and without a token', () => {
    for (const step of ['npm run check', 'npm run prebuild', 'npm run release -- --twice', '--output release']) {
      expect(text).toContain(step);
    }
    expect(text).toContain('id-token: write');
    expect(text).not.toMatch(/secrets\.|NODE_AUTH_TOKEN/);
    expect(text).toContain('has not been run yet');
    const published = [...text.matchAll(/npm publish (.*)/g)].map(([, args]) => args!);
    expect(published.length).toBe(2);
    for (const args of published) expect(args).toContain('--provenance');
  });

  it('publishes the wheel of the library that is compiled for old systems', () => {
    const [target] = TENSORFLOW_TARGETS.filter(({ arch }) => arch === 'x64');
    expect(text).toContain(`--library custom-ops/build/packages/tfjs-embeddings-${target!.name}/tfjs_embeddings.node`);
    expect(text.indexOf('npm run wheel')).toBeGreaterThan(text.indexOf('npm run prebuild'));
    // Its checksum stands among the others.
    expect(text.indexOf('--output release')).toBeGreaterThan(text.indexOf('npm run wheel'));
    expect(text).toContain('pypa/gh-action-pypi-publish');
  });

  it('publishes the main package last', () => {
    const [platforms, main] = [
      text.indexOf('npm publish --provenance --access public "$archive"'),
      text.lastIndexOf('"$main"'),
    ];
    expect(platforms).toBeGreaterThan(0);
    expect(main).toBeGreaterThan(platforms);
  });
});
