/** The head of CHANGELOG.md: which version is announced, and what it says of it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const CHANGELOG = fileURLToPath(new URL('../../CHANGELOG.md', import.meta.url));
const HEAD = /^## (\d+\.\d+\.\d+) \((unreleased|\d{4}-\d{2}-\d{2})\)$/m;

/**
 * @param {string} [text] - Of the changelog.
 * @returns {{ version: string, isReleased: boolean, heading: string, body: string }} The newest version.
 */
export function announced(text = readFileSync(CHANGELOG, 'utf8')) {
  const found = HEAD.exec(text);
  if (found === null) throw new Error('CHANGELOG.md has no heading such as "## 1.2.3 (unreleased)"');
  const [heading, version, date] = found;
  const [body] = text.slice(found.index + heading.length).split(/^## /m);
  return { version, isReleased: date !== 'unreleased', heading, body: body.trim() };
}
