/** The spec files of this project, which of them are asked for, and what they need beside a process. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { globSync } from 'tinyglobby';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const TEST_FOLDER = join(ROOT, 'test');
/** Files that take less are run in the order of their paths. */
const WORTH_RECORDING = 2;
const SECONDS = new URL('seconds.json', import.meta.url);

/** What a spec file may ask for in a line `// runner: python` of its own. */
export type Need =
  /** Python with TensorFlow: waits until that is installed. */
  | 'python'
  /** The packages of platforms: waits until they are made. */
  | 'packages'
  /** No other spec file beside it: it minds how busy the machine is. */
  | 'alone'
  /** Servers on loopback: runs in a network namespace of its own where the system allows it. */
  | 'servers';

const NEEDS: readonly string[] = ['python', 'packages', 'alone', 'servers'] satisfies Need[];

export interface SpecFile {
  readonly path: string;
  /** The path from the root of the project, with slashes. */
  readonly name: string;
  /** It is run whole, whatever the form leaves out. */
  readonly isWhole?: boolean;
}

export interface Choice {
  readonly files: readonly SpecFile[];
  /** Specs are run whose names hold one of these; none: all. */
  readonly texts: readonly string[];
}

/** Every spec file, by path. */
export function specFiles(): SpecFile[] {
  // Not what specs put into `.cache`: packages of Python, and links to the whole project.
  const names = globSync('{test,tools}/**/*.spec.ts', { cwd: ROOT, followSymbolicLinks: false });
  return names.sort().map((name) => ({ path: join(ROOT, name), name }));
}

/** A pattern that is part of a path chooses files; any other chooses specs by their text. A path must choose some. */
export function choose(files: readonly SpecFile[], patterns: readonly string[]): Choice {
  const byName = patterns.filter((pattern) => files.some(({ name }) => name.includes(pattern)));
  const texts = patterns.filter((pattern) => !byName.includes(pattern));
  const stray = texts.find((text) => /^\S*\/\S*$/.test(text));
  if (stray !== undefined) throw new Error(`No spec file has ${stray} in its path.`);
  const chosen = files.filter(({ name }) => byName.some((text) => name.includes(text)));
  return { files: byName.length === 0 ? files : chosen, texts };
}

export function needsOf({ path }: SpecFile): Set<Need> {
  const lines = readFileSync(path, 'utf8').matchAll(/^\/\/ runner: (\w+)$/gm);
  return new Set(
    Array.from(lines, ([, need]) => {
      if (NEEDS.includes(need!)) return need as Need;
      throw new Error(`${path}: there is no need named ${need}`);
    }),
  );
}

/** How long files took when that was last recorded; those that are not named took less than the others. */
export function recordedSeconds(): Map<string, number> {
  return new Map(Object.entries(JSON.parse(readFileSync(SECONDS, 'utf8')) as Record<string, number>));
}

export function recordSeconds(seconds: ReadonlyMap<string, number>): void {
  const now = [...recordedSeconds(), ...seconds].filter(([name]) => existsSync(join(ROOT, name)));
  const kept = [...new Map(now)].filter(([, each]) => each >= WORTH_RECORDING).sort(([, a], [, b]) => b - a);
  const rounded = Object.fromEntries(kept.map(([name, each]) => [name, Math.round(each)]));
  writeFileSync(SECONDS, `${JSON.stringify(rounded, null, 2)}\n`);
}

/** The longest first, so that the end of a run is not one long file; those of equal length in the order given. */
export function longestFirst(files: readonly SpecFile[], seconds: ReadonlyMap<string, number>): SpecFile[] {
  const of = ({ name }: SpecFile): number => seconds.get(name) ?? 0;
  return [...files].sort((a, b) => of(b) - of(a));
}
