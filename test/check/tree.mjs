// @ts-check
/** The files of a checkout as git lists them, new ones too, and hashes of what a part of the check looks at. */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf } from '../../custom-ops/setup/stamp.mjs';
import { isOfAll } from './parts.mjs';

/**
 * Paths under the root; files alone, no links.
 * @param {string} root
 * @returns {string[]}
 */
export function filesOf(root) {
  const { status, stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error('git ls-files failed: this check needs a clone and git');
  const paths = [...new Set(stdout.split('\0'))].filter((path) => path !== '' && existsSync(join(root, path)));
  return paths.filter((path) => lstatSync(join(root, path)).isFile()).sort();
}

/**
 * A made file, or the declarations of a folder.
 * @param {string} root
 * @param {string} path
 * @returns {string[]}
 */
function madeFiles(root, path) {
  if (!existsSync(join(root, path))) return [];
  if (!lstatSync(join(root, path)).isDirectory()) return [path];
  const names = /** @type {string[]} */ (readdirSync(join(root, path), { recursive: true }));
  return names.filter((name) => /\.d\.[cm]?ts$/.test(name)).map((name) => join(path, name));
}

/** What parts look at, each file read once. */
export class Tree {
  /** @type {Map<string, string>} */
  #hashes = new Map();

  /** @param {string} root */
  constructor(root) {
    this.root = root;
    this.files = filesOf(root);
    // What is installed, as npm wrote it down.
    this.tools = hashOf(process.version, { path: join(root, 'node_modules', '.package-lock.json') });
  }

  /** @param {string} path */
  #hash(path) {
    const hash = this.#hashes.get(path) ?? hashOf({ path: join(this.root, path) });
    this.#hashes.set(path, hash);
    return hash;
  }

  /**
   * The same where nothing changed that a part looks at, its program, settings and packages included.
   * @param {import('./parts.mjs').Part} part
   * @returns {string}
   */
  stampOf({ reads, readsNames, made }) {
    const looked = this.files.filter((path) => reads(path) || isOfAll(path) || isSettings(path));
    const paths = [...looked, ...(made ?? []).flatMap((path) => madeFiles(this.root, path))];
    const lines = paths.map((path) => `${path} ${this.#hash(path)}`);
    return hashOf([this.tools, ...lines, ...(readsNames ? this.files : [])].join('\n'));
  }
}

/**
 * Settings lie at the top.
 * @param {string} path
 */
function isSettings(path) {
  return !path.includes('/') && /^\.|\.(js|json)$/.test(path);
}
