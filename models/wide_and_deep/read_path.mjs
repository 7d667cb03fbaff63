// @ts-check
/** Files and folders of the command line: what is wrong with a name is said before the training, not after it. */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { InputError } from './input_error.mjs';

/**
 * What lies at a path, or null.
 * @param {string} path
 */
function statOf(path) {
  try {
    return statSync(path);
  } catch {
    return null; // Nothing, or something below a file.
  }
}

/** @typedef {(why: string) => never} Refuse */

/**
 * @param {string} option
 * @param {string} path
 * @param {string} what
 * @returns {Refuse}
 */
function refusing(option, path, what) {
  return (why) => {
    throw new InputError(`${option} must be the name of a ${what}, not "${path}": ${why}`);
  };
}

/**
 * Refuses a path below something that is no folder, or that is write-protected.
 * @param {string} path
 * @param {Refuse} refuse
 */
function checkWritable(path, refuse) {
  let there = resolve(path);
  while (statOf(there) === null) there = dirname(there);
  if (there !== resolve(path) && statOf(there)?.isDirectory() !== true) refuse(`${there} is no folder`);
  try {
    accessSync(there, constants.W_OK);
  } catch {
    refuse(`${there} is write-protected`);
  }
}

/**
 * Returns the name of a file that can be read.
 * @param {string} option
 * @param {string} path
 */
export function readInputFile(option, path) {
  const refuse = refusing(option, path, 'file');
  const stat = statOf(path);
  if (stat === null) refuse('there is no such file');
  if (stat?.isDirectory() === true) refuse('that is a folder');
  try {
    accessSync(path, constants.R_OK);
  } catch {
    refuse('it cannot be read');
  }
  return path;
}

/**
 * Returns the name of a file that can be written, whose folder need not be there yet.
 * @param {string} option
 * @param {string} path
 */
export function readReportFile(option, path) {
  const refuse = refusing(option, path, 'file');
  if (path === '' || path.endsWith('/') || statOf(path)?.isDirectory() === true) refuse('that is a folder');
  checkWritable(path, refuse);
  return path;
}

/**
 * Returns the name of a folder that can be written to, which need not be there yet.
 * @param {string} option
 * @param {string} path
 */
export function readFolder(option, path) {
  const refuse = refusing(option, path, 'folder');
  if (path === '') refuse('that is no name');
  if (statOf(path)?.isDirectory() === false) refuse('that is a file');
  checkWritable(path, refuse);
  return path;
}
