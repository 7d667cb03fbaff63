/** Which ops graphs may hold, and who runs them. */
import * as tf from '@tensorflow/tfjs';
import { opCategories } from '../../tfjs/graph_models/graph_loading.js';
import { GRAPH_OPS } from './graph_ops.js';
import { STOCK_OPS } from './stock_ops.js';

/** An op of `emb.converter.listOps`. */
export interface ListedOp {
  readonly name: string;
  /** tfjs itself, or this package once `registerOps` was called. */
  readonly by: 'tfjs' | 'tfjs-embeddings';
  /** tfjs backends that are there and have the kernel it needs. */
  readonly backends: readonly string[];
}

/** Kernels of stock ops that have another name. */
const KERNELS: Readonly<Record<string, string>> = { UniqueV2: 'Unique' };

/** Backends that tfjs knows in this process. */
function backendNames(): string[] {
  return Object.keys((tf.engine() as unknown as { registryFactory: object }).registryFactory);
}

/** Backends with the kernel of a stock op; all of them where the op is composed of others. */
function backendsOf(op: string, names: readonly string[]): string[] {
  const kernel = KERNELS[op] ?? op;
  const found = names.filter((name) => tf.getKernel(kernel, name) !== undefined);
  return found.length === 0 ? [...names] : found;
}

/**
 * Returns all ops that `tf.loadGraphModel` accepts once `registerOps` was called, by name: who runs each, and on which
 * of the backends that are present. Ops that the user registered by `tf.registerOp` under other names are not listed.
 *
 * @returns The ops, sorted by name.
 *
 * @example
 * emb.converter.listOps().find(({ name }) => name === 'SegmentSum'); // {name: 'SegmentSum', by: 'tfjs-embeddings', …}
 */
export function listOps(): ListedOp[] {
  const backends = backendNames();
  const categories = opCategories(STOCK_OPS);
  const stock = STOCK_OPS.filter((name) => !GRAPH_OPS.has(name) && categories.get(name) !== undefined);
  const listed: ListedOp[] = [
    ...stock.map((name) => ({ name, by: 'tfjs' as const, backends: backendsOf(name, backends) })),
    ...[...GRAPH_OPS.keys()].map((name) => ({ name, by: 'tfjs-embeddings' as const, backends: [...backends] })),
  ];
  return listed.sort((a, b) => (a.name < b.name ? -1 : 1));
}
