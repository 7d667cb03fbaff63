/** The part "addon": the C kernels with their hosts for Node and TensorFlow, in one native library. */
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { gist } from './command.mjs';
import { compiler } from './compiler.mjs';
import { addon, build, nodeApiHeaders, root } from './places.mjs';
import { hashOf, readStamp, writeStamp } from './stamp.mjs';

const STAMP = `${addon}.json`;
const SOURCES = ['kernels', 'hosts', 'build_native.mjs'];

/** Finds the addon; `make` builds it when its sources, TensorFlow's headers or the compiler are others. */
export function findAddon({ log, tensorflow }) {
  const sources = SOURCES.map((name) => ({ path: join(root, 'custom-ops', name) }));
  const inputs = hashOf(process.platform, process.arch, tensorflow?.version ?? 'without TensorFlow', ...sources);
  const stamp = readStamp(STAMP);
  const [cc, cxx, headers] = [compiler('c'), compiler('c++'), nodeApiHeaders()];
  const compilers = `${cc.version} ${cxx.version}`;
  const lacking =
    cc.missing ?? cxx.missing ?? (headers === null ? 'no Node-API headers: npm install node-api-headers' : null);
  const why = tensorflow === undefined ? 'for Node only, as TensorFlow is missing' : 'for Node, TensorFlow and Python';
  if (existsSync(addon) && stamp?.inputs === inputs && (lacking !== null || stamp.compilers === compilers)) {
    return { state: 'present', why };
  }
  if (lacking !== null) return { state: 'missing', why: lacking };
  const make = () => compile({ cc, cxx, headers, tensorflow, log, stamp: { inputs, compilers }, why });
  return { state: 'missing', why: existsSync(addon) ? 'out of date' : 'not built', make };
}

async function compile({ cc, cxx, headers, tensorflow, log, stamp, why }) {
  const { buildNative } = await import('../build_native.mjs');
  mkdirSync(build, { recursive: true });
  log(`compiling the addon with ${cc.version}`);
  const out = `${addon}.partial`;
  try {
    await buildNative({
      cc: cc.command,
      cxx: cxx.command,
      napiInclude: headers,
      tensorflowInclude: tensorflow?.include ?? null,
      out,
      log,
    });
  } catch (error) {
    return { state: 'missing', why: gist(error) };
  }
  renameSync(out, addon);
  writeStamp(STAMP, stamp);
  return { state: 'built', why };
}
