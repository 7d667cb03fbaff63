/**
 * Compiles the C core with its hosts for Node and TensorFlow into one library, custom-ops/build/tfjs_embeddings.node.
 *
 * Needs a C compiler (gcc or clang; a C++ compiler too for TensorFlow) and the Node-API headers, and nothing of
 * TensorFlow but headers: its symbols are found at run time. `node custom-ops/build_native.mjs` builds for Node alone,
 * or for TensorFlow too with TENSORFLOW_INCLUDE=<folder of headers>. `npm run prebuild` builds for other platforms.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ObjectCache } from './object_cache.mjs';
import { unfinished } from './setup/unfinished.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const kernels = join(here, 'kernels');
const hosts = join(here, 'hosts');

const COMMON = ['-O3', '-fvisibility=hidden', '-fno-math-errno', '-ffp-contract=off', '-Wall', '-Wextra'];
const INSTRUCTION_SETS = {
  'instance_avx2.c': ['-mavx2', '-mfma', '-mf16c'],
  'instance_avx512.c': ['-mavx512f', '-mavx512dq', '-mfma'],
};

const HERE = { platform: process.platform, arch: process.arch };
/** Compilers at a time. */
const LANES = Math.max(2, Math.min(4, availableParallelism()));

/** Runs a program; rejects with what it wrote to standard error. */
function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const said = [];
    child.stdout.on('data', (chunk) => said.push(chunk));
    child.stderr.on('data', (chunk) => said.push(chunk));
    child.on('error', (error) => reject(new Error(`${command} cannot be run: ${error.message}`)));
    child.on('close', (code, signal) => {
      const text = Buffer.concat(said).toString().trim();
      if (code === 0) resolve(text);
      else reject(new Error(`${command} ended with ${code ?? signal}: ${text.slice(0, 4000)}`));
    });
  });
}

/** Runs jobs, a few at a time; after a failure no further one is started. */
async function runAll(jobs, atOnce) {
  const queue = [...jobs];
  let failed = false;
  const lane = async () => {
    while (queue.length > 0 && !failed) {
      try {
        await queue.shift()();
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, lane));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Flags that link a library whose undefined symbols come from the program that loads it. */
function linkFlags(platform) {
  if (platform === 'darwin') return ['-dynamiclib', '-undefined', 'dynamic_lookup'];
  if (platform === 'win32') return ['-shared']; // hosts/node/windows finds the symbols
  return ['-shared', '-pthread', '-Wl,-z,nodelete', '-ldl', '-lm'];
}

/** Calls `work` with a folder for objects below another one, which is removed at the end. */
async function withObjects(place, work) {
  // Of this process alone: compilers that outlived a killed build may still write to theirs.
  const folder = unfinished(join(place, `objects-${process.pid}`));
  try {
    mkdirSync(folder, { recursive: true });
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function compileJobs({ cc, cxx, target, flags, napiInclude, tensorflowInclude, folder, cache, log }) {
  const x64 = target.arch === 'x64';
  const common = [...COMMON, ...(target.platform === 'win32' ? [] : ['-fPIC']), ...flags];
  const withTensorFlow = tensorflowInclude ? ['-DTE_WITH_TENSORFLOW'] : [];
  // Named by their paths: hosts have files of the same names.
  const object = (source) => join(folder, `${relative(here, source).split(sep).join('-')}.o`);
  const under = (place, ending) =>
    readdirSync(place, { recursive: true })
      .filter((name) => name.endsWith(ending))
      .map((name) => join(place, name));
  const c = (source, extra) => [...cc, '-std=gnu11', ...common, ...extra, '-c', source, '-o', object(source)];
  const cc17 = (source) => {
    return [...cxx, '-std=c++17', ...common, '-isystem', tensorflowInclude, '-c', source, '-o', object(source)];
  };
  const calls = [
    ...under(kernels, '.c').map((source) =>
      c(source, ['-I', kernels, ...((x64 && INSTRUCTION_SETS[basename(source)]) || [])]),
    ),
    ...(napiInclude === null ? [] : under(join(hosts, 'node'), '.c')).map((source) =>
      c(source, [...withTensorFlow, '-DNAPI_VERSION=8', '-I', napiInclude]),
    ),
    ...(tensorflowInclude ? under(join(hosts, 'tensorflow'), '.cc').map(cc17) : []),
  ];
  // The large files first: they decide when the last compiler ends.
  const weight = (call) => (/instance_|tensorflow/.test(call.at(-1)) ? 0 : 1);
  calls.sort((a, b) => weight(a) - weight(b));
  const objects = calls.map((call) => call.at(-1));
  const compile = ([command, ...args]) => run(command, args);
  const jobs = calls.map((call) => async () => {
    const said = await (cache === null ? compile(call) : cache.make(call, call.at(-1), compile));
    if (said !== '') log(said);
  });
  return { jobs, objects };
}

/**
 * Returns the path of the library.
 *
 * cc, cxx: commands of the compilers, or lists of a command and its first arguments; cxx may be null for Node alone.
 * napiInclude: folder with node_api.h. tensorflowInclude: folder with tensorflow/c/c_api.h, or null for Node alone.
 * out: file to write. log: takes lines of text. target: {platform, arch} as Node names them, this machine's at first.
 * flags, links: further flags of all compilers and of the linker. objects: folder of compiled objects that are kept; null:
 * all are compiled. Throws an Error with the compiler's words.
 */
export async function buildNative({ cc, cxx, napiInclude, tensorflowInclude, out, log, ...others }) {
  const { target = HERE, flags = [], links = [], objects: kept = null } = others;
  const cache = kept === null ? null : new ObjectCache(kept, here);
  const [c, cPlusPlus] = [[cc].flat(), [cxx].flat()];
  const compilers = { cc: c, cxx: cPlusPlus, target, flags };
  await withObjects(dirname(out), async (folder) => {
    const { jobs, objects } = compileJobs({ ...compilers, napiInclude, tensorflowInclude, folder, cache, log });
    await runAll(jobs, LANES);
    const [linker, ...first] = tensorflowInclude ? cPlusPlus : c;
    await run(linker, [...first, ...objects, ...linkFlags(target.platform), ...links, '-o', out]);
    cache?.sweep();
  });
  return out;
}

/** Compiles the kernels into `objects`, where a later buildNative with the same compiler finds them; needs no headers. */
export async function compileKernels({ cc, objects: kept, log }) {
  const compilers = { cc: [cc].flat(), cxx: null, target: HERE, flags: [] };
  const cache = new ObjectCache(kept, here);
  await withObjects(dirname(kept), async (folder) => {
    const { jobs } = compileJobs({ ...compilers, napiInclude: null, tensorflowInclude: null, folder, cache, log });
    await runAll(jobs, LANES);
  });
}

function nodeApiHeaders() {
  const candidates = [
    process.env.NODE_API_INCLUDE,
    join(dirname(process.execPath), '..', 'include', 'node'),
    '/usr/include/node',
    join(here, '..', 'node_modules', 'node-api-headers', 'include'),
  ];
  const found = candidates.find((folder) => folder && existsSync(join(folder, 'node_api.h')));
  if (found === undefined) throw new Error('no Node-API headers: npm install node-api-headers');
  return found;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const out = await buildNative({
    cc: process.env.CC || 'cc',
    cxx: process.env.CXX || 'c++',
    napiInclude: nodeApiHeaders(),
    tensorflowInclude: process.env.TENSORFLOW_INCLUDE || null,
    out: join(here, 'build', 'tfjs_embeddings.node'),
    log: (text) => console.error(text),
  });
  console.log(out);
}
