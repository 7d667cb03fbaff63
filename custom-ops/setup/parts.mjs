/** The parts of a set-up, in the order in which they stand on each other. */
import { findAddon, sweepAddon } from './addon.mjs';
import { findBundles, sweepBundles } from './bundles.mjs';
import { findDeviceWorker, sweepDeviceWorker } from './device_worker.mjs';
import { findDependencies, sweepDependencies } from './dependencies.mjs';
import { findTensorflow, sweepTensorflow } from './tensorflow.mjs';
import { findTfjsNode, sweepTfjsNode } from './tfjs_node.mjs';
import { findWasm, sweepWasm } from './wasm.mjs';

/**
 * `find` looks, without changing anything, and returns a finding {state, why, make?, tensorflow?}: `state` is present,
 * built or missing; `make`, where given, makes the part and returns the new finding. `sweep` removes what making it has
 * left, now or in a set-up that was killed.
 */
const PARTS = [
  { name: 'dependencies', find: findDependencies, sweep: sweepDependencies },
  { name: 'TensorFlow', find: findTensorflow, sweep: sweepTensorflow },
  { name: 'tfjs-node', find: findTfjsNode, sweep: sweepTfjsNode },
  { name: 'addon', find: findAddon, sweep: sweepAddon },
  { name: 'WebAssembly', find: findWasm, sweep: sweepWasm },
  { name: 'workers', find: findDeviceWorker, sweep: sweepDeviceWorker },
  { name: 'bundles', find: findBundles, sweep: sweepBundles },
];

/** Finds every part and, if `make`, makes what is missing and can be made. Returns rows {name, state, why}. */
export async function goThroughParts({ log, make, parts = PARTS }) {
  const rows = [];
  let tensorflow;
  for (const { name, find, sweep } of parts) {
    const finding = await findOrMake(find, { log, tensorflow }, make);
    if (make) sweep?.();
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
