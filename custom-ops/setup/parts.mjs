/** The parts of a set-up, in the order in which they stand on each other. */
import { beginAddon, findAddon, sweepAddon } from './addon.mjs';
import { findBundles, sweepBundles } from './bundles.mjs';
import { findDeviceWorker, leaveOutDeviceWorker, sweepDeviceWorker } from './device_worker.mjs';
import { findDependencies, sweepDependencies } from './dependencies.mjs';
import { findTensorflow, sweepTensorflow } from './tensorflow.mjs';
import { findTfjsNode, sweepTfjsNode } from './tfjs_node.mjs';
import { findWasm, leaveOutWasm, sweepWasm } from './wasm.mjs';

/**
 * `find` looks, without changing anything, and returns a finding {state, why, make?, tensorflow?}: `state` is present,
 * built or missing; `make`, where given, makes the part and returns the new finding. `sweep` removes what making it has
 * left, now or in a set-up that was killed. `after` names the parts that it stands on: others may be made beside it, so
 * that compilers work while TensorFlow is fetched. `leavesInSrc`: what a killed set-up has left of it would count as a
 * source of bundles, so it goes first. `begin` does what of a part needs no packages, while these are fetched. `leaveOut`
 * does what sources need where a part is not asked for.
 */
const PARTS = [
  { name: 'dependencies', find: findDependencies, sweep: sweepDependencies },
  { name: 'TensorFlow', find: findTensorflow, sweep: sweepTensorflow, after: [] },
  { name: 'tfjs-node', find: findTfjsNode, sweep: sweepTfjsNode, after: ['TensorFlow'] },
  // It names the version of TensorFlow, but is compiled after the smaller binding: two cores do not do more at a time.
  { name: 'addon', begin: beginAddon, find: findAddon, sweep: sweepAddon, after: ['TensorFlow', 'tfjs-node'] },
  { name: 'WebAssembly', find: findWasm, sweep: sweepWasm, leavesInSrc: true, after: [], leaveOut: leaveOutWasm },
  {
    name: 'workers',
    find: findDeviceWorker,
    sweep: sweepDeviceWorker,
    leavesInSrc: true,
    after: ['WebAssembly'],
    leaveOut: leaveOutDeviceWorker,
  },
  { name: 'bundles', find: findBundles, sweep: sweepBundles, after: ['workers'] },
];

export const PART_NAMES = PARTS.map(({ name }) => name);

/**
 * Finds every part and, if `make`, makes what is missing and can be made. Returns rows {name, state, why}, with `seconds`
 * where a part was made. `wishes`: what the user asks for, {compile, tensorflowPath}. `only`: names of parts, where the
 * others are not made, and looked for where one of these stands on them; null: all.
 */
export async function goThroughParts({ log, make, parts = PARTS, wishes = {}, only = null }) {
  const context = { log, ...wishes };
  const [first, ...others] = parts.filter(({ name }) => only === null || only.includes(name));
  const begun = new Map();
  const begin = () => {
    for (const { name, begin } of others) if (begin !== undefined) begun.set(name, begin(context));
  };
  const finding = await findOrMake(first, context, make, begin);
  if (make) first.sweep?.();
  const rows = [rowOf(first, finding)];
  if (first.name === 'dependencies' && finding.state === 'missing') {
    await Promise.all(begun.values());
    return rows; // all others stand on them
  }
  if (make) for (const { sweep, leavesInSrc } of others) if (leavesInSrc === true) sweep();
  if (make && only !== null) rows.push(...(await leaveOut(parts.filter(({ name }) => !only.includes(name)))));
  const findings = new Map([[first.name, finding]]);
  // What is there already is made use of: an addon that knows TensorFlow is not replaced by one that does not.
  const foundations = others.flatMap(({ after = [] }) => after).filter((name) => only !== null && !only.includes(name));
  for (const part of parts.filter(({ name }) => foundations.includes(name))) {
    const there = await findOrMake(part, context, false);
    if (there.state === 'present') findings.set(part.name, there);
  }
  for (const [i, part] of others.entries()) {
    const after = part.after ?? [first, ...others.slice(0, i)].map(({ name }) => name);
    const before = after.filter((name) => findings.has(name)).map((name) => findings.get(name));
    findings.set(part.name, findOrMakeAfter([...before, begun.get(part.name)], part, context, make));
  }
  for (const part of others) rows.push(rowOf(part, await findings.get(part.name)));
  // Not before: what one part has left looks like what another one is at.
  if (make) for (const { sweep } of others) sweep?.();
  return rows;
}

/** Rows of the parts that sources cannot do without and that could not be left out. */
async function leaveOut(parts) {
  const rows = [];
  for (const part of parts) {
    try {
      await part.leaveOut?.();
    } catch (error) {
      rows.push(rowOf(part, { state: 'missing', why: error.message }));
    }
  }
  return rows;
}

async function findOrMakeAfter(before, part, context, make) {
  const { tensorflow } = (await Promise.all(before)).find((finding) => finding?.tensorflow !== undefined) ?? {};
  return findOrMake(part, { ...context, tensorflow }, make);
}

function rowOf({ name }, { state, why, seconds }) {
  return { name, state, why, ...(seconds === undefined ? {} : { seconds }) };
}

async function findOrMake({ name, find }, context, make, beside = () => {}) {
  try {
    const finding = await find(context);
    if (!make || finding.make === undefined) return finding;
    beside();
    const begun = performance.now();
    const made = await finding.make();
    const seconds = (performance.now() - begun) / 1000;
    context.log(`${name}: ${made.state}, ${seconds.toFixed(1)} s`);
    return { ...made, seconds };
  } catch (error) {
    return { state: 'missing', why: error.message };
  }
}
