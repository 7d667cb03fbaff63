/** Calls for many tables, products of matrices and threads on `wasm`: for models, which the smallest entry has none of. */
import * as tf from '@tensorflow/tfjs';
import { addBackendPart, registeredPart } from '../registry.js';
import { replaceProducts } from './dense_kernels.js';
import { lookUpMany, stepMany } from './many_tables.js';
import { startAtFirst, whenSet } from './register.js';
import { bringThreads } from './threads/bring_threads.js';

const BACKEND = 'wasm';

/** Comes after `registerWasmBackend`. May be called again. */
export function registerManyOnWasm(): void {
  bringThreads();
  startAtFirst();
  addBackendPart(BACKEND, { ...registeredPart(BACKEND)!, lookUp: lookUpMany, sparseApplyMany: stepMany });
  whenSet.add(replaceProducts);
  if (tf.engine().registry[BACKEND] !== undefined) replaceProducts();
}
