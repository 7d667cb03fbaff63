/**
 * The part "tfjs-node": links to TensorFlow inside the package @tensorflow/tfjs-node and its binding, prebuilt or compiled
 * by one compiler call. The package's own install step is never run: it downloads an old TensorFlow from a storage host.
 */
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { gist, run } from './command.mjs';
import { compiler } from './compiler.mjs';
import { nodeApiHeaders, packageFolder } from './places.mjs';
import { misfit, prebuiltParts } from './prebuilt_parts.mjs';
import { hashOf, readStamp, writeStamp } from './stamp.mjs';
import { removeUnfinished, unfinished } from './unfinished.mjs';

/** What to type where tfjs-node is missing. */
export const INSTALL_TFJS_NODE = 'npm install --ignore-scripts @tensorflow/tfjs-node';

/** Folder and state of the installed tfjs-node: {folder, version, own}; own: its own install step made the binding. */
export function tfjsNode() {
  const folder = packageFolder('@tensorflow/tfjs-node');
  if (folder === null) return null;
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const binding = bindingPath(folder);
  return { folder, version, binding, own: existsSync(binding) && !existsSync(stampPath(binding)) };
}

/** Where tfjs-node looks for its binding under this Node. */
function bindingPath(folder) {
  const { binary } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const usable = binary.napi_versions.filter((version) => version <= Number(process.versions.napi));
  return join(folder, 'lib', `napi-v${Math.max(...usable)}`, 'tfjs_binding.node');
}

function stampPath(binding) {
  return `${binding}.json`;
}

/**
 * Finds tfjs-node with a binding; `make` links TensorFlow into it and puts the binding in its place, which is compiled
 * where there is none in the package of TensorFlow's parts, or where `compile` asks for it.
 */
export function findTfjsNode({ log, tensorflow, compile = false }) {
  const node = tfjsNode();
  if (node === null) return { state: 'missing', why: `not installed: ${INSTALL_TFJS_NODE}` };
  if (node.own) return { state: 'present', why: `${node.version}, with the binding of its own install step` };
  if (tensorflow === undefined) return { state: 'missing', why: 'needs TensorFlow' };
  if (process.platform === 'win32') return { state: 'missing', why: 'on Windows: run its own install step' };
  const [cxx, headers] = [compiler('c++'), nodeApiHeaders()];
  const sources = { path: join(node.folder, 'binding') };
  const inputs = hashOf(tensorflow.version, basename(tensorflow.library), node.version, sources);
  const stamp = readStamp(stampPath(node.binding));
  const parts = prebuiltParts();
  const lack = compile ? '--compile' : misfit(parts, tensorflow, node.version);
  const isPrebuilt = lack === null;
  const why = `${node.version} on TensorFlow ${tensorflow.version}${isPrebuilt ? ', prebuilt' : ''}`;
  const sameCompiler = cxx.missing !== undefined || stamp?.compiler === cxx.version;
  const isCurrent = isPrebuilt ? stamp?.inputs === parts.binding.sha256 : stamp?.inputs === inputs && sameCompiler;
  const built = existsSync(node.binding);
  if (built && isCurrent && isLinked(node.folder, tensorflow)) return { state: 'present', why };
  if (isPrebuilt) {
    const made = { inputs: parts.binding.sha256, compiler: parts.name };
    const make = () => putInPlace(node, tensorflow, made, why, (path) => copyFileSync(parts.binding.path, path));
    return { state: 'missing', why: built ? 'out of date' : 'not set up', make };
  }
  if (cxx.missing) return { state: 'missing', why: `${cxx.missing}; ${lack}` };
  if (headers === null) return { state: 'missing', why: 'no Node-API headers: npm install node-api-headers' };
  const make = () => {
    log(`compiling the tfjs-node binding with ${cxx.version}`);
    return putInPlace(node, tensorflow, { inputs, compiler: cxx.version }, why, (out) => {
      const lib = join(node.folder, 'deps', 'lib');
      const libraries = [tensorflow.library, tensorflow.framework].map((path) => join(lib, basename(path)));
      const { folder } = node;
      return compileBinding({ cxx: cxx.command, folder, include: tensorflow.include, headers, libraries, out });
    });
  };
  return { state: 'missing', why: built ? 'out of date' : 'not built', make };
}

