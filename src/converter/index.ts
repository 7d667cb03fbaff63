/** `emb.converter`: ops of graph models. */
export { registerOps } from './registration.js';
