/** Where results go: what is wrong with a name is said before the training, not after it. */
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

type Refuse = (why: string) => never;

function refusing(option: string, path: string, what: string): Refuse {
  return (why) => {
    throw new InputError(`${option} must be the name of a ${what}, not "${path}": ${why}`);
  };
}

/** Refuses a path below something that is no folder, or that is write-protected. */
function checkWritable(path: string, refuse: Refuse): void {
  let there = resolve(path);
  while (statOf(there) === null) there = dirname(there);
  if (there !== resolve(path) && statOf(there)?.isDirectory() !== true) refuse(`${there} is no folder`);
  try {
    accessSync(there, constants.W_OK);
  } catch {
    refuse(`${there} is write-protected`);
  }
}

/** Returns the name of a file that can be written, whose folder need not be there yet. */
export function readReportFile(option: string, path: string): string {
  const refuse = refusing(option, path, 'file');
  if (path === '' || path.endsWith('/') || statOf(path)?.isDirectory() === true) refuse('that is a folder');
  checkWritable(path, refuse);
  return path;
}

/** Returns the name of a folder that can be written to, which need not be there yet. */
export function readFolder(option: string, path: string): string {
  const refuse = refusing(option, path, 'folder');
  if (path === '') refuse('that is no name');
  if (statOf(path)?.isDirectory() === false) refuse('that is a file');
  checkWritable(path, refuse);
  return path;
}

export function writeReport(path: string, html: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, html);
}
