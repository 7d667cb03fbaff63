/** What the batches of a folder are learned with: kept beside them, so that no other run goes on with them otherwise. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../input_error.mjs';
import type { Options } from './options.mjs';

const NAMES = ['dim', 'users', 'items', 'history', 'rate', 'temperature', 'seed'] as const;

/** Keeps the settings of a new folder; throws InputError where they are other than those of the folder. */
export function agreeOnSettings(folder: string, options: Options): void {
  const path = join(folder, 'settings.json');
  if (!existsSync(path)) {
    const given = Object.fromEntries(NAMES.map((name) => [name, options[name]]));
    writeFileSync(`${path}.partial`, JSON.stringify(given));
    renameSync(`${path}.partial`, path);
    return;
  }
  const kept = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  const other = NAMES.find((name) => kept[name] !== options[name]);
  if (other === undefined) return;
  const found = `${folder} was begun with --${other} ${String(kept[other])}`;
  throw new InputError(`${found}, not ${options[other]}: say the same, or take another folder`);
}
