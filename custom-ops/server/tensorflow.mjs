/** TensorFlow in this process, and the addon with its ops; tfjs itself stays out, for the sake of memory. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { addon, packageFolder } from '../setup/places.mjs';

/** The addon, its ops registered. Throws an Error that says what is missing. */
export function addonWithTensorFlow() {
  const folder = packageFolder('@tensorflow/tfjs-node');
  const binding = folder === null ? null : join(folder, 'lib', 'napi-v8', 'tfjs_binding.node');
  for (const [what, path] of [
    ['TensorFlow', binding],
    ['the addon', addon],
  ]) {
    if (path === null || !existsSync(path)) throw new Error(`${what} is not there; npx tfjs-embeddings setup makes it`);
  }
  process.env.TF_CPP_MIN_LOG_LEVEL ??= '2';
  const require = createRequire(import.meta.url);
  require(binding);
  const functions = require(addon);
  const state = functions.registerTensorFlow();
  if (state !== 'registered' && state !== 'already') throw new Error(`its ops cannot be registered: ${state}`);
  return functions;
}
