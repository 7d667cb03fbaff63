// @ts-check
/**
 * The check of formats: `node test/check/format.mjs [KEPT]`. Every file that git lists and prettier knows is as prettier
 * writes it. KEPT: a file of hashes of what was found formatted, which is not looked at again.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as prettier from 'prettier';
import { hashOf, readStamp, writeStamp } from '../../custom-ops/setup/stamp.mjs';
import { filesOf } from './tree.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [kept] = process.argv.slice(2);

/**
 * Babel reads TypeScript in half the time of the parser that `prettier --write` has, and the texts that both give are the
 * same; what is not as it writes it, or what it cannot read, is for the other one to say.
 * @param {string} text
 * @param {prettier.Options} options
 * @returns {Promise<boolean>}
 */
async function isFormatted(text, options) {
  if (options.parser !== 'typescript') return prettier.check(text, options);
  const quick = await prettier.check(text, { ...options, parser: 'babel-ts' }).catch(() => false);
  return quick || prettier.check(text, options);
}

const known = new Set(/** @type {string[]} */ ((kept === undefined ? null : readStamp(join(ROOT, kept))) ?? []));
/** @type {Set<string>} */
const formatted = new Set();
const complaints = [];
let count = 0;
for (const path of filesOf(ROOT)) {
  const file = join(ROOT, path);
  const { ignored, inferredParser } = await prettier.getFileInfo(file, {
    ignorePath: [join(ROOT, '.prettierignore'), join(ROOT, '.gitignore')],
    resolveConfig: false,
  });
  if (ignored || inferredParser === null) continue;
  count++;
  const settings = await prettier.resolveConfig(file, { editorconfig: true });
  const options = { ...settings, filepath: file, parser: settings?.parser ?? inferredParser };
  const text = readFileSync(file, 'utf8');
  const hash = hashOf(`${prettier.version} ${JSON.stringify({ ...options, filepath: path })}\n${text}`);
  try {
    if (known.has(hash) || (await isFormatted(text, options))) formatted.add(hash);
    else complaints.push(`${path} is not as prettier writes it: npm run format`);
  } catch (error) {
    complaints.push(`${path}: ${error instanceof Error ? error.message : error}`);
  }
}
if (kept !== undefined) writeStamp(join(ROOT, kept), [...formatted]);
for (const complaint of complaints) console.error(complaint);
console.log(`formats: ${count} files, ${complaints.length} complaints`);
process.exitCode = complaints.length === 0 ? 0 : 1;
