/** What tfjs-backend-webgpu lacks, by its source: it runs where a GPU is. A probe gives true where the defect is there. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const folder = dirname(createRequire(import.meta.url).resolve('@tensorflow/tfjs-backend-webgpu/package.json'));
const source = readFileSync(join(folder, 'dist', 'backend_webgpu.js'), 'utf8');

export default {
  // What went up is forgotten at once.
  'webgpu/host_copies': () => /uploadToGPU\(dataId\) \{[^]*?values = null/.test(source),
  'webgpu/faults': () => !/uncapturederror|device\.lost/.test(source),
};
