/** Calls for many tables on `cpu`, where the implementation in force has them; the smallest entry goes without. */
import { addBackendPart, kernelSet, registeredPart, type BackendPart } from '../registry.js';
import { hasKernel, lookUpMany, stepMany } from './many_tables.js';

const BACKEND = 'cpu';

/** Comes after `registerCpuBackend`. May be called again. */
export function registerManyOnCpu(): void {
  addBackendPart(BACKEND, {
    ...registeredPart(BACKEND)!,
    // Asked for each time, as another implementation may be chosen.
    get lookUp(): BackendPart['lookUp'] {
      const set = kernelSet();
      return hasKernel(set, 'embeddingBags') ? (lookups) => lookUpMany(set, lookups) : undefined;
    },
    get sparseApplyMany(): BackendPart['sparseApplyMany'] {
      const set = kernelSet();
      return hasKernel(set, 'sparseApplyMany') ? (name, updates) => stepMany(set, name, updates) : undefined;
    },
  });
}
