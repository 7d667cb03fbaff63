/**
 * The package of TensorFlow's parts for this platform: the binding of tfjs-node and the addon with TensorFlow's ops, which
 * set-up puts in their places instead of compiling them.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { isClone, root } from './places.mjs';

/** The library that the binding asks for. */
const LIBRARY = 'libtensorflow_cc.so.2';

/**
 * {name, addon, binding, tfjsNode, tensorflow} or {missing: why}. `addon` and `binding` are {path, sha256} of files that
 * are whole, the other two the versions that they are made for.
 */
export function prebuiltParts(from = root) {
  const name = `tfjs-embeddings-tensorflow-${process.platform}-${process.arch}`;
  if (isClone && from === root) return { missing: 'a clone compiles its own sources' };
  try {
    const path = createRequire(join(from, 'package.json')).resolve(`${name}/package.json`);
    const [manifest, own] = [path, join(from, 'package.json')].map((each) => JSON.parse(readFileSync(each, 'utf8')));
    if (manifest.version !== own.version) {
      return { missing: `${name} is version ${manifest.version}, tfjs-embeddings is ${own.version}` };
    }
    const [addon, binding] = [manifest.addon, manifest.binding].map((part) => wholeFile(dirname(path), part));
    return { name, addon, binding, tfjsNode: manifest.tfjsNode, tensorflow: manifest.tensorflow };
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return { missing: `${name} is not installed` };
    return { missing: `${name} is damaged: ${error.message}` };
  }
}

function wholeFile(folder, { file, sha256 }) {
  const path = join(folder, file);
  const received = createHash('sha256').update(readFileSync(path)).digest('hex');
  if (received !== sha256) throw new Error(`${path}: expected the SHA-256 ${sha256}, received ${received}`);
  return { path, sha256 };
}

/** Why the parts do not serve a tfjs-node of this version with these libraries of TensorFlow, or null where they do. */
export function misfit(parts, tensorflow, tfjsNode = parts.tfjsNode) {
  if (parts.missing) return parts.missing;
  const library = basename(tensorflow.library);
  if (library !== LIBRARY) return `${parts.name} is for ${LIBRARY}, not ${library}`;
  return tfjsNode === parts.tfjsNode ? null : `${parts.name} is for tfjs-node ${parts.tfjsNode}, not ${tfjsNode}`;
}
