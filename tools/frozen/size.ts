/** How large the house is: lines, files, rooms. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOMS } from '../../test/check/house.mjs';

export interface Size {
  readonly lines: number;
  readonly files: number;
  readonly medianLines: number;
  readonly charactersPerLine: number;
  readonly longestLine: number;
  readonly mostFilesInAFolder: number;
}

export type Sizes = Readonly<Record<'src' | 'custom-ops', Size>> & { readonly rooms: number };

const CODE = /\.(ts|mjs|js|c|cc|h|def)$/;

function filesOf(root: string, folder: string): string[] {
  const { status, stdout } = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error('git ls-files failed: sizes need a clone and git');
  return stdout.split('\n').filter((path) => CODE.test(path));
}

function sizeOf(root: string, folder: string): Size {
  const paths = filesOf(root, folder);
  const texts = paths.map((path) => readFileSync(join(root, path), 'utf8').replace(/\n$/, '').split('\n'));
  const lengths = texts.map(({ length }) => length).sort((a, b) => a - b);
  const lines = texts.flat();
  const folders = new Map<string, number>();
  for (const path of paths) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);
  return {
    lines: lines.length,
    files: paths.length,
    medianLines: lengths[Math.floor(lengths.length / 2)] ?? 0,
    charactersPerLine: Number((lines.reduce((sum, { length }) => sum + length, 0) / lines.length).toFixed(2)),
    longestLine: lines.reduce((most, { length }) => Math.max(most, length), 0),
    mostFilesInAFolder: Math.max(...folders.values()),
  };
}

/** A room is a folder or a loose file at the top of src. */
export function sizes(root: string): Sizes {
  return { src: sizeOf(root, 'src'), 'custom-ops': sizeOf(root, 'custom-ops'), rooms: ROOMS.length };
}
