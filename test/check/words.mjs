/** Checks that the tree names no package registry and no path of the machine it was written on. */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesOf } from './tree.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Clients find registries through the machine's own configuration. Written in pieces, so as not to find itself. */
const HOSTS = [
  ['pypi', 'org'],
  ['pythonhosted', 'org'],
  ['registry', 'npmjs', 'org'],
  ['registry', 'yarnpkg', 'com'],
  ['npmmirror', 'com'],
].map((labels) => labels.join('.'));

const PATTERNS = [
  ...HOSTS.map((host) => ({ what: `the registry ${host}`, test: (text) => text.includes(host) })),
  { what: 'a path of one machine', test: (text) => /(^|[\s'"`(=:])\/(work|home|root)\/\w/m.test(text) },
  { what: 'a token', test: (text) => /_authToken\s*=|_auth\s*=/.test(text) },
];

const complaints = [];
const paths = filesOf(root);
for (const path of paths) {
  const text = readFileSync(join(root, path), 'latin1');
  if (text.includes('\0')) continue; // binary
  for (const { what, test } of PATTERNS) if (test(text)) complaints.push(`${path} names ${what}`);
}
for (const complaint of complaints) console.error(complaint);
console.log(`words: ${paths.length} files, ${complaints.length} complaints`);
process.exitCode = complaints.length === 0 ? 0 : 1;
