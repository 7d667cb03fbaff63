/** The parts of a set-up, in the order in which they stand on each other. */
import { findAddon } from './addon.mjs';
import { findBundles } from './bundles.mjs';
import { findDeviceWorker } from './device_worker.mjs';
import { findDependencies } from './dependencies.mjs';
import { findTensorflow } from './tensorflow.mjs';
import { findTfjsNode } from './tfjs_node.mjs';
import { findWasm } from './wasm.mjs';

/**
 * `find` looks, without changing anything, and returns a finding {state, why, make?, tensorflow?}: `state` is present,
 * built or missing; `make`, where given, makes the part and returns the new finding.
 */
const PARTS = [
  { name: 'dependencies', find: findDependencies },
  { name: 'TensorFlow', find: findTensorflow },
  { name: 'tfjs-node', find: findTfjsNode },
  { name: 'addon', find: findAddon },
  { name: 'WebAssembly', find: findWasm },
  { name: 'workers', find: findDeviceWorker },
  { name: 'bundles', find: findBundles },
];

/** Finds every part and, if `make`, makes what is missing and can be made. Returns rows {name, state, why}. */
export async function goThroughParts({ log, make, parts = PARTS }) {
  const rows = [];
  let tensorflow;
  for (const { name, find } of parts) {
    const finding = await findOrMake(find, { log, tensorflow }, make);
    tensorflow ??= finding.tensorflow;
    rows.push({ name, state: finding.state, why: finding.why });
    if (name === 'dependencies' && finding.state === 'missing') break; // all others stand on them
  }
  return rows;
}

async function findOrMake(find, context, make) {
  try {
    const finding = await find(context);
    return make && finding.make !== undefined ? await finding.make() : finding;
  } catch (error) {
    return { state: 'missing', why: error.message };
  }
}
