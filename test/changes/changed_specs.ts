/** The spec files that a change is likely to be noticed by: `npm test -- --changed [REVISION]`. */
import { spawnSync } from 'node:child_process';
import { basename, extname } from 'node:path';
import { nearness } from '../mutations/nearness.js';
import type { SpecFile } from '../runner/spec_files.js';
import type { ImportGraph } from './import_graph.js';

/** Of a spec file that nobody recorded. */
const QUICK_SECONDS = 1;
/** What a spec file counts whose path is about the changed one but that does not import it: programs, C. */
const NOT_IMPORTED = 20;

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

/** How far a spec file is from a change; Infinity where nothing says that it has to do with it. */
function distanceOf(spec: string, changed: string, importers: ReadonlyMap<string, number>): number {
  const imports = importers.get(spec);
  const near = nearness(changed, spec);
  if (imports !== undefined) return imports / (1 + near) ** 2;
  const isOfKernels =
    /^custom-ops\/(kernels|hosts)\//.test(changed) && /^test\/backends\/(native|wasm|tensorflow)\//.test(spec);
  const isOfFolder = near > 0 && /^(custom-ops|models|docs|test)\//.test(changed);
  if (stem(spec) === stem(changed)) return NOT_IMPORTED / 10;
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
 * distance, and more the longer it takes.
 */
export function specsFor(
  changed: readonly string[],
  specs: readonly SpecFile[],
  graph: ImportGraph,
  secondsOf: ReadonlyMap<string, number>,
  seconds: number,
): Picked {
  const all = changed.map((file) => ({ file, importers: graph.importersOf(file) }));
  const cost = (spec: SpecFile): number => secondsOf.get(spec.name) ?? QUICK_SECONDS;
  const ranked = specs
    .map((spec) => ({
      spec,
      distance: Math.min(Infinity, ...all.map(({ file, importers }) => distanceOf(spec.name, file, importers))),
    }))
    .filter(({ distance }) => Number.isFinite(distance))
    .sort(
      (a, b) => rank(a.distance, cost(a.spec)) - rank(b.distance, cost(b.spec)) || (a.spec.name < b.spec.name ? -1 : 1),
    );
  const files: SpecFile[] = [];
  const leftOut: SpecFile[] = [];
  let left = seconds;
  for (const { spec } of ranked) {
    if (cost(spec) <= left) {
      files.push(spec);
      left -= cost(spec);
    } else leftOut.push(spec);
  }
  return { files, leftOut };
}

function rank(distance: number, seconds: number): number {
  return distance === 0 ? 0 : distance * (4 + seconds);
}