/** Removes what a build that was ended early has left. */
export function sweepTfjsNode() {
  const node = tfjsNode();
  if (node === null) return;
  const deps = join(node.folder, 'deps');
  removeUnfinished(dirname(node.binding), deps, join(deps, 'lib'));
}

/** Links TensorFlow into tfjs-node and has `write` make the binding, which is in its place when it is whole. */
async function putInPlace(node, tensorflow, stamp, why, write) {
  link(node.folder, tensorflow);
  mkdirSync(dirname(node.binding), { recursive: true });
  const temporary = unfinished(node.binding);
  try {
    await write(temporary);
  } catch (error) {
    return { state: 'missing', why: gist(error) };
  }
  // The stamp goes before the binding, as one without a stamp would be taken for the work of the package's own install
  // step; and an old binding goes before the stamp, so that it never stands beside a stamp that is not its own.
  rmSync(node.binding, { force: true });
  writeStamp(stampPath(node.binding), stamp);
  renameSync(temporary, node.binding);
  return { state: 'built', why };
}

/**
 * Compiles the binding of the tfjs-node in `folder` into `out`. cxx: command of the compiler, or a list of it and its first
 * arguments. include, headers: folders of TensorFlow's headers and Node's. libraries: files of TensorFlow to link to.
 * flags, links: further flags of the compiler and of the linker. Rejects with the compiler's words.
 */
export async function compileBinding({ cxx, folder, include, headers, libraries, flags = [], links = [], out }) {
  const mac = process.platform === 'darwin';
  const [command, ...first] = [cxx].flat();
  await run(command, [
    ...[...first, '-std=c++17', '-O2', '-shared', '-fPIC', '-w', '-DNAPI_VERSION=8', ...flags],
    ...(mac ? ['-undefined', 'dynamic_lookup'] : []),
    ...[`-I${include}`, `-I${headers}`, `-I${folder}`],
    ...['tfjs_backend.cc', 'tfjs_binding.cc'].map((name) => join(folder, 'binding', name)),
    ...['-o', out, ...links, ...libraries],
    `-Wl,-rpath,${mac ? '@loader_path' : '$ORIGIN'}/../../deps/lib`,
  ]);
}

/** Link in tfjs-node -> file of TensorFlow: under their sonames, and under the plain names that its build expects. */
function links(folder, tensorflow) {
  const lib = join(folder, 'deps', 'lib');
  const extension = process.platform === 'darwin' ? '.dylib' : '.so';
  return new Map([
    [join(lib, basename(tensorflow.library)), tensorflow.library],
    [join(lib, basename(tensorflow.framework)), tensorflow.framework],
    [join(lib, `libtensorflow${extension}`), tensorflow.library],
    [join(lib, `libtensorflow_framework${extension}`), tensorflow.framework],
    [join(folder, 'deps', 'include'), tensorflow.include],
  ]);
}

function isLinked(folder, tensorflow) {
  return [...links(folder, tensorflow)].every(([path, target]) => pointsTo(path, target));
}

function pointsTo(path, target) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isSymbolicLink() === true && readlinkSync(path) === relative(dirname(path), target);
}

function link(folder, tensorflow) {
  const wanted = links(folder, tensorflow);
  const lib = join(folder, 'deps', 'lib');
  mkdirSync(lib, { recursive: true });
  for (const name of readdirSync(lib)) {
    const path = join(lib, name);
    if (!wanted.has(path) && lstatSync(path).isSymbolicLink()) rmSync(path); // of another TensorFlow, linked earlier
  }
  for (const [path, target] of wanted) {
    if (pointsTo(path, target)) continue;
    const temporary = unfinished(path);
    rmSync(temporary, { force: true });
    rmSync(path, { recursive: true, force: true });
    symlinkSync(relative(dirname(path), target), temporary);
    renameSync(temporary, path);
  }
}
