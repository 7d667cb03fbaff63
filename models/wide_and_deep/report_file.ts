/** The file that a report goes to: what is wrong with its name is said before the training, not after it. */
import { accessSync, constants, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { InputError } from './input_error.js';

/** What lies at a path, or null. */
function statOf(path: string): ReturnType<typeof statSync> | null {
  try {
    return statSync(path);
  } catch {
    return null; // Nothing, or something below a file.
  }
}

/** Returns the name of a file that can be written, whose folder need not be there yet. */
export function readReportFile(option: string, path: string): string {
  const refuse = (why: string): never => {
    throw new InputError(`${option} must be the name of a file, not "${path}": ${why}`);
  };
  if (path === '' || path.endsWith('/') || statOf(path)?.isDirectory() === true) refuse('that is a folder');
  let there = resolve(path);
  while (statOf(there) === null) there = dirname(there);
  if (there !== resolve(path) && statOf(there)?.isDirectory() !== true) refuse(`${there} is no folder`);
  try {
    accessSync(there, constants.W_OK);
  } catch {
    refuse(`${there} is write-protected`);
  }
  return path;
}

export function writeReport(path: string, html: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, html);
}
