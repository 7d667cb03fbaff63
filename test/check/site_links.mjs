/** Checks the site that TypeDoc wrote: `node test/check/site_links.mjs [FOLDER]`. Each link leads to a file and an id. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inflateSync } from 'node:zlib';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

const decoded = (text) => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");

/** Targets of a page's links and images, those of other sites left out, and the ids that links may name. */
function readPage(path) {
  const html = readFileSync(path, 'utf8');
  const targets = [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, target]) => decoded(target));
  return {
    targets: targets.filter((target) => !/^[a-z]+:/.test(target)),
    ids: new Set([...html.matchAll(/ (?:id|name)="([^"]*)"/g)].map(([, id]) => decoded(id))),
  };
}

/** Paths in the navigation, which is data in a script. */
function navigationPaths(folder) {
  const script = readFileSync(join(folder, 'assets/navigation.js'), 'utf8');
  const [, data] = /"([^"]+)"/.exec(script);
  const found = [];
  const visit = ({ path, children }) => {
    if (path !== undefined) found.push(path);
    (children ?? []).forEach(visit);
  };
  JSON.parse(inflateSync(Buffer.from(data, 'base64')).toString()).forEach(visit);
  return found;
}

/**
 * @param {string} folder - The site.
 * @returns What is wrong, one sentence for each link, and how many links and pages were looked at.
 */
export function checkSite(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.html'));
  const pages = new Map(files.map((name) => [join(folder, name), readPage(join(folder, name))]));
  const complaints = new Set();
  let links = 0;
  const check = (from, target) => {
    links += 1;
    const [path, id] = target.split('#');
    const file = path === '' ? from : resolve(dirname(from), decodeURIComponent(path.split('?')[0]));
    const where = relative(folder, from);
    if (!existsSync(file)) complaints.add(`${where}: ${target} is missing`);
    else if (id && pages.has(file) && !pages.get(file).ids.has(decodeURIComponent(id))) {
      complaints.add(`${where}: ${target} names no id`);
    }
  };
  for (const [path, { targets }] of pages) for (const target of targets) check(path, target);
  const navigation = navigationPaths(folder);
  for (const path of navigation) check(join(folder, 'index.html'), path);
  if (navigation.length === 0 || pages.size === 0) complaints.add('the site has no pages or no navigation');
  return { complaints: [...complaints], links, pages: pages.size };
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) {
  const { complaints, links, pages } = checkSite(resolve(argv[2] ?? join(ROOT, 'docs', 'site')));
  for (const complaint of complaints) console.error(complaint);
  console.log(`site: ${links} links of ${pages} pages, ${complaints.length} complaints`);
  process.exitCode = complaints.length === 0 ? 0 : 1;
}
