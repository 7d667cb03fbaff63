/**
 * The part "TensorFlow": its two C libraries and the headers of its C API. In a clone they lie in the build folder, where
 * `npm ci` leaves them alone; for a user inside tfjs-node, so that tfjs-node goes on working when npm replaces or removes
 * this package.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { build, isClone } from './places.mjs';
import { readStamp, writeStamp } from './stamp.mjs';
import { INSTALL_TFJS_NODE, tfjsNode } from './tfjs_node.mjs';
import { removeUnfinished, removeWhole, unfinished } from './unfinished.mjs';
import { unpackWheel } from './unpack_wheel.mjs';
import { TENSORFLOW_VERSION, downloadWheel, misnamed, pythonWithPip, wheelFor, wheelIn } from './wheel.mjs';

/** Headers that the tfjs-node binding and the addon include; what these include in turn comes with them. */
const HEADERS = [
  'tensorflow/c/c_api.h',
  'tensorflow/c/eager/c_api.h',
  'tensorflow/c/kernels.h',
  'tensorflow/c/ops.h',
  'tensorflow/core/platform/ctstring_internal.h',
];

const download = join(build, 'download');

/** Names under which a C library of TensorFlow may lie, the wheel's first. */
export function libraryNames(platform = process.platform) {
  if (platform === 'darwin') {
    const framework = ['libtensorflow_framework.2.dylib', 'libtensorflow_framework.dylib'];
    return { main: ['libtensorflow_cc.2.dylib', 'libtensorflow.2.dylib', 'libtensorflow.dylib'], framework };
  }
  const framework = ['libtensorflow_framework.so.2', 'libtensorflow_framework.so'];
  return { main: ['libtensorflow_cc.so.2', 'libtensorflow.so.2', 'libtensorflow.so'], framework };
}

/**
 * Finds TensorFlow's libraries; `make` fetches and unpacks the wheel. A finding that is not missing has `tensorflow`:
 * {version, library, framework, include}, all but the first full paths.
 */
export function findTensorflow({ log, tensorflowPath = null }) {
  const isWheel = tensorflowPath?.endsWith('.whl') === true;
  if (tensorflowPath !== null && !isWheel) return fromFolder(resolve(tensorflowPath), '--tensorflow');
  const named = process.env.LIBTENSORFLOW_DIR;
  if (named && !isWheel) return fromFolder(resolve(named), 'LIBTENSORFLOW_DIR');
  const node = tfjsNode();
  if (node === null) return { state: 'missing', why: `only of use with tfjs-node: ${INSTALL_TFJS_NODE}` };
  if (node.own) return ofTfjsNode(node.folder);
  const folder = join(placeFor(node), `tensorflow-${TENSORFLOW_VERSION}`);
  const tensorflow = unpacked(folder);
  if (tensorflow !== null) return { state: 'present', why: `${TENSORFLOW_VERSION}, from its wheel`, tensorflow };
  if (isWheel) {
    return { state: 'missing', why: 'not unpacked', make: () => makeTensorflow(resolve(tensorflowPath), folder, log) };
  }
  const wheel = wheelFor();
  if (wheel.missing) return { state: 'missing', why: wheel.missing };
  return { state: 'missing', why: 'not fetched', make: () => makeTensorflow(wheel, folder, log) };
}

/** Why no TensorFlow can be had from a path that the user gives, a wheel or a folder; null where it may be. */
export function unusable(path) {
  if (path.endsWith('.whl')) return misnamed(path);
  const { state, why } = fromFolder(resolve(path), '--tensorflow');
  return state === 'missing' ? why : null;
}

function placeFor(node) {
  return isClone ? build : join(node.folder, 'deps');
}

/** Removes what was fetched, and what an unpacking that was ended early has left. */
export function sweepTensorflow() {
  removeWhole(download);
  const node = tfjsNode();
  if (node !== null) removeUnfinished(placeFor(node));
}

