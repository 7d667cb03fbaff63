/** Which code runs: the implementations on typed arrays, and what each tfjs backend offers. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError } from '../base/errors.js';
import { kernelsFromEnvironment, threadsFromEnvironment } from './environment.js';
import { perProcess } from '../base/per_process.js';
import type { PackedApplyFunction, SparseApplyFunction } from './bag_tensors.js';
import type { DevicePart } from './device_part.js';
import { KERNEL_NAMES } from './bag_tensors.js';
import type { LookedUp, Lookup, LookupGradient, TableUpdate } from './lookup.js';
import type { OptimizerName } from '../rules/rules.js';
import type { StepOps } from './step_ops.js';
import type { BagOptions, ImplementationName, KernelChoice, KernelInfo, KernelSet } from './kernel_set.js';

/** One exact step of one table, by the sum over uses that are combined alike; bags of single ids may be among them. */
export interface JoinedUpdate extends Pick<TableUpdate, 'table' | 'slots' | 'hyper'> {
  readonly entries: readonly Pick<LookupGradient, 'gradient' | 'bags'>[];
  readonly options: BagOptions;
}

/** What trains tables of float16. */
export interface PackedPart {
  readonly apply: PackedApplyFunction;
  /** As `placeTable` of the backend. */
  placeTable?(table: tf.Variable): void;
}

/** What a tfjs backend adds to the kernels that it registers. */
export interface BackendPart {
  readonly sparseApply: SparseApplyFunction;
  /**
   * Puts a table where it will be read and stepped, before anybody reads it. Where reading a tensor hands out live
   * memory (cpu), a table that is settled never does. Absent: nothing to do.
   */
  placeTable?(table: tf.Variable): void;
  /**
   * Zeros in the memory where tables lie, for `writeRows` to fill before anybody else sees them: their values never lie
   * anywhere twice. null or absent: a tensor of an array does as well.
   */
  newTable?(shape: readonly number[]): tf.Tensor | null;
  /** Fills an array with whole rows of a table, row-major, without copying others; false where stock ops do as well. */
  readRows?(table: tf.Tensor, firstRow: number, into: Float32Array): boolean;
  /** Writes whole rows of a table that nobody else sees; false where that cannot be done in place. */
  writeRows?(table: tf.Tensor, firstRow: number, values: Float32Array): boolean;
  /** What runs a kernel of this name now, for `backendInfo()`. */
  info(kernelName: string): KernelInfo;
  /** Runs a lookup without the registry of kernels, which may take longer than it does; absent or undefined: through it. */
  readonly lookUpOne?: ((lookup: Lookup) => LookedUp) | undefined;
  /** Runs all lookups of a call together; absent or undefined: one kernel runs after the other. */
  readonly lookUp?: ((lookups: readonly Lookup[]) => LookedUp[]) | undefined;
  /** Steps many tables in one go, in place; nothing is written where an id names no row. Absent: one by one. */
  readonly sparseApplyMany?: ((optimizer: OptimizerName, updates: readonly JoinedUpdate[]) => void) | undefined;
  /** Steps of tables whose rows are packed; absent or undefined: such tables are not trained. */
  readonly packed?: PackedPart | undefined;
  /** Makes all steps of an optimizer's step together; absent: `sparseApply` runs for one table after the other. */
  update?(updates: readonly TableUpdate[]): void;
  /** Ops of a training step beside lookups; absent or undefined where stock ops do their work. */
  readonly stepOps?: StepOps | undefined;
  /** Devices that hold tables; absent where tables lie in the memory of the backend. */
  readonly devices?: DevicePart;
}

interface Registry {
  /** Implementations on typed arrays that are ready to run. */
  readonly sets: Map<ImplementationName, KernelSet>;
  /** What `setKernels` or TFJS_EMBEDDINGS_KERNELS asked for. */
  kernels: KernelChoice;
  /** What `setThreads` or TFJS_EMBEDDINGS_THREADS asked for; null: the implementation's own default. */
  threads: number | null;
  /** By backend name. */
  readonly parts: Map<string, BackendPart>;
  /** Makes the package known to a backend that nobody registered; null before an entry file has run. */
  adopt: ((backendName: string) => void) | null;
}

const registry = (): Registry =>
  perProcess('backends', () => ({
    sets: new Map(),
    kernels: kernelsFromEnvironment(),
    threads: threadsFromEnvironment(),
    parts: new Map(),
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
      ? "Native kernels come with `import 'tfjs-embeddings/node'` after `npx tfjs-embeddings setup`."
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

/** What `setThreads` or TFJS_EMBEDDINGS_THREADS asked for; null: nobody has. */
export function threadsAskedFor(): number | null {
  return registry().threads;
}

/** Registers what a tfjs backend adds. */
export function addBackendPart(backendName: string, part: BackendPart): void {
  registry().parts.set(backendName, part);
}

/** What was registered for a backend, or undefined. */
export function registeredPart(backendName: string): BackendPart | undefined {
  return registry().parts.get(backendName);
}

/** Sets what makes the package known to a backend that nobody registered. */
export function setAdoption(adopt: (backendName: string) => void): void {
  registry().adopt = adopt;
}

/** What the backend in use adds; a backend that nobody registered is adopted with kernels composed of stock ops. */
export function backendPart(backendName = tf.getBackend()): BackendPart {
  const { parts, adopt } = registry();
  if (!parts.has(backendName)) adopt?.(backendName);
  const part = parts.get(backendName);
  if (part === undefined) throw new RuntimeError('backend', `one of ${[...parts.keys()].join(', ')}`, backendName);
  return part;
}

type ProductInfo = () => KernelInfo | null;

/** By backend. */
const productInfos = (): Map<string, ProductInfo> => perProcess('products of matrices', () => new Map());

/** Has `backendInfo` tell what runs products of matrices on a backend; null: the kernels of tfjs. */
export function tellProducts(backendName: string, info: ProductInfo): void {
  productInfos().set(backendName, info);
}

export interface BackendInfo {
  readonly backend: string;
  readonly kernels: Readonly<Record<string, KernelInfo>>;
  /** Only where the backend has devices: how many, of which kind, and where that was not chosen, why. */
  readonly devices?: object;
}

/**
 * Tells which implementation and instruction set each kernel uses on the tfjs backend in use. `BatchMatMul` is among them
 * where products of matrices of tfjs, which dense layers are, run in kernels of this package too: on `cpu` with native
 * kernels all that these take, on `wasm` those of transposed matrices, which gradients are.
 *
 * @returns The backend's name, the implementation of each kernel, and the devices where it has some.
 *
 * @example
 * emb.backendInfo().kernels.EmbeddingBag; // {implementation: 'native', instructionSet: 'avx512', threads: 2}
 */
export function backendInfo(): BackendInfo {
  // Before the first op no backend is chosen; this chooses it as that op would.
  tf.backend();
  const backend = tf.getBackend();
  const part = backendPart(backend);
  const products = productInfos().get(backend)?.() ?? null;
  const kernels = {
    ...Object.fromEntries(KERNEL_NAMES.map((name) => [name, part.info(name)])),
    ...(products !== null && { BatchMatMul: products }),
  };
  return part.devices === undefined ? { backend, kernels } : { backend, kernels, devices: part.devices.info() };
}
