/** Runs the probes of a room in a process where tfjs is alone: `program.mjs ROOM BACKEND` prints what each found. */
import * as tf from '@tensorflow/tfjs';

const [room, backend] = process.argv.slice(2);
if (backend === 'wasm') await import('@tensorflow/tfjs-backend-wasm');
if (backend === 'tensorflow') await import('@tensorflow/tfjs-node');
if (!(await tf.setBackend(backend))) throw new Error(`the backend ${backend} does not start`);
const { default: probes } = await import(`./${room}.mjs`);
const found = {};
for (const [name, probe] of Object.entries(probes)) {
  try {
    found[name] = await probe();
  } catch (error) {
    found[name] = `failed: ${error.stack}`;
  }
}
process.stdout.write(`\n${JSON.stringify(found)}`, () => process.exit(0));
