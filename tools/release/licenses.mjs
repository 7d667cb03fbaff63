/** docs/licenses.md: what is shipped beside our own sources, and under which licences. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const LICENSES_PAGE = join(ROOT, 'docs', 'licenses.md');

/** Licences of dependencies that ask for nothing but their notice. */
const PERMITTED = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'Zlib'];

/** Dependencies that name no SPDX licence: what their file says, by its first words. */
const IN_FILES = {
  jsfive: ['jsfive is in the public domain', 'public domain; after pyfive, Copyright (c) 2016 Jonathan J. Helmus'],
};

const json = (path) => JSON.parse(readFileSync(path, 'utf8'));
const installed = (name) => join(ROOT, 'node_modules', name);

/** @returns {string[]} Packages that bundles of `dist` hold parts of, as their source maps say. */
export function bundledPackages(dist = join(ROOT, 'dist')) {
  const maps = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.map'));
  if (maps.length === 0) throw new Error(`${dist} holds no source maps: npm run bundle makes them`);
  const sources = maps.flatMap((name) => json(join(dist, name)).sources);
  const names = sources.map((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

/** @returns {string[]} What npm installs with the package, dependencies of dependencies too. */
export function dependencies() {
  const { packages } = json(join(ROOT, 'package-lock.json'));
  const shipped = Object.entries(packages).filter(
    ([path, { dev, devOptional, peer, optional }]) =>
      path !== '' && dev !== true && devOptional !== true && peer !== true && optional !== true,
  );
  return shipped.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)).sort();
}

function licenceFile(name) {
  const file = readdirSync(installed(name)).find((each) => /^licen[cs]e(\.|$)/i.test(each));
  return file === undefined ? null : readFileSync(join(installed(name), file), 'utf8');
}

/** @returns {string} The licence of an installed package; throws for one that nobody has looked at. */
export function licenceOf(name) {
  const { license } = json(join(installed(name), 'package.json'));
  const known = IN_FILES[name];
  if (known !== undefined) {
    if (licenceFile(name)?.includes(known[0]) !== true)
      throw new Error(`${name}: its licence is no longer ${known[1]}`);
    return known[1];
  }
  const parts = String(license)
    .replace(/[()]/g, '')
    .split(/ (?:AND|OR) /);
  const unknown = parts.find((part) => !PERMITTED.includes(part));
  if (unknown !== undefined) throw new Error(`${name}: nobody has looked at its licence yet: ${unknown}`);
  return parts.join(' AND ');
}

/** The notices that a bundled package asks to be kept: its licence, or those at the head of its files. */
function noticeOf(name) {
  const file = licenceFile(name);
  if (file !== null) return [file.trim()];
  const [folder] = ['dist/esm', 'dist', 'src', ''].map((each) => join(installed(name), each)).filter(existsSync);
  const heads = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.m?js$/.test(path))
    .map((path) => /^(?:\/\/.*\n)+/.exec(readFileSync(join(folder, path), 'utf8'))?.[0] ?? '')
    .filter((head) => /copyright/i.test(head));
  const texts = heads.map((head) => head.replace(/^\/\/ ?/gm, '').trim());
  return [...new Set(texts)].sort();
}

/** As a block of text, which is no program. */
const inText = (text) => text.trim().replace(/^(?=.)/gm, '    ');
const row = (...cells) => `| ${cells.join(' | ')} |`;

/** @returns {Promise<string>} The page. */
export async function licensesPage() {
  const parts = json(fileURLToPath(new URL('compiled_parts.json', import.meta.url)));
  const bundled = bundledPackages();
  const compiled = parts.map(({ part, within, license, exception, copyright }) => {
    const terms = exception === undefined ? license : `${license}, ${exception}`;
    return row(part, within, terms, copyright.join('; '));
  });
  const inBundles = bundled.map((name) => row(`\`${name}\``, 'dist/tfjs-embeddings.min.js', licenceOf(name)));
  const installedToo = dependencies().map((name) => row(`\`${name}\``, licenceOf(name)));
  const notices = bundled.map((name) => [`### ${name}`, ...noticeOf(name).map(inText)]);
  const page = [
    '# Licences',
    'This package is under the Apache License 2.0 (LICENSE). This page lists what of others is within its files and those of its platform packages, and what npm installs with it. `npm run release -- --licenses` writes it; a test holds it against the source maps of the bundles and package-lock.json.',
    '## Within the bundles',
    [row('package', 'file', 'licence'), row('---', '---', '---'), ...inBundles].join('\n'),
    '## Within compiled files',
    'What compilers put into the addons and the WebAssembly module besides our own sources.',
    [row('part', 'where', 'licence', 'copyright'), row('---', '---', '---', '---'), ...compiled].join('\n'),
    '## Installed beside it',
    'Dependencies, which bring their licences in packages of their own. TensorFlow.js is a peer dependency (Apache-2.0).',
    [row('package', 'licence'), row('---', '---'), ...installedToo].join('\n'),
    '## Notices',
    ...notices.flat(),
    ...['MIT', 'ZPL-2.1'].flatMap((name) => [
      `### ${name}`,
      'Of the compiled parts above that are under it, each with its copyright.',
      inText(readFileSync(fileURLToPath(new URL(`notices/${name}.txt`, import.meta.url)), 'utf8')),
    ]),
  ].join('\n\n');
  return format(page, { ...(await resolveConfig(LICENSES_PAGE)), parser: 'markdown' });
}
