/** Objects of the C compiler that are kept, so that a build compiles only what changed. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { firstLine } from './setup/command.mjs';
import { hashOf, readStamp, writeStamp } from './setup/stamp.mjs';
import { removeWhole, writeWhole } from './setup/unfinished.mjs';

/** Of the newest use: some builds for Node and TensorFlow, of half a megabyte an object at most. */
const MOST_KEPT = 400;

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
    const kept = this.#objectOf(key, readStamp(list));
    if (kept !== null && copied(kept, object)) return '';
    const dependencies = `${object}.d`;
    const said = await run([command, ...args, '-MMD', '-MF', dependencies]);
    const files = namesIn(readFileSync(dependencies, 'utf8')).map((name) => this.#unrooted(resolve(name)));
    // What a compiler warns of is said each time.
    if (said !== '') return said;
    const own = this.#objectOf(key, files);
    if (own === null) return said;
    writeStamp(list, files);
    writeWhole(own, readFileSync(object));
    return said;
  }

  /** Removes the objects that were not used for longest. */
  sweep() {
    const files = readdirSync(this.#folder).map((name) => join(this.#folder, name));
    const old = files.map((path) => ({ path, used: usedAt(path) })).sort((a, b) => b.used - a.used);
    for (const { path } of old.slice(MOST_KEPT)) removeWhole(path);
  }

  /** Where the object of these sources is; null where they are not known, or one is gone. */
  #objectOf(key, files) {
    const paths = (files ?? []).map((name) => resolve(this.#root, name));
    if (files === null || !paths.every((path) => existsSync(path))) return null;
    return join(this.#folder, `${hashOf(key, ...files, ...paths.map((path) => ({ path })))}.o`);
  }

  #unrooted(text, object = null) {
    if (text === object) return 'object';
    return text.startsWith(`${this.#root}/`) ? text.slice(this.#root.length + 1) : text;
  }

  #version(command) {
    if (!this.#versions.has(command)) {
      this.#versions.set(command, firstLine(command, ['--version']));
    }
    return this.#versions.get(command);
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
