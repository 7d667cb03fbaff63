/** Links within README, docs and the pages of models lead somewhere, and the README leads to every page of docs. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../helpers/project.js';
import { anchorsOf, linksOf } from './markdown_links.js';

const MODELS = readdirSync(join(ROOT, 'models'), { withFileTypes: true }).filter((each) => each.isDirectory());
const FOLDERS = ['.', 'docs', ...MODELS.map(({ name }) => join('models', name))];
const PAGES = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => relative(ROOT, join(ROOT, folder, name))),
);

const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** What is wrong with the links of a page. */
function complaintsOf(page: string): string[] {
  return linksOf(textOf(page)).flatMap(({ path, anchor }) => {
    const target = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(ROOT, target))) return [`${page}: ${path} is missing`];
    if (anchor === '' || anchorsOf(textOf(target)).includes(anchor)) return [];
    return [`${page}: ${target} has no heading #${anchor}`];
  });
}

describe('links of pages', () => {
  it('are read from text, not from code', () => {
    const text = '[a](b.md#c) `[0](1)` [d](https://e.f)\n```js\nx[0](1)\n```\n[g](#h)';
    expect(linksOf(text)).toEqual([
      { path: 'b.md', anchor: 'c' },
      { path: '', anchor: 'h' },
    ]);
    expect(anchorsOf('# A `b`, c\n```\n# no\n```\n## D_e')).toEqual(['a-b-c', 'd_e']);
  });

  it('lead to files and headings', () => {
    expect(PAGES.length).toBeGreaterThan(15);
    expect(PAGES.flatMap(complaintsOf)).toEqual([]);
  });

  it('lead from the README to every page of docs', () => {
    const reached = new Set<string>();
    const visit = (page: string): void => {
      if (reached.has(page)) return;
      reached.add(page);
      const targets = linksOf(textOf(page)).map(({ path }) => join(dirname(page), path));
      targets.filter((target) => target.endsWith('.md') && existsSync(join(ROOT, target))).forEach(visit);
    };
    visit('README.md');
    expect(PAGES.filter((page) => !reached.has(page))).toEqual([]);
  });

  it('take at most 150 lines of README to get to', () => {
    expect(textOf('README.md').split('\n').length).toBeLessThanOrEqual(150);
  });
});
