// @ts-check
/** TypeScript as JavaScript, compiled once: kept under the hash of what it was made from. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const KEPT = fileURLToPath(new URL('../build/typescript', import.meta.url));
/** Another one where what is made of a source changes. */
const FORM = 1;

/** @type {Promise<{ readonly version: string, readonly transform: typeof import('esbuild').transform }> | null} */
let compiler = null;

/**
 * What a file of TypeScript is as a module; lines of errors are those of the file.
 * @param {string} path
 * @returns {Promise<string>}
 */
export async function compiled(path) {
  const source = readFileSync(path, 'utf8');
  const key = createHash('sha1').update(`${FORM} ${path}\n${source}`).digest('hex');
  const kept = join(KEPT, `${key}.js`);
  try {
    return readFileSync(kept, 'utf8');
  } catch {
    const code = await compile(source, path);
    keep(kept, code);
    return code;
  }
}

/**
 * @param {string} source
 * @param {string} path
 */
async function compile(source, path) {
  const { transform } = await (compiler ??= import('esbuild'));
  const { code } = await transform(source, {
    loader: 'ts',
    format: 'esm',
    target: 'es2022',
    sourcefile: path,
    sourcemap: 'inline',
    sourcesContent: false,
  });
  return code;
}

/**
 * Whole or not at all, as other processes read it. Where nothing can be written each process compiles for itself.
 * @param {string} path
 * @param {string} code
 */
function keep(path, code) {
  const temporary = `${path}.${process.pid}.partial`;
  try {
    mkdirSync(KEPT, { recursive: true });
    writeFileSync(temporary, code);
    renameSync(temporary, path);
  } catch {
    // A folder that may not be written, or a full disk.
  }
}
