#!/usr/bin/env node
/**
 * Builds the Python wheel: `npm run wheel`, or with `-- --library PATH --out DIR`. PATH is the op library that it holds, by
 * default the one that set-up built; the wheel is tagged by it. Prints the path of the wheel.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gist, run } from '../setup/command.mjs';
import { addon, build } from '../setup/places.mjs';
import { pythonWithPip } from '../setup/wheel.mjs';

const SOURCE = dirname(fileURLToPath(import.meta.url));

/** Builds it and returns its path; wheels that lay in `out` before are gone. */
export async function buildWheel(library = addon, out = join(build, 'python')) {
  if (!existsSync(library)) throw new Error(`--library: expected an op library, received no file ${library}`);
  const python = pythonWithPip();
  if (python.missing) throw new Error(`Python with pip: ${python.missing}`);
  mkdirSync(out, { recursive: true });
  for (const name of readdirSync(out)) if (name.endsWith('.whl')) rmSync(join(out, name));
  const options = ['--no-deps', '--no-input', '--disable-pip-version-check', '--wheel-dir', out];
  try {
    await run(python.command, ['-m', 'pip', 'wheel', ...options, SOURCE], {
      env: { TFJS_EMBEDDINGS_LIBRARY: resolve(library), PYTHONDONTWRITEBYTECODE: '1' },
    });
  } catch (error) {
    throw new Error(`the wheel could not be built: ${gist(error)}`);
  }
  const name = readdirSync(out).find((each) => each.endsWith('.whl'));
  return join(out, name);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { library: { type: 'string' }, out: { type: 'string' } } });
  try {
    console.log(await buildWheel(values.library, values.out));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
