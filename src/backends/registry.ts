/** Which code runs: the implementations on typed arrays, and what each tfjs backend offers. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError } from '../base/errors.js';
import { perProcess } from '../base/per_process.js';
import { KERNEL_NAMES } from './bag_tensors.js';
import type { Backend, Devices, RowStore, TableMemory } from './contract.js';
import type { ImplementationName, KernelChoice, KernelInfo, KernelSet } from './kernel_set.js';
import type { StepOps } from './step_ops.js';

/** The value of a variable; undefined where it is not set, or empty. */
export function environmentVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const text = process?.env?.[name];
  return text === '' ? undefined : text;
}

/** TFJS_EMBEDDINGS_KERNELS: auto, native, wasm or reference. That it is present is checked at first use. */
function kernelsFromEnvironment(): KernelChoice {
  const name = 'TFJS_EMBEDDINGS_KERNELS';
  const text = environmentVariable(name);
  if (text === undefined) return 'auto';
  if (text === 'auto' || text === 'native' || text === 'wasm' || text === 'reference') return text;
  throw new ValueError(name, 'auto, native, wasm or reference', text);
}

/** TFJS_EMBEDDINGS_THREADS: a whole number from 1 to 64. */
function threadsFromEnvironment(): number | null {
  const name = 'TFJS_EMBEDDINGS_THREADS';
  const text = environmentVariable(name);
  if (text === undefined) return null;
  const threads = Number(text);
  if (Number.isInteger(threads) && threads >= 1 && threads <= 64) return threads;
  throw new ValueError(name, 'a whole number from 1 to 64', text);
}

interface Registry {
  /** Implementations on typed arrays that are ready to run. */
  readonly sets: Map<ImplementationName, KernelSet>;
  /** What `setKernels` or TFJS_EMBEDDINGS_KERNELS asked for. */
  kernels: KernelChoice;
  /** What `setThreads` or TFJS_EMBEDDINGS_THREADS asked for; null: the implementation's own default. */
  threads: number | null;
  /** By backend name. */
  readonly backends: Map<string, Backend>;
  /** Makes the package known to an unregistered backend; null before an entry file has run. */
  adopt: ((backendName: string) => void) | null;
}

const registry = (): Registry =>
  perProcess('backends', () => ({
    sets: new Map(),
    kernels: kernelsFromEnvironment(),
    threads: threadsFromEnvironment(),
    backends: new Map(),
    adopt: null,
  }));

const PREFERENCE: readonly ImplementationName[] = ['native', 'wasm', 'reference'];
const CHOICES: readonly KernelChoice[] = ['auto', ...PREFERENCE];

/** Makes an implementation available to the `cpu` backend. */
export function addKernelSet(set: KernelSet): void {
  const { sets, threads } = registry();
  sets.set(set.name, set);
  if (threads !== null) set.setThreads(threads);
}

/** Takes an implementation away, and returns it: what runs then is the next best. */
export function removeKernelSet(name: ImplementationName): KernelSet | undefined {
  const set = namedKernelSet(name);
  registry().sets.delete(name);
  return set;
}

/** An implementation by its name, or undefined where it is not ready. */
export function namedKernelSet(name: ImplementationName): KernelSet | undefined {
  return registry().sets.get(name);
}

/** The implementation that runs on typed arrays now: the forced one, else the best one there is. */
export function kernelSet(): KernelSet {
  const { sets, kernels } = registry();
  const wanted = kernels === 'auto' ? PREFERENCE : [kernels];
  for (const name of wanted) {
    const set = sets.get(name);
    if (set !== undefined) return set;
  }
  throw missing(kernels);
}

function missing(kernels: KernelChoice): RuntimeError {
  const present = [...registry().sets.keys()].join(', ');
  const note =
    kernels === 'native'
      ? "Native kernels come with `import 'tfjs-embeddings/node'`; `npx tfjs-embeddings info` says why there are none."
      : 'Await `ready()` first where WebAssembly is compiled asynchronously.';
  return new RuntimeError('kernels', `an implementation that is present (${present})`, kernels, note);
}

/**
 * Chooses the implementation of kernels on typed arrays, for the `cpu` backend and for devices.
 *
 * @param kernels - `'auto'` (at first), the best one; `'native'`, `'wasm'` or `'reference'`.
 * @throws TypeError for anything but text; ValueError for another name; RuntimeError where it is missing.
 *
 * @example
 * emb.setKernels('reference');
 */
export function setKernels(kernels: KernelChoice): void {
  if (typeof kernels !== 'string') throw new ArgumentTypeError('kernels', `one of ${CHOICES.join(', ')}`, kernels);
  if (!CHOICES.includes(kernels)) throw new ValueError('kernels', `one of ${CHOICES.join(', ')}`, kernels);
  if (kernels !== 'auto' && !registry().sets.has(kernels)) throw missing(kernels);
  registry().kernels = kernels;
}

