/** The part "addon": the C kernels with their hosts for Node and TensorFlow, in one native library. */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gist } from './command.mjs';
import { compiler } from './compiler.mjs';
import { addon, build, nodeApiHeaders, root } from './places.mjs';
import { prebuiltSource } from '../prebuild/addons_here.mjs';
import { misfit, prebuiltParts } from './prebuilt_parts.mjs';
import { hashOf, readStamp, writeStamp } from './stamp.mjs';
import { removeUnfinished, unfinished } from './unfinished.mjs';

const STAMP = `${addon}.json`;
/** Where compiled objects are kept. */
const OBJECTS = join(build, 'objects');
const SOURCES = ['kernels', 'hosts', 'build_native.mjs', 'object_cache.mjs'];

/**
 * Finds the addon; `make` builds it when its sources, TensorFlow's headers or the compilers are others. Where this
 * platform's package has one, only TensorFlow's ops are a reason to build; where the package of TensorFlow's parts has
 * one, nothing is, unless `compile` asks for it.
 */
export async function findAddon({ log, tensorflow, compile: isToCompile = false }) {
  const parts = prebuiltParts();
  if (tensorflow !== undefined && !isToCompile && misfit(parts, tensorflow) === null) return ofParts(parts, tensorflow);
  const [cc, cxx, headers, prebuilt] = [compiler('c'), compiler('c++'), nodeApiHeaders(), await prebuiltSource()];
  const wanted = tensorflow !== undefined && !cxx.missing ? tensorflow : null;
  const stamp = existsSync(addon) ? readStamp(STAMP) : null;
  const isOfUse = stamp !== null && (stamp.tensorflow !== null || prebuilt === null);
  if (isOfUse && isCurrent(stamp, wanted, cc, cxx)) {
    return { state: 'present', why: purpose(stamp.tensorflow, tensorflow, cxx) };
  }
  const noHeaders = headers === null ? 'no Node-API headers: npm install node-api-headers' : undefined;
  const problem = cc.missing ?? noHeaders;
  if (prebuilt !== null && (wanted === null || problem !== undefined)) {
    const lacks = tensorflow === undefined ? '' : `, for Node only: ${problem ?? cxx.missing}`;
    return { state: 'present', why: `${prebuilt}${lacks}` };
  }
  if (problem !== undefined) return { state: 'missing', why: problem };
  const why = purpose(wanted?.version ?? null, tensorflow, cxx);
  const make = () => compile({ cc, cxx, headers, wanted, log, why });
  return { state: 'missing', why: existsSync(addon) ? 'out of date' : 'not built', make };
}

/**
 * Compiles the kernels while packages are fetched: most of an addon, and they need none. Where they cannot be compiled,
 * making the addon says why. A package that has the addon prebuilt is not known of yet, so that is done in vain there.
 */
export async function beginAddon({ log }) {
  const cc = compiler('c');
  if (existsSync(addon) || cc.missing) return;
  const { compileKernels } = await import('../build_native.mjs');
  log(`compiling the kernels with ${cc.version}`);
  await compileKernels({ cc: cc.command, objects: OBJECTS, log }).catch(() => {});
}

/** The addon of the package of TensorFlow's parts, which is copied to where the one that is built would be. */
function ofParts({ name, addon: { path, sha256 } }, tensorflow) {
  const why = 'for Node, TensorFlow and Python, prebuilt';
  const made = { inputs: sha256, compilers: name, tensorflow: tensorflow.version };
  const stamp = existsSync(addon) ? readStamp(STAMP) : null;
  if (stamp?.inputs === sha256 && stamp.tensorflow === made.tensorflow) return { state: 'present', why };
  const make = () => {
    mkdirSync(build, { recursive: true });
    copyFileSync(path, unfinished(addon));
    putInPlace(made);
    return { state: 'built', why };
  };
  return { state: 'missing', why: existsSync(addon) ? 'out of date' : 'not set up', make };
}

/** Gives the finished addon its name, and says what it was made of. */
function putInPlace(stamp) {
  rmSync(STAMP, { force: true }); // it never stands beside an addon that is not its own
  renameSync(unfinished(addon), addon);
  writeStamp(STAMP, stamp);
}

/** An addon that can do more than is wanted now is fine: without a C++ compiler there is no better one to be had. */
function isCurrent(stamp, wanted, cc, cxx) {
  if (stamp.inputs !== inputsFor(stamp.tensorflow)) return false;
  if (wanted !== null && stamp.tensorflow !== wanted.version) return false;
  return Boolean(cc.missing ?? cxx.missing) || stamp.compilers === versions(cc, cxx);
}

function inputsFor(tensorflowVersion) {
  const sources = SOURCES.map((name) => ({ path: join(root, 'custom-ops', name) }));
  return hashOf(process.platform, process.arch, tensorflowVersion, ...sources);
}

function versions(cc, cxx) {
  return `${cc.version}, ${cxx.version}`;
}

function purpose(tensorflowVersion, tensorflow, cxx) {
  if (tensorflowVersion !== null) return 'for Node, TensorFlow and Python';
  return `for Node only: ${tensorflow === undefined ? 'TensorFlow is missing' : cxx.missing}`;
}

/** Removes what a build that was ended early has left. */
export function sweepAddon() {
  removeUnfinished(build);
}

async function compile({ cc, cxx, headers, wanted, log, why }) {
  const { buildNative } = await import('../build_native.mjs');
  mkdirSync(build, { recursive: true });
  log(`compiling the addon with ${cc.version}`);
  const out = unfinished(addon);
  try {
    await buildNative({
      cc: cc.command,
      cxx: cxx.command ?? null,
      napiInclude: headers,
      tensorflowInclude: wanted?.include ?? null,
      out,
      objects: OBJECTS,
      log,
    });
  } catch (error) {
    return { state: 'missing', why: gist(error) };
  }
  const tensorflow = wanted?.version ?? null;
  putInPlace({ inputs: inputsFor(tensorflow), compilers: versions(cc, cxx), tensorflow });
  return { state: 'built', why };
}
