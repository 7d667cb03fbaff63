/** The spec files that a change is likely to be noticed by: `npm test -- --changed [REVISION]`. */
import { spawnSync } from 'node:child_process';
import { basename, extname } from 'node:path';
import { nearness } from '../../tools/mutations/nearness.js';
import type { SpecFile } from '../runner/spec_files.js';
import type { ImportGraph } from './import_graph.js';
import { Mentions, namesOf } from './mentions.js';

/** Of a spec file that nobody recorded. */
const QUICK_SECONDS = 1;
/** What a spec file counts whose path is about the changed one but that does not import it: programs, C. */
const NOT_IMPORTED = 20;
/** A spec file that has a name of the change counts as if it shared so many folders more with it: one of few, and others. */
const MENTIONED = { few: 4, many: 2 };
const FEW = 8;
/** So many of the nearest are run whole where there is time, though the short form runs a sample of them. */
const WHOLE = 4;
/** The nearest spec file is run although it fills all the time, unless it takes longer than this. */
const MOST_OF_NEAREST = 50;

/**
 * Files that differ from a revision, those that git does not know yet too; without one from HEAD, or from the commit before
 * where nothing does. Paths under the root. Throws where git cannot tell.
 */
export function changedFiles(
  root: string,
  revision: string | null,
): { readonly since: string; readonly files: string[] } {
  const since = (from: string): string[] => [
    ...lines(git(root, 'diff', '--name-only', '--no-renames', from, '--')),
    ...lines(git(root, 'ls-files', '--others', '--exclude-standard')),
  ];
  if (revision !== null) return { since: revision, files: since(revision) };
  const now = since('HEAD');
  return now.length > 0 ? { since: 'HEAD', files: now } : { since: 'HEAD~1', files: since('HEAD~1') };
}

/** Whether git knows a commit by that name. */
export function isRevision(root: string, text: string): boolean {
  const args = ['rev-parse', '--verify', '--quiet', `${text}^{commit}`];
  return !text.startsWith('-') && spawnSync('git', args, { cwd: root }).status === 0;
}

function git(root: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`--changed needs git: ${error?.message ?? stderr.trim()}`);
  return stdout;
}

const lines = (text: string): string[] => text.split('\n').filter(Boolean);
const stem = (path: string): string => basename(path, extname(path)).replace(/\.spec$/, '');

/** Where the spec file of a source lies, if it has one: tests mirror src. */
const ownSpec = (file: string): string => `test/${file.replace(/^src\//, '').replace(/\.\w+$/, '')}.spec.ts`;

interface Change {
  readonly file: string;
  readonly importers: ReadonlyMap<string, number>;
  /** Spec files that have such a name. */
  readonly mentioning: ReadonlySet<string>;
}

/** How far a spec file is from a change; Infinity where nothing says that it has to do with it. */
function distanceOf(spec: string, { file, importers, mentioning }: Change): number {
  if (spec === ownSpec(file)) return 0;
  const imports = importers.get(spec);
  const isKernel = /^custom-ops\/(kernels|hosts)\//.test(file);
  const isMentioned = mentioning.has(spec);
  const mentioned = mentioning.size <= FEW ? MENTIONED.few : MENTIONED.many;
  // Tests of kernels lie with what calls them, not in a folder of theirs.
  const near = nearness(isKernel ? file.replace(/^custom-ops\/\w+\//, '') : file, spec) + (isMentioned ? mentioned : 0);
  if (imports !== undefined) return imports / (1 + near) ** 2;
  if (stem(spec) === stem(file)) return NOT_IMPORTED / 10;
  const isOfKernels = isKernel && (isMentioned || /^test\/backends\/(native|wasm|tensorflow)\//.test(spec));
  const isOfFolder = !isKernel && near > 0 && /^(custom-ops|models|docs|test|tools)\//.test(file);
  return isOfKernels || isOfFolder ? NOT_IMPORTED / (1 + near) : Infinity;
}

export interface Picked {
  /** The nearest first. */
  readonly files: readonly SpecFile[];
  /** Spec files that have to do with the change, for which there is no time. */
  readonly leftOut: readonly SpecFile[];
}

/**
 * Spec files for some changes, until `seconds` of work are full. What is near and quick comes first: a spec file counts its
 * distance, and more the longer it takes. `oneIn`: of how many specs of a file one is run, which the nearest ones are not
 * left with.
 */
export function specsFor(
  changed: readonly string[],
  specs: readonly SpecFile[],
  graph: ImportGraph,
  secondsOf: ReadonlyMap<string, number>,
  seconds: number,
  oneIn: (file: string) => number = () => 1,
): Picked {
  const mentions = new Mentions((file) => graph.textOf(file));
  const all = changed.map((file): Change => {
    const known = namesOf(file, graph.textOf(file));
    const mentioning = new Set(specs.map(({ name }) => name).filter((name) => mentions.has(name, known)));
    return { file, importers: graph.importersOf(file), mentioning };
  });
  const cost = (spec: SpecFile): number => secondsOf.get(spec.name) ?? QUICK_SECONDS;
  const ranked = specs
    .map((spec) => ({
      spec,
      distance: Math.min(Infinity, ...all.map((change) => distanceOf(spec.name, change))),
    }))
    .filter(({ distance }) => Number.isFinite(distance))
    .sort(
      (a, b) => rank(a.distance, cost(a.spec)) - rank(b.distance, cost(b.spec)) || (a.spec.name < b.spec.name ? -1 : 1),
    );
  const files: SpecFile[] = [];
  const leftOut: SpecFile[] = [];
  let left = seconds;
  for (const { spec } of ranked) {
    const whole = cost(spec) * oneIn(spec.name);
    if (files.length < WHOLE && whole > cost(spec) && whole <= left) {
      files.push({ ...spec, isWhole: true });
      left -= whole;
    } else if (cost(spec) <= left || (files.length === 0 && leftOut.length === 0 && cost(spec) <= MOST_OF_NEAREST)) {
      files.push(spec);
      left -= cost(spec);
    } else leftOut.push(spec);
  }
  return { files, leftOut };
}

function rank(distance: number, seconds: number): number {
  return distance === 0 ? 0 : distance * (4 + seconds);
}
