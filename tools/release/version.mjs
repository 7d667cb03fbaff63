/** What a release changes in the files of the tree, and what stands in its way. */
import { compareVersions, leastVersion } from './api/comparison.mjs';
import { announced } from './changelog.mjs';

const VERSION = /^\d+\.\d+\.\d+$/;

/**
 * @typedef {object} State - The tree before a release.
 * @property {string} version - The one that is asked for.
 * @property {string} last - The last release.
 * @property {string} manifest - package.json.
 * @property {string} lock - package-lock.json.
 * @property {string} changelog
 * @property {{ what: string, how: string }[]} breaks - Of the last release.
 * @property {{ what: string, how: string }[]} unlisted - Those among them that nobody has given a reason for.
 * @property {string[]} changed - Files that are not committed.
 *
 * @param {State} state
 * @returns {string[]} Why the release is refused; none: it is not.
 */
export function objections({ version, last, changelog, breaks, unlisted, changed }) {
  if (!VERSION.test(version)) return [`"${version}" is no version: three numbers are, such as 1.2.3`];
  const least = leastVersion(last, breaks.length > 0);
  const head = announced(changelog);
  const found = [];
  if (compareVersions(version, least) < 0) {
    const why = breaks.length > 0 ? `${breaks.length} breaks of ${last} ask` : `${last} asks`;
    found.push(`${version}: ${why} for ${least} at least`);
  }
  for (const { what, how } of unlisted) found.push(`tools/release/deliberate.json does not list ${what}, which ${how}`);
  if (changed.length > 0) found.push(`not committed: ${changed.join(', ')}`);
  if (head.isReleased) found.push(`CHANGELOG.md begins with "${head.heading}": nothing is unreleased`);
  else if (head.body === '') found.push(`CHANGELOG.md says nothing of ${head.version}`);
  else if (head.version !== version) found.push(`CHANGELOG.md announces ${head.version}, not ${version}`);
  return found;
}

/** Sets the version of a description, and of platform packages that it names with the one before. */
function withVersion(description, version) {
  const { optionalDependencies: named, version: before } = description;
  const own = Object.entries(named ?? {}).map(([name, range]) => [
    name,
    name.startsWith('tfjs-embeddings-') && range === before ? version : range,
  ]);
  return { ...description, version, ...(named === undefined ? {} : { optionalDependencies: Object.fromEntries(own) }) };
}

const text = (value) => `${JSON.stringify(value, null, 2)}\n`;

/**
 * @param {Pick<State, 'version' | 'manifest' | 'lock' | 'changelog'>} state
 * @param {string} date - As in 2026-11-27.
 * @returns {Record<'package.json' | 'package-lock.json' | 'CHANGELOG.md', string>} The files as they are to be.
 */
export function released({ version, manifest, lock, changelog }, date) {
  const { packages, ...locked } = JSON.parse(lock);
  const own = Object.entries(packages).map(([path, each]) => {
    if (path === '') return [path, withVersion(each, version)];
    const isPlatform = path.startsWith('node_modules/tfjs-embeddings-') && each.optional === true;
    return [path, isPlatform ? { ...each, version } : each];
  });
  const { heading } = announced(changelog);
  return {
    'package.json': text(withVersion(JSON.parse(manifest), version)),
    'package-lock.json': text({ ...withVersion(locked, version), packages: Object.fromEntries(own) }),
    'CHANGELOG.md': changelog.replace(heading, `## ${version} (${date})`),
  };
}
