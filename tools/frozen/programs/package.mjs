/** The package as users get it, from a checkout that is built, and what programs share. */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Random } from './random.mjs';

const HERE = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

/**
 * The implementations that are compared. `kernels` is what `backendInfo()` must say: another one means that what is
 * named did not run.
 */
export const BACKENDS = {
  'cpu reference': { backend: 'cpu', choice: 'reference', kernels: 'reference' },
  'cpu native': { backend: 'cpu', choice: 'native', kernels: 'native' },
  'cpu wasm': { backend: 'cpu', choice: 'wasm', kernels: 'wasm' },
  wasm: { backend: 'wasm', kernels: 'wasm' },
  tensorflow: { backend: 'tensorflow', kernels: 'tensorflow' },
  'emulator 1': { backend: 'tpu-emulator', devices: 1 },
  'emulator 2': { backend: 'tpu-emulator', devices: 2 },
};

/** tfjs and the package of a checkout; `source`: from src, which needs tsx. */
export async function packageAt(root = HERE, { source = false, backends = [] } = {}) {
  const require = createRequire(join(root, 'package.json'));
  const from = source ? 'tfjs-embeddings/node' : pathToFileURL(join(root, 'dist', 'node.mjs')).href;
  const emb = await import(from);
  if (backends.includes('tensorflow')) require('@tensorflow/tfjs-node');
  if (backends.includes('wasm')) require('@tensorflow/tfjs-backend-wasm');
  const tf = require('@tensorflow/tfjs');
  await emb.ready();
  return { tf, emb, root };
}

/** Puts an implementation in force; returns the key of its record: numbers may depend on the instruction set. */
export async function useBackend({ tf, emb }, name) {
  const { backend, choice, kernels, devices } = BACKENDS[name];
  if (devices !== undefined) {
    // In line and on the cpu backend: the order of all sums is fixed.
    emb.configureTpuEmulator({ chips: devices, coresPerChip: 1, devices: 'inline', host: 'cpu' });
  }
  if (!(await tf.setBackend(backend))) throw new Error(`the tfjs backend ${backend} does not start`);
  if (choice !== undefined) emb.setKernels(choice);
  const { EmbeddingBag: info } = emb.backendInfo().kernels;
  if (kernels !== undefined && info.implementation !== kernels) {
    throw new Error(`${name} runs as ${info.implementation}`);
  }
  return [name, info.instructionSet ?? 'any'].join(', ');
}

/** The first 12 hexadecimal digits of the SHA-256 of all that was added. */
export class Digest {
  #hash = createHash('sha256');

  add(value) {
    if (typeof value === 'string') this.#hash.update(value);
    else if (typeof value === 'number') this.#hash.update(new Uint8Array(Float64Array.of(value).buffer));
    else this.#hash.update(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    return this;
  }

  /** Adds dtype, shape and values. */
  addTensor(tensor) {
    return this.add(`${tensor.dtype} ${tensor.shape.join(' ')};`).add(tensor.dataSync());
  }

  get text() {
    return this.#hash.digest('hex').slice(0, 12);
  }
}

/** Numbers that the name of a case alone decides. */
export function drawFor(name) {
  return new Random(createHash('sha256').update(name).digest().readUInt32LE(0));
}

/** What marks a case that threw; no record holds one. */
export const FAILED = 'failed: ';

/** The hash that a case gives, or its error by the first line. */
export async function outcome(run) {
  try {
    return await run();
  } catch (error) {
    return `${FAILED}${error.name}: ${error.message.split('\n')[0]}`;
  }
}
