/** `emb.converter`: ops of graph models. */
export { registerOps } from './registration.js';
export { listOps, type ListedOp } from './list_ops.js';
