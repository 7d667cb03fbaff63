/** Calls for many tables and products of matrices on `wasm`: for models, which the smallest entry has none of. */
import * as tf from '@tensorflow/tfjs';
import { addBackendPart, registeredPart } from '../registry.js';
import { replaceProducts } from './dense_kernels.js';
import { lookUpMany, stepMany } from './many_tables.js';
import { whenSet } from './register.js';

const BACKEND = 'wasm';

/** Comes after `registerWasmBackend`. May be called again. */
export function registerManyOnWasm(): void {
  addBackendPart(BACKEND, { ...registeredPart(BACKEND)!, lookUp: lookUpMany, sparseApplyMany: stepMany });
  whenSet.add(replaceProducts);
  if (tf.engine().registry[BACKEND] !== undefined) replaceProducts();
}
