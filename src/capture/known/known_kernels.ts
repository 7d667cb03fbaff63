/** Kernels of TensorFlow and gradients as they were when a step was first checked: users may register others. */
import { BACKEND_NAME } from '../../backends/tensorflow/node_backend.js';
import { perProcess } from '../../base/per_process.js';
import { isOwn } from '../../tfjs/engine/own_functions.js';

interface Registry {
  /** What tfjs knows now. */
  readonly now: ReadonlyMap<string, object>;
  readonly what: string;
  readonly isOfSteps: (key: string) => boolean;
  /** What it was. */
  readonly known: Map<string, object>;
}

/** tfjs shares its registries under these names among all copies of itself. */
function registryOf(name: string): ReadonlyMap<string, object> {
  const shared = (globalThis as unknown as { _tfGlobals?: Map<string, Map<string, object>> })._tfGlobals;
  const found = shared?.get(name);
  if (found === undefined) throw new Error(`This version of TensorFlow.js has no ${name}.`);
  return found;
}

const registries = (): readonly Registry[] =>
  perProcess('known kernels', () => {
    const ofBackend = (key: string): boolean => key.startsWith(`${BACKEND_NAME}_`);
    return [
      { now: registryOf('kernelRegistry'), what: 'kernel', isOfSteps: ofBackend, known: new Map() },
      { now: registryOf('gradRegistry'), what: 'gradient', isOfSteps: () => true, known: new Map() },
    ];
  });

/** Snapshots what is registered; known entries stay. */
export function takeKernels(): void {
  for (const { now, isOfSteps, known } of registries()) {
    for (const [key, config] of now) if (isOfSteps(key) && !known.has(key)) known.set(key, config);
  }
}

/** The first kernel or gradient that was replaced; null: none. */
export function replacedKernel(): string | null {
  for (const { now, what, known } of registries()) {
    for (const [key, config] of known) {
      const found = now.get(key);
      if (found === config) continue;
      if (found === undefined || !isOwn(found)) return `the ${what} ${key} was replaced`;
      known.set(key, found);
    }
  }
  return null;
}
