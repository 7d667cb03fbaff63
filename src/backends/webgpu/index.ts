/** Kernels for `webgpu`, which `tfjs-embeddings/ops` and `/layers` leave out. Importing this file registers them. */
import { registerWebgpuBackend } from './register.js';

registerWebgpuBackend();

export { backendInfo, type BackendInfo } from '../registry.js';
