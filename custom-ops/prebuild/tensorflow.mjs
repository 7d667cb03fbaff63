/** What TensorFlow needs natively on a platform: the addon with TensorFlow's ops, and the binding of tfjs-node. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildNative } from '../build_native.mjs';
import { run } from '../setup/command.mjs';
import { findTensorflow } from '../setup/tensorflow.mjs';
import { compileBinding, tfjsNode } from '../setup/tfjs_node.mjs';
import { TENSORFLOW_VERSION } from '../setup/wheel.mjs';
import { BINDING } from './package.mjs';

/** The libraries of TensorFlow's wheel. */
const LIBRARIES = ['libtensorflow_cc.so.2', 'libtensorflow_framework.so.2'];

/** What Node and this package look for. All else, the C++ library among it, is for each of the two files alone. */
const EXPORTS = {
  addon: ['napi_register_module_v1', 'node_api_module_get_api_version_v1', 'te_tensorflow_register'],
  binding: ['napi_register_module_v1'],
};

/**
 * Compiles both beside `how.out`. `how`: what buildNative takes for Node alone. Resolves to {addon, binding, tfjsNode,
 * tensorflow}: their paths, and the versions that they are made for. Throws an Error with the compiler's words.
 */
export async function buildTensorflowParts(how) {
  const node = tfjsNode();
  if (node === null) throw new Error('tfjs-node is not installed: npm ci --ignore-scripts');
  const include = await headers(how.log);
  const scratch = dirname(how.out);
  const linksOf = (name) => {
    const list = join(scratch, `${name}.map`);
    writeFileSync(list, `{ global: ${EXPORTS[name].join('; ')}; local: *; };\n`);
    return [...how.links, `-Wl,--version-script=${list}`];
  };
  const [zig, , ...target] = how.cc;
  const cxx = [zig, 'c++', ...target];
  const addon = await buildNative({ ...how, cxx, tensorflowInclude: include, links: linksOf('addon') });
  const binding = join(scratch, BINDING);
  await compileBinding({
    cxx,
    folder: node.folder,
    include,
    headers: how.napiInclude,
    libraries: await emptyLibraries(how.cc, scratch),
    // The sources name themselves in what they say of errors.
    flags: [...how.flags, '-fvisibility=hidden', `-ffile-prefix-map=${node.folder}=tfjs-node`],
    links: [...linksOf('binding'), '-Wl,--no-as-needed', '-Wl,-z,undefs', '-Wl,--allow-shlib-undefined'],
    out: binding,
  });
  return { addon, binding, tfjsNode: node.version, tensorflow: TENSORFLOW_VERSION };
}

/** The headers of the release of TensorFlow that its wheel has, which is fetched where it is not there. */
async function headers(log) {
  const found = await findTensorflow({ log });
  const { tensorflow, why } = found.make === undefined ? found : await found.make();
  if (tensorflow?.version === TENSORFLOW_VERSION) return tensorflow.include;
  throw new Error(`expected the headers of TensorFlow ${TENSORFLOW_VERSION}, received ${tensorflow?.version ?? why}`);
}

/** Libraries under the names of TensorFlow's, which are not here for other platforms: only the names are needed. */
async function emptyLibraries([zig, ...cc], scratch) {
  const source = join(scratch, 'empty.c');
  writeFileSync(source, '');
  const paths = LIBRARIES.map((name) => join(scratch, name));
  for (const [i, path] of paths.entries()) {
    await run(zig, [...cc, '-shared', `-Wl,-soname,${LIBRARIES[i]}`, source, '-o', path]);
  }
  return paths;
}
