/** Which lines of files are new since a revision. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changedFiles } from './changed_specs.js';

/** First and last line, counted from 1. */
export type LineRange = readonly [first: number, last: number];

/** The ranges of a patch without context, as they are now. A place where lines are gone alone has none. */
export function rangesIn(patch: string): LineRange[] {
  return Array.from(patch.matchAll(/^@@ -\S+ \+(\d+)(?:,(\d+))? @@/gm), ([, first, count = '1']): LineRange => {
    return [Number(first), Number(first) + Number(count) - 1];
  }).filter(([first, last]) => last >= first);
}

/** New lines of some files since a revision (see changedFiles); those of a file that git does not know are all its lines. */
export function changedLines(root: string, revision: string | null): Map<string, readonly LineRange[]> {
  const { since, files } = changedFiles(root, revision);
  const known = (file: string): boolean =>
    spawnSync('git', ['cat-file', '-e', `${since}:${file}`], { cwd: root }).status === 0;
  const ranges = files.map((file): [string, readonly LineRange[]] => {
    if (!known(file)) return [file, [[1, lineCount(join(root, file))]]];
    const args = ['diff', '--unified=0', '--no-renames', since, '--', file];
    return [file, rangesIn(spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 }).stdout)];
  });
  return new Map(ranges.filter(([, each]) => each.length > 0));
}

function lineCount(path: string): number {
  try {
    return readFileSync(path, 'utf8').split('\n').length;
  } catch {
    return 0; // it is gone
  }
}
