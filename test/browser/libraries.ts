/** Where the libraries lie that pages load, as their addresses on the test server. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

/** The folder that the test server serves. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

function dist(name: string): string {
  return join(dirname(require.resolve(`${name}/package.json`)), 'dist').slice(ROOT.length);
}

export const TFJS = dist('@tensorflow/tfjs');
export const TFJS_CORE = dist('@tensorflow/tfjs-core');
export const TFJS_WASM = dist('@tensorflow/tfjs-backend-wasm');
export const BUNDLE = '/dist/tfjs-embeddings.min.js';

/** Scripts of a page that wants all of them. */
export const SCRIPTS = [`${TFJS}/tf.min.js`, `${TFJS_WASM}/tf-backend-wasm.min.js`, BUNDLE]
  .map((address) => `<script src="${address}"></script>`)
  .join('\n');
