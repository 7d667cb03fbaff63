/** Which files speak of a source: specs call public names, which lead through an index to the file that has them. */
import { basename, extname } from 'node:path';

/** What TypeScript exports, and functions of kernels in C. */
const EXPORTED = /^export (?:abstract )?(?:async )?(?:function\*?|class|const) (\w+)|\b(te_\w+)\(/gm;
/** Shorter ones are words of any text. */
const SHORTEST = 5;

/** `dotInteraction`, `DotInteraction` and `dot_interaction` are one name. */
const plain = (text: string): string => text.replaceAll('_', '').toLowerCase();

/** The names that a source is known by: what it exports, and its own; a file of kernels exports little, of others a single word says nothing. */
export function namesOf(path: string, text: string): string[] {
  const own = basename(path, extname(path));
  const exported = Array.from(text.matchAll(EXPORTED), ([, name, inC]) => name ?? inC!.slice('te_'.length));
  const all = [...(own.includes('_') || !/\.m?ts$/.test(path) ? [own] : []), ...exported].map(plain);
  return [...new Set(all)].filter((name) => name.length >= SHORTEST);
}

/** Texts of files, made ready once to be searched for names. */
export class Mentions {
  readonly #plain = new Map<string, string>();

  constructor(private readonly textOf: (file: string) => string) {}

  /** Whether a file has one of some names (see namesOf). */
  has(file: string, names: readonly string[]): boolean {
    const text = this.#plain.get(file) ?? plain(this.textOf(file));
    this.#plain.set(file, text);
    return names.some((name) => text.includes(name));
  }
}