/** `wheel`: one to fetch, or the path of one that is there. */
async function makeTensorflow(wheel, folder, log) {
  mkdirSync(dirname(folder), { recursive: true });
  if (typeof wheel === 'string') await unpack(wheel, folder, log);
  else await unpackSomeWheel(wheel, folder, log);
  return { state: 'built', why: `${TENSORFLOW_VERSION}, unpacked from its wheel`, tensorflow: unpacked(folder) };
}

/** A wheel left by a set-up that was killed is used when it is whole; else it is fetched again. */
async function unpackSomeWheel(wheel, folder, log) {
  const left = wheelIn(download);
  if (left !== null) {
    try {
      return await unpack(left, folder, log);
    } catch (error) {
      log(`the wheel of an earlier set-up is of no use (${error.message})`);
    }
  }
  const python = pythonWithPip();
  if (python.missing) throw new Error(`${python.missing}: install Python with pip, or give a wheel by --tensorflow`);
  await unpack(await downloadWheel(wheel, python, download, log), folder, log);
}

/** Unpacks libraries and headers beside `folder` and renames at the end, so that `folder` is whole or absent. */
export async function unpack(wheelPath, folder, log) {
  const temporary = unfinished(folder);
  rmSync(temporary, { recursive: true, force: true });
  const { main, framework } = libraryNames();
  await unpackWheel(wheelPath, temporary, { libraries: [framework, main], headers: HEADERS }, log);
  writeStamp(join(temporary, 'files.json'), sizesIn(temporary));
  rmSync(folder, { recursive: true, force: true });
  renameSync(temporary, folder);
}

/** The size of each file in a folder, by its path there. */
function sizesIn(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ name, parentPath, path }) => join(parentPath ?? path, name));
  return Object.fromEntries(paths.map((path) => [relative(folder, path).split(sep).join('/'), statSync(path).size]));
}

/** What `unpack` left in `folder`, if every file is there in its full size; else null. */
function unpacked(folder) {
  const files = readStamp(join(folder, 'files.json'));
  if (files === null || HEADERS.some((name) => files[`include/${name}`] === undefined)) return null;
  for (const [name, size] of Object.entries(files)) {
    if (statSync(join(folder, name), { throwIfNoEntry: false })?.size !== size) return null;
  }
  return describeFolder(join(folder, 'lib'), join(folder, 'include'), TENSORFLOW_VERSION);
}

/** A folder of the user's: TensorFlow's C package (lib, include) or Python's package `tensorflow`. */
function fromFolder(folder, named) {
  const lib = existsSync(join(folder, 'lib')) ? join(folder, 'lib') : folder;
  const include = join(folder, 'include');
  const header = HEADERS.find((name) => !existsSync(join(include, name)));
  if (header !== undefined) return { state: 'missing', why: `${named}: ${folder} has no include/${header}` };
  const tensorflow = describeFolder(lib, include, `from ${folder}`);
  if (tensorflow === null) return { state: 'missing', why: `${named}: no TensorFlow library in ${lib}` };
  return { state: 'present', why: `${named}=${folder}`, tensorflow };
}

/** The TensorFlow that tfjs-node's own install step has put beside its own binding. */
function ofTfjsNode(folder) {
  const deps = join(folder, 'deps');
  const tensorflow = describeFolder(join(deps, 'lib'), join(deps, 'include'), "tfjs-node's own");
  if (tensorflow === null)
    return { state: 'missing', why: `not in ${deps}, where tfjs-node's own install step puts it` };
  return { state: 'present', why: "the one of tfjs-node's own install step", tensorflow };
}

function describeFolder(lib, include, version) {
  const { main, framework } = libraryNames();
  const pick = (names) => names.map((name) => join(lib, name)).find((path) => existsSync(path));
  const [library, frameworkLibrary] = [pick(main), pick(framework)];
  if (library === undefined || frameworkLibrary === undefined) return null;
  return { version, library, framework: frameworkLibrary, include };
}