/**
 * Sets the number of threads of every implementation that has threads. Results do not depend on it.
 *
 * @param threads - A whole number from 1 to 64; at first as many as there are cores, in WebAssembly 8 at most.
 * @throws TypeError for no number; ValueError for a number out of range.
 *
 * @example
 * emb.setThreads(2);
 */
export function setThreads(threads: number): void {
  if (typeof threads !== 'number') throw new ArgumentTypeError('threads', 'a whole number from 1 to 64', threads);
  if (!Number.isInteger(threads) || threads < 1 || threads > 64) {
    throw new ValueError('threads', 'a whole number from 1 to 64', threads);
  }
  registry().threads = threads;
  for (const set of registry().sets.values()) set.setThreads(threads);
}

/** What `setThreads` or TFJS_EMBEDDINGS_THREADS asked for; null: neither did. */
export function threadsAskedFor(): number | null {
  return registry().threads;
}

/** Registers what a backend of tfjs does for tables. */
export function addBackend(name: string, backend: Backend): void {
  registry().backends.set(name, backend);
}

/** What was registered for a backend, or undefined. */
export function registeredBackend(name: string): Backend | undefined {
  return registry().backends.get(name);
}

/** Sets what makes the package known to an unregistered backend. */
export function setAdoption(adopt: (backendName: string) => void): void {
  registry().adopt = adopt;
}

/** The backend in use; an unregistered one is adopted with kernels composed of stock ops. */
export function currentBackend(): Backend {
  const name = tf.getBackend();
  const { backends, adopt } = registry();
  if (!backends.has(name)) adopt?.(name);
  const found = backends.get(name);
  if (found === undefined) throw new RuntimeError('backend', `one of ${[...backends.keys()].join(', ')}`, name);
  return found;
}

/** Ops of a training step on the backend in use; null where stock ops do their work. */
export function stepOps(): StepOps | null {
  return currentBackend().ops;
}

/** Where tables and their slots lie on the backend in use. */
export function storeInUse(): RowStore {
  return currentBackend().store;
}

/** The devices of the backend in use; null where tables lie in its own memory. */
export function devicesInUse(): Devices | null {
  return currentBackend().store.devices;
}

type ProductInfo = () => KernelInfo | null;

/** By backend. */
const productInfos = (): Map<string, ProductInfo> => perProcess('products of matrices', () => new Map());

/** Has `backendInfo` tell what runs products of matrices on a backend; null: the kernels of tfjs. */
export function tellProducts(backendName: string, info: ProductInfo): void {
  productInfos().set(backendName, info);
}

/** What the Node entry says of the addon; null elsewhere. */
const addonInfo = (): { text: string | null } => perProcess('addon', () => ({ text: null }));

/** Sets what `backendInfo().addon` says: where the native kernels come from, or why there are none. */
export function setAddonInfo(text: string): void {
  addonInfo().text = text;
}

export interface BackendInfo {
  readonly backend: string;
  readonly kernels: Readonly<Record<string, KernelInfo>>;
  /** Only in Node: which native kernels there are, `prebuilt` with the platform or `built`, or `WebAssembly` and why. */
  readonly addon?: string;
  /** Only where the backend has devices: how many, of which kind, and where that was not chosen, why. */
  readonly devices?: object;
  /** Only on `webgl` and `webgpu`: where tables lie. */
  readonly tables?: TableMemory;
}

/**
 * Tells which implementation and instruction set each kernel uses on the tfjs backend in use. `BatchMatMul` is among them
 * where products of matrices of tfjs, which dense layers are, run in kernels of this package too: on `cpu` with native
 * kernels all that these take, on `wasm` those of transposed matrices, which gradients are.
 *
 * @returns The backend's name, the implementation of each kernel, in Node which addon they come from (`'prebuilt
 * linux-x64'`, `'built'`, or `'WebAssembly: …'` with the reason), the devices where it has some, and on a GPU where tables
 * lie.
 *
 * @example
 * emb.backendInfo().kernels.EmbeddingBag; // {implementation: 'native', instructionSet: 'avx512', threads: 2}
 */
export function backendInfo(): BackendInfo {
  // Before the first op no backend is chosen; this chooses it as that op would.
  tf.backend();
  const backend = tf.getBackend();
  const found = currentBackend();
  const products = productInfos().get(backend)?.() ?? null;
  const kernels = {
    ...Object.fromEntries(KERNEL_NAMES.map((name) => [name, found.info(name)])),
    ...(products !== null && { BatchMatMul: products }),
  };
  const { devices, memory } = found.store;
  const addon = addonInfo().text;
  return {
    backend,
    kernels,
    ...(addon !== null && { addon }),
    ...(devices !== null && { devices: devices.info() }),
    ...(memory !== undefined && { tables: memory }),
  };
}
