/** What declared types break of the last release, and which version may follow. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { breaksOf } from './breaks.mjs';

const RELEASES = fileURLToPath(new URL('..', import.meta.url));
const VERSION = /^\d+\.\d+\.\d+$/;
const REPORT = '.api.md';

/** @param {string} version */
const numbers = (version) => version.split('.').map(Number);

/** @returns {number} Less than 0 where the first version is the earlier one. */
export function compareVersions(a, b) {
  const [left, right] = [numbers(a), numbers(b)];
  const at = left.findIndex((number, i) => number !== right[i]);
  return at < 0 ? 0 : left[at] - right[at];
}

/** @returns {string} The last release whose types are kept. */
export function lastRelease() {
  const kept = readdirSync(RELEASES).filter((name) => VERSION.test(name) && existsSync(join(RELEASES, name, 'api')));
  return kept.sort(compareVersions).at(-1);
}

/** @returns {Map<string, string>} The reports of a release, by entry. */
export function releasedReports(release) {
  const folder = join(RELEASES, release, 'api');
  const names = readdirSync(folder).filter((name) => name.endsWith(REPORT));
  return new Map(names.map((name) => [name.slice(0, -REPORT.length), readFileSync(join(folder, name), 'utf8')]));
}

/**
 * The first version that may follow one with such a change: a breaking one asks for another major number, of 0.x for
 * another minor one.
 *
 * @param {string} release
 * @param {boolean} breaks
 */
export function leastVersion(release, breaks) {
  const [major, minor, patch] = numbers(release);
  if (!breaks) return `${major}.${minor}.${patch + 1}`;
  return major === 0 ? `0.${minor + 1}.0` : `${major + 1}.0.0`;
}

/**
 * What is wrong with the version at the head of the changelog; null: nothing. Right after a release it is that one, until
 * something breaks.
 *
 * @param {string} last - The last release.
 * @param {boolean} breaks - Whether something does.
 * @param {{ version: string, isReleased: boolean }} head
 * @returns {string | null}
 */
export function announcementProblem(last, breaks, { version, isReleased }) {
  const least = leastVersion(last, breaks);
  if (isReleased) {
    if (version !== last) return `CHANGELOG.md has ${version} as released, which is not the last release, ${last}`;
    return breaks ? `CHANGELOG.md announces no version after ${last}: ${least} at least is due` : null;
  }
  if (compareVersions(version, least) >= 0) return null;
  return `CHANGELOG.md announces ${version}: ${least} at least is due after ${last}`;
}

/**
 * Everything that breaks, once. Names of an entry such as `tfjs-embeddings/tpu` are those of the namespace `tpu`.
 *
 * @param {Map<string, string>} before
 * @param {Map<string, string>} after
 * @returns {{ what: string, how: string }[]}
 */
export function allBreaks(before, after) {
  const found = new Map();
  for (const [entry, report] of before) {
    const now = after.get(entry);
    const breaks = now === undefined ? [{ what: '', how: 'is gone' }] : breaksOf(report, now);
    const whole = before.get('node') ?? '';
    const prefix = new RegExp(`^declare namespace ${entry} `, 'm').test(whole) ? `${entry}.` : '';
    for (const { what, how } of breaks) {
      const name = what === '' ? `entry ${entry}` : what;
      if (!found.has(`${prefix}${name}`) && !found.has(name)) found.set(what === '' ? name : `${prefix}${name}`, how);
    }
  }
  return [...found].map(([what, how]) => ({ what, how })).sort((a, b) => (a.what < b.what ? -1 : 1));
}

/** A listed name covers what lies below it. */
const covers = (listed, what) =>
  what === listed || (what.startsWith(listed) && /^[.(< ]/.test(what.slice(listed.length)));

/**
 * @typedef {{ readonly what: string, readonly reason: string }} Deliberate
 * @param {{ what: string, how: string }[]} breaks
 * @param {readonly Deliberate[]} list
 * @returns {{ unlisted: { what: string, how: string }[], unused: Deliberate[] }}
 */
export function withoutListed(breaks, list) {
  return {
    unlisted: breaks.filter(({ what }) => !list.some((each) => covers(each.what, what))),
    unused: list.filter((each) => !breaks.some(({ what }) => covers(each.what, what))),
  };
}

/** @returns {Deliberate[]} What breaks on purpose since the last release. */
export function deliberate() {
  return JSON.parse(readFileSync(join(RELEASES, 'deliberate.json'), 'utf8'));
}
