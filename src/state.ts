/**
 * The only mutable state of the package. It lives under one global symbol because the ESM and the CommonJS build (and
 * two entry points of either) share no module state, yet must see the same kernels, scope and settings.
 */
import type { ImplementationName, KernelSet } from './backends/kernel_set.js';
import { kernelsFromEnvironment, threadsFromEnvironment } from './environment.js';
import type * as tf from '@tensorflow/tfjs';
import type { PositionedFile } from './io/npy.js';
import type { SlotHolder } from './optimizers/slots.js';
import type { LookupScope } from './optimizers/lookup_scope.js';
import type { TableSettings } from './optimizers/table_settings.js';

export type KernelChoice = 'auto' | ImplementationName;

export interface State {
  /** Implementations on typed arrays that are ready to run. */
  readonly sets: Map<ImplementationName, KernelSet>;
  /** What `setKernels` or TFJS_EMBEDDINGS_KERNELS asked for. */
  kernels: KernelChoice;
  /** What `setThreads` or TFJS_EMBEDDINGS_THREADS asked for; null: the implementation's own default. */
  threads: number | null;
  /** Open while an `emb.train` optimizer computes gradients. */
  scope: LookupScope | null;
  /** What layers say of their tables. */
  readonly tables: WeakMap<tf.Variable, TableSettings>;
  /** Which optimizers hold slots of a table; weakly, because a table may outlive an optimizer. */
  readonly slotHolders: WeakMap<tf.Variable, Set<WeakRef<SlotHolder>>>;
  /** Things said once per process (warnings). */
  readonly said: Set<string>;
  /** Anything a backend keeps per process, by backend name. */
  readonly perBackend: Map<string, unknown>;
  /** `require` of the Node entry, for modules of Node that files for any runtime cannot import. */
  builtin: ((name: string) => unknown) | null;
  /** Makes the package known to a backend that nobody registered; null before an entry file has run. */
  adopt: ((backendName: string) => void) | null;
  /** Opens a file for reading; null in runtimes without files, and before the Node entry has run. */
  openFile: ((path: string) => PositionedFile) | null;
}

const KEY = Symbol.for('tfjs-embeddings');

/** The state shared by every copy of this package in the process. */
export function state(): State {
  const holder = globalThis as unknown as Record<symbol, State | undefined>;
  return (holder[KEY] ??= {
    sets: new Map(),
    kernels: kernelsFromEnvironment(),
    threads: threadsFromEnvironment(),
    scope: null,
    tables: new WeakMap(),
    slotHolders: new WeakMap(),
    said: new Set(),
    perBackend: new Map(),
    builtin: null,
    adopt: null,
    openFile: null,
  });
}

/** Warns in the console, once per process and key. */
export function warnOnce(text: string, key = text): void {
  const { said } = state();
  if (said.has(key)) return;
  said.add(key);
  console.warn(`tfjs-embeddings: ${text}`);
}
