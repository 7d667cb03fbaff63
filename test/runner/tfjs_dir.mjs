/**
 * Another build of TensorFlow.js in place of the installed one: `TFJS_DIR` is a folder with its packages, as
 * `@tensorflow/NAME` or `node_modules/@tensorflow/NAME`. Whoever imports or requires `@tensorflow/…` gets those that lie
 * there, in this process and in all that it starts; others stay the installed ones. Preloaded where TFJS_DIR is set.
 */
import { existsSync } from 'node:fs';
import Module, { register } from 'node:module';
import { join, resolve as absolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

/** @returns {string | null} The folder that holds `@tensorflow`; null without TFJS_DIR. Throws where it holds none. */
export function tfjsFolder() {
  const given = process.env['TFJS_DIR'] ?? '';
  if (given === '') return null;
  const folders = [absolute(given, 'node_modules'), absolute(given)];
  const found = folders.find((folder) => existsSync(join(folder, '@tensorflow', 'tfjs', 'package.json')));
  if (found === undefined) throw new Error(`TFJS_DIR: expected a folder with @tensorflow/tfjs, received ${given}`);
  return found;
}

const folder = tfjsFolder();
const stock = Module._resolveFilename;

/** Whether a specifier names a package of the folder: '@tensorflow/tfjs-core/dist/ops' does where tfjs-core is there. */
function isThere(specifier) {
  return specifier.startsWith('@tensorflow/') && existsSync(join(folder, ...specifier.split('/').slice(0, 2)));
}

/** The file that a specifier stands for, found in the folder. */
function fileOf(specifier, ...rest) {
  const from = Object.assign(new Module(join(folder, 'index.js')), { paths: [folder] });
  return stock.call(Module, specifier, from, ...rest);
}

/** For modules; Node calls it in a thread of its own. */
export function resolve(specifier, context, next) {
  return isThere(specifier) ? next(pathToFileURL(fileOf(specifier)).href, context) : next(specifier, context);
}

if (folder !== null) {
  Module._resolveFilename = function (specifier, parent, ...rest) {
    return isThere(specifier) ? fileOf(specifier, ...rest) : stock.call(this, specifier, parent, ...rest);
  };
  if (isMainThread) register(import.meta.url);
}
