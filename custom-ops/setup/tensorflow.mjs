/**
 * The part "TensorFlow": its two C libraries and the headers of its C API. In a clone they lie in the build folder, where
 * `npm ci` leaves them alone; for a user inside tfjs-node, so that tfjs-node goes on working when npm replaces or removes
 * this package.
 */
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { build, isClone } from './places.mjs';
import { readStamp, writeStamp } from './stamp.mjs';
import { INSTALL_TFJS_NODE, tfjsNode } from './tfjs_node.mjs';
import { removeUnfinished, removeWhole, unfinished } from './unfinished.mjs';
import { TENSORFLOW_VERSION, downloadWheel, pythonWithPip, wheelFor, wheelIn } from './wheel.mjs';
import { ZipArchive } from './zip.mjs';

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
export function findTensorflow({ log }) {
  const named = process.env.LIBTENSORFLOW_DIR;
  if (named) return fromFolder(resolve(named));
  const node = tfjsNode();
  if (node === null) return { state: 'missing', why: `only of use with tfjs-node: ${INSTALL_TFJS_NODE}` };
  if (node.own) return ofTfjsNode(node.folder);
  const folder = join(placeFor(node), `tensorflow-${TENSORFLOW_VERSION}`);
  const tensorflow = unpacked(folder);
  if (tensorflow !== null) return { state: 'present', why: `${TENSORFLOW_VERSION}, from its wheel`, tensorflow };
  const wheel = wheelFor();
  if (wheel.missing) return { state: 'missing', why: wheel.missing };
  return { state: 'missing', why: 'not fetched', make: () => makeTensorflow(wheel, folder, log) };
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

async function makeTensorflow(wheel, folder, log) {
  mkdirSync(dirname(folder), { recursive: true });
  await unpackSomeWheel(wheel, folder, log);
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
  if (python.missing) throw new Error(`${python.missing}: install Python with pip, or set LIBTENSORFLOW_DIR`);
  await unpack(await downloadWheel(wheel, python, download, log), folder, log);
}

/** Unpacks libraries and headers beside `folder` and renames at the end, so that `folder` is whole or absent. */
export async function unpack(wheelPath, folder, log) {
  const temporary = unfinished(folder);
  rmSync(temporary, { recursive: true, force: true });
  const archive = await ZipArchive.open(wheelPath);
  try {
    const { main, framework } = libraryNames();
    const hashes = await recordedHashes(archive);
    const files = {};
    mkdirSync(join(temporary, 'lib'), { recursive: true });
    for (const names of [framework, main]) {
      const name = names.find((candidate) => archive.has(`tensorflow/${candidate}`));
      if (name === undefined) throw new Error(`the wheel holds none of ${names.join(', ')}`);
      const entry = `tensorflow/${name}`;
      log(`unpacking ${name} (${(archive.size(entry) / 1e6).toFixed(0)} MB)`);
      const hash = await archive.extract(entry, join(temporary, 'lib', name));
      if (hash !== hashes.get(entry)) throw new Error(`${name}: its SHA-256 is not the one the wheel records`);
      files[`lib/${name}`] = archive.size(entry);
    }
    for (const [name, bytes] of await headers(archive)) {
      const path = join(temporary, 'include', name);
      mkdirSync(dirname(path), { recursive: true });
      await writeFile(path, bytes);
      files[`include/${name}`] = bytes.length;
    }
    writeStamp(join(temporary, 'files.json'), files);
  } finally {
    await archive.close();
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(temporary, folder);
}

/** SHA-256 in hexadecimal of each file, as the wheel's RECORD lists them. */
async function recordedHashes(archive) {
  const record = archive.names().find((name) => name.endsWith('.dist-info/RECORD'));
  if (record === undefined) throw new Error('the wheel has no RECORD');
  const hashes = new Map();
  for (const line of (await archive.read(record)).toString().split('\n')) {
    const match = /^(.+),sha256=([\w-]+),\d+\s*$/.exec(line);
    if (match !== null) hashes.set(match[1], Buffer.from(match[2], 'base64url').toString('hex'));
  }
  return hashes;
}

/** The wanted headers and all that they include, by name. */
async function headers(archive) {
  const contents = new Map();
  const todo = [...HEADERS];
  while (todo.length > 0) {
    const name = todo.pop();
    const entry = `tensorflow/include/${name}`;
    if (contents.has(name) || !archive.has(entry)) continue;
    const bytes = await archive.read(entry);
    contents.set(name, bytes);
    for (const match of bytes.toString().matchAll(/#\s*include\s+"([^"]+)"/g)) todo.push(match[1]);
  }
  for (const name of HEADERS) if (!contents.has(name)) throw new Error(`the wheel has no header ${name}`);
  return contents;
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
function fromFolder(folder) {
  const lib = existsSync(join(folder, 'lib')) ? join(folder, 'lib') : folder;
  const include = join(folder, 'include');
  const header = HEADERS.find((name) => !existsSync(join(include, name)));
  if (header !== undefined) return { state: 'missing', why: `LIBTENSORFLOW_DIR has no include/${header}` };
  const tensorflow = describeFolder(lib, include, `from ${folder}`);
  if (tensorflow === null) return { state: 'missing', why: `LIBTENSORFLOW_DIR: no TensorFlow library in ${lib}` };
  return { state: 'present', why: `LIBTENSORFLOW_DIR=${folder}`, tensorflow };
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
