/** Objects of the C compiler that are kept, so that a build compiles only what changed. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { removeWhole, writeWhole } from './setup/unfinished.mjs';

/** Of the newest use: some builds for Node and TensorFlow, of half a megabyte an object at most. */
const MOST_KEPT = 400;

const hashOf = (...texts) => {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(`${text.length} `).update(text);
  return hash.digest('hex').slice(0, 32);
};

/**
 * Objects in `folder`. An object is known by its command, by what the compiler says of its version, and by the contents of
 * the files that it read, those of the system apart. `root` is taken out of all paths: other checkouts share the objects.
 */
export class ObjectCache {
  #folder;
  #root;
  #versions = new Map();

  constructor(folder, root) {
    this.#folder = folder;
    this.#root = root;
    mkdirSync(folder, { recursive: true });
  }

  /** Makes `object` by a command, which `run` takes with arguments more, or takes it from here. Resolves to what was said. */
  async make([command, ...args], object, run) {
    const key = hashOf(this.#version(command), ...[command, ...args].map((each) => this.#unrooted(each, object)));
    const list = join(this.#folder, `${key}.json`);
    const kept = this.#objectOf(key, filesIn(list));
    if (kept !== null && copied(kept, object)) return '';
    const dependencies = `${object}.d`;
    const said = await run([command, ...args, '-MMD', '-MF', dependencies]);
    const files = namesIn(readFileSync(dependencies, 'utf8')).map((name) => this.#unrooted(resolve(name)));
    // What a compiler warns of is said each time.
    if (said !== '') return said;
    const own = this.#objectOf(key, files);
    if (own === null) return said;
    writeWhole(list, JSON.stringify(files));
    writeWhole(own, readFileSync(object));
    return said;
  }

  /** Removes the objects that were not used for longest. */
  sweep() {
    const files = readdirSync(this.#folder).map((name) => join(this.#folder, name));
    const old = files.map((path) => ({ path, used: usedAt(path) })).sort((a, b) => b.used - a.used);
    for (const { path } of old.slice(MOST_KEPT)) removeWhole(path);
  }

  /** Where the object of these sources is; null where one of them cannot be read. */
  #objectOf(key, files) {
    if (files === null) return null;
    try {
      const contents = files.map((name) => readFileSync(isAbsolute(name) ? name : join(this.#root, name)));
      return join(this.#folder, `${hashOf(key, ...files, ...contents)}.o`);
    } catch {
      return null;
    }
  }

  #unrooted(text, object = null) {
    if (text === object) return 'object';
    return text.startsWith(`${this.#root}/`) ? text.slice(this.#root.length + 1) : text;
  }

  #version(command) {
    if (!this.#versions.has(command)) {
      const { stdout } = spawnSync(command, ['--version'], { encoding: 'utf8', windowsHide: true });
      this.#versions.set(command, stdout ?? '');
    }
    return this.#versions.get(command);
  }
}

function filesIn(list) {
  try {
    return JSON.parse(readFileSync(list, 'utf8'));
  } catch {
    return null;
  }
}

function copied(kept, object) {
  try {
    copyFileSync(kept, object);
    const now = new Date();
    utimesSync(kept, now, now);
    return true;
  } catch {
    return false;
  }
}

function usedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The files that a list of make's depends on: behind the colon, spaces inside names escaped. */
function namesIn(text) {
  const behind = text.slice(text.search(/:\s/) + 1).replace(/\\\r?\n/g, ' ');
  return Array.from(behind.matchAll(/(?:\\ |\S)+/g), ([name]) => name.replace(/\\ /g, ' '));
}
