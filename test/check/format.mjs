// @ts-check
/**
 * The check of formats: `node test/check/format.mjs [KEPT]`. Every file that git lists and prettier knows is as prettier
 * writes it. KEPT: a file of hashes of what was found formatted, which is not looked at again.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import * as prettier from 'prettier';
import { hashOf, readStamp, writeStamp } from '../../custom-ops/setup/stamp.mjs';
import { filesOf } from './tree.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OXFMT = fileURLToPath(new URL('../../node_modules/oxfmt/bin/oxfmt', import.meta.url));
/** Parsers of files that oxfmt writes as prettier does. */
const OF_OXFMT = ['typescript', 'babel'];
const [kept] = process.argv.slice(2);

/**
 * Those of these files that oxfmt would leave as they are. It takes a second for what prettier takes half a minute for, and
 * prettier looks at the others: what oxfmt would write in another way, and all where it cannot read one.
 * @param {readonly string[]} paths
 * @returns {Promise<Set<string>>}
 */
async function leftByOxfmt(paths) {
  if (paths.length === 0) return new Set();
  const folder = mkdtempSync(join(tmpdir(), 'format-'));
  try {
    const config = join(folder, 'oxfmt.json');
    writeFileSync(config, JSON.stringify(await prettier.resolveConfig(join(ROOT, 'package.json'))));
    const args = [OXFMT, '-c', config, '--check', ...paths];
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
    const said = stripVTControlCharacters(String(stdout));
    const [, count] = / on (\d+) files? using/.exec(said) ?? [];
    const [, issues = 0] = /^Format issues found in above (\d+) files?/m.exec(said) ?? [];
    const others = new Set(Array.from(said.matchAll(/^(.+) \([^()]+\)$/gm), ([, path]) => path));
    const left = paths.filter((path) => !others.has(path));
    // What it passes over in silence, or names in words that are not known here, is not what it found formatted.
    const isWhole = Number(count) === paths.length && Number(issues) === paths.length - left.length;
    return new Set(status === (others.size === 0 ? 0 : 1) && isWhole ? left : []);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const known = new Set(/** @type {string[]} */ ((kept === undefined ? null : readStamp(join(ROOT, kept))) ?? []));
const files = [];
for (const path of filesOf(ROOT)) {
  const file = join(ROOT, path);
  const { ignored, inferredParser } = await prettier.getFileInfo(file, {
    ignorePath: [join(ROOT, '.prettierignore'), join(ROOT, '.gitignore')],
    resolveConfig: false,
  });
  if (ignored || inferredParser === null) continue;
  const settings = await prettier.resolveConfig(file, { editorconfig: true });
  const options = { ...settings, filepath: file, parser: settings?.parser ?? inferredParser };
  const text = readFileSync(file, 'utf8');
  const hash = hashOf(`${prettier.version} ${JSON.stringify({ ...options, filepath: path })}\n${text}`);
  files.push({ path, text, options, hash });
}
const unknown = files.filter(({ hash }) => !known.has(hash));
const quick = await leftByOxfmt(
  unknown.filter(({ options }) => OF_OXFMT.includes(String(options.parser))).map(({ path }) => path),
);
const complaints = [];
/** @type {Set<string>} */
const formatted = new Set(files.filter(({ hash }) => known.has(hash)).map(({ hash }) => hash));
for (const { path, text, options, hash } of unknown) {
  try {
    if (quick.has(path) || (await prettier.check(text, options))) formatted.add(hash);
    else complaints.push(`${path} is not as prettier writes it: npm run format`);
  } catch (error) {
    complaints.push(`${path}: ${error instanceof Error ? error.message : error}`);
  }
}
if (kept !== undefined) writeStamp(join(ROOT, kept), [...formatted]);
for (const complaint of complaints) console.error(complaint);
console.log(`formats: ${files.length} files, ${complaints.length} complaints`);
process.exitCode = complaints.length === 0 ? 0 : 1;
