/** Which files of TypeScript and C import or include which, by the text of their imports. */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { globSync } from 'tinyglobby';
import { sourcePaths } from '../../custom-ops/typescript/source_paths.mjs';

/** Imports for values and for types, of packages too, and what specs import while they run. */
const IMPORTS = /(?:\bfrom|\bimport|\bimport\()\s*'([^'\n]+)'|new URL\(\s*'(\.[^'\n]+)'/g;
const FOLDERS = ['src', 'test', 'tools', 'models', 'docs', 'custom-ops'];

export class ImportGraph {
  readonly #importers = new Map<string, Set<string>>();
  readonly #imports = new Map<string, Set<string>>();
  readonly #texts: ReadonlyMap<string, string>;

  /** `textOf`: the text of each file, by its path under the root with slashes. */
  constructor(textOf: ReadonlyMap<string, string>, names: Readonly<Record<string, string>> = {}) {
    this.#texts = textOf;
    for (const [file, text] of textOf) {
      for (const [, imported, named] of text.matchAll(IMPORTS)) {
        const target = targetOf(file, (imported ?? named)!, textOf, names);
        if (target === null) continue;
        const importers = this.#importers.get(target) ?? new Set();
        this.#importers.set(target, importers.add(file));
        this.#imports.set(file, (this.#imports.get(file) ?? new Set()).add(target));
      }
    }
  }

  /** The graph of a checkout. */
  static of(root: string): ImportGraph {
    const files = globSync(
      FOLDERS.map((folder) => `${folder}/**/*.{ts,mjs,c,cc,h}`),
      { cwd: root, followSymbolicLinks: false, ignore: ['custom-ops/build/**', '**/.cache/**', 'docs/site/**'] },
    );
    const texts = new Map(files.map((file) => [file.split('\\').join('/'), readFileSync(join(root, file), 'utf8')]));
    const rootURL = new URL(`file://${root.endsWith('/') ? root : `${root}/`}`).href;
    const names = Object.entries(sourcePaths()).map(([name, url]) => [name, url.slice(rootURL.length)]);
    return new ImportGraph(texts, Object.fromEntries(names) as Record<string, string>);
  }

  /** Every file at these paths whose text matches, and every one that imports such a file, itself or through others. */
  importersOfText(pattern: RegExp, paths: RegExp): Set<string> {
    const some = [...this.#texts].filter(([file, text]) => paths.test(file) && pattern.test(text));
    const matching = some.map(([file]) => file);
    return new Set(matching.flatMap((file) => [...this.importersOf(file).keys()]));
  }

  get files(): string[] {
    return [...this.#texts.keys()];
  }

  /** The text of a file; empty for one that it does not have. */
  textOf(file: string): string {
    return this.#texts.get(file) ?? '';
  }

  /** Every file that `file` imports, itself or through others; itself too. */
  reachedBy(file: string): Set<string> {
    const reached = new Set([file]);
    for (const each of reached) for (const imported of this.#imports.get(each) ?? []) reached.add(imported);
    return reached;
  }

  /** Every file that imports `file`, itself or through others, and through how many imports; itself with 0. */
  importersOf(file: string): Map<string, number> {
    const distances = new Map([[file, 0]]);
    for (const [each, distance] of distances) {
      for (const importer of this.#importers.get(each) ?? []) {
        if (!distances.has(importer)) distances.set(importer, distance + 1);
      }
    }
    return distances;
  }
}

function targetOf(
  file: string,
  name: string,
  files: ReadonlyMap<string, string>,
  names: Readonly<Record<string, string>>,
): string | null {
  const path = name.startsWith('.') ? posix.join(posix.dirname(file), name) : names[name];
  if (path === undefined) return null;
  return [path.replace(/\.js$/, '.ts'), path].find((each) => files.has(each)) ?? null;
}
