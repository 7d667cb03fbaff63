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
 * left, now or in a set-up that was killed. `after` names the parts that it stands on: others may be made beside it, so
 * that compilers work while TensorFlow is fetched. `leavesInSrc`: what a killed set-up has left of it would count as a
 * source of bundles, so it goes first.
 */
const PARTS = [
  { name: 'dependencies', find: findDependencies, sweep: sweepDependencies },
  { name: 'TensorFlow', find: findTensorflow, sweep: sweepTensorflow, after: [] },
  { name: 'tfjs-node', find: findTfjsNode, sweep: sweepTfjsNode, after: ['TensorFlow'] },
  // It names the version of TensorFlow, but is compiled after the smaller binding: two cores do not do more at a time.
  { name: 'addon', find: findAddon, sweep: sweepAddon, after: ['TensorFlow', 'tfjs-node'] },
  { name: 'WebAssembly', find: findWasm, sweep: sweepWasm, leavesInSrc: true, after: [] },
  { name: 'workers', find: findDeviceWorker, sweep: sweepDeviceWorker, leavesInSrc: true, after: ['WebAssembly'] },
  { name: 'bundles', find: findBundles, sweep: sweepBundles, after: ['workers'] },
];

/**
 * Finds every part and, if `make`, makes what is missing and can be made. Returns rows {name, state, why}. `wishes`: what
 * the user asks for, {compile, tensorflowPath}.
 */
export async function goThroughParts({ log, make, parts = PARTS, wishes = {} }) {
  const context = { log, ...wishes };
  const [first, ...others] = parts;
  const finding = await findOrMake(first.find, context, make);
  if (make) first.sweep?.();
  const rows = [rowOf(first, finding)];
  if (first.name === 'dependencies' && finding.state === 'missing') return rows; // all others stand on them
  if (make) for (const { sweep, leavesInSrc } of others) if (leavesInSrc === true) sweep();
  const findings = new Map([[first.name, finding]]);
  for (const [i, part] of others.entries()) {
    const after = part.after ?? parts.slice(0, i + 1).map(({ name }) => name);
    const before = after.map((name) => findings.get(name));
    findings.set(part.name, findOrMakeAfter(before, part.find, context, make));
  }
  for (const part of others) rows.push(rowOf(part, await findings.get(part.name)));
  // Not before: what one part has left looks like what another one is at.
  if (make) for (const { sweep } of others) sweep?.();
  return rows;
}

async function findOrMakeAfter(before, find, context, make) {
  const { tensorflow } = (await Promise.all(before)).find((finding) => finding.tensorflow !== undefined) ?? {};
  return findOrMake(find, { ...context, tensorflow }, make);
}

function rowOf({ name }, { state, why }) {
  return { name, state, why };
}

async function findOrMake(find, context, make) {
  try {
    const finding = await find(context);
    return make && finding.make !== undefined ? await finding.make() : finding;
  } catch (error) {
    return { state: 'missing', why: error.message };
  }
}
