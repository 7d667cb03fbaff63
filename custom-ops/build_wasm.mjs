#!/usr/bin/env node
/**
 * Compiles the C core to WebAssembly with clang from npm (it runs in Node; nothing else is needed).
 *
 * The module imports its memory and holds no data, so that it can run inside the memory of another module, with the
 * stack where its host puts it. For shared memories src/backends/wasm/module.ts changes the import.
 * Output: custom-ops/build/kernels.wasm, and src/backends/wasm/kernels_wasm.ts with the same bytes for bundles.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { writeWhole } from './setup/unfinished.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const KERNELS = join(HERE, 'kernels');
const HOST = join(HERE, 'hosts', 'wasm');
const BUILD = join(HERE, 'build');
const GENERATED = join(HERE, '..', 'src', 'backends', 'wasm', 'kernels_wasm.ts');
const OUTPUT = 'kernels.wasm';
const INSTRUCTION_SET = 'simd128';

const COMPILE = [
  '--target=wasm32',
  // Paths with .. do not exist in the compiler's own file system.
  '-Ikernels',
  '-std=c11',
  '-O3',
  '-msimd128',
  '-mbulk-memory',
  // Plain memories take these too.
  '-matomics',
  '-ffreestanding',
  '-fno-math-errno',
  // Tables that switch statements turn into would be data.
  '-fno-jump-tables',
  '-Wall',
  '-Werror=implicit-function-declaration',
];
const LINK = [
  '--target=wasm32',
  '-nostdlib',
  '-Wl,--no-entry',
  '-Wl,--import-memory',
  '-Wl,--export=__stack_pointer',
  '-Wl,--export=te_pool',
  // The stack is given at run time.
  '-Wl,-z,stack-size=16',
  '-Wl,--initial-memory=65536',
  '-Wl,--strip-all',
];
/** The C files and headers of a folder, and of those in it. */
function treeOf(folder) {
  const tree = {};
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) tree[entry.name] = treeOf(path);
    else if (/\.(c|h)$/.test(entry.name)) tree[entry.name] = readFileSync(path, 'utf8');
  }
  return tree;
}

/** The C files and headers as the tree that the compiler sees: `kernels/…` and `hosts/wasm/…`. */
function sources() {
  const unitsOf = (folder) => {
    const found = readdirSync(folder, { recursive: true })
      .map((file) => relative(HERE, join(folder, file)).split(sep).join('/'))
      .filter((file) => file.endsWith('.c'));
    if (found.length === 0) throw new Error(`no C file in ${folder}`);
    return found.sort();
  };
  const tree = { kernels: treeOf(KERNELS), hosts: { wasm: treeOf(HOST) } };
  return { tree, units: [...unitsOf(KERNELS), ...unitsOf(HOST)] };
}

/** Runs clang; its words go to the log, and into the error where it fails. */
async function clang(runClang, args, files, log) {
  let said = '';
  const collect = (bytes) => {
    if (bytes !== null) said += new TextDecoder().decode(bytes);
  };
  try {
    const made = await runClang(['clang', ...args], files, { stdout: collect, stderr: collect });
    if (said.trim() !== '') log(said.trim());
    return made;
  } catch (error) {
    throw Object.assign(new Error(`clang: ${error.message}\n${said}`), { output: said });
  }
}

/** Object files, by name. */
async function compile(runClang, log) {
  const { tree, units } = sources();
  const objects = {};
  for (const unit of units) {
    const name = `${unit.replace(/^.*\//, '').replace(/\.c$/, '')}.o`;
    objects[name] = (await clang(runClang, [...COMPILE, '-c', unit, '-o', name], tree, log))[name];
  }
  return objects;
}

async function link(runClang, objects, log) {
  return (await clang(runClang, [...LINK, ...Object.keys(objects), '-o', OUTPUT], objects, log))[OUTPUT];
}

/** Ids of the sections of a WebAssembly file. */
function sectionIds(bytes) {
  const ids = [];
  let at = 8;
  while (at < bytes.length) {
    ids.push(bytes[at++]);
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      size += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    at += size;
  }
  return ids;
}

/** Throws unless the module can run inside any memory: no data, one import, and the stack pointer exported. */
function verify(bytes) {
  const DATA_SECTION = 11;
  if (sectionIds(bytes).includes(DATA_SECTION)) {
    throw new Error(`${OUTPUT}: has a data segment, so it cannot run inside another module's memory`);
  }
  const module = new WebAssembly.Module(bytes);
  const imports = WebAssembly.Module.imports(module).map((entry) => `${entry.module}.${entry.name}`);
  if (imports.join() !== 'env.memory')
    throw new Error(`${OUTPUT}: imports ${imports.join(', ')}, not env.memory alone`);
  const exports = WebAssembly.Module.exports(module).map((entry) => entry.name);
  if (!exports.includes('__stack_pointer')) throw new Error(`${OUTPUT}: does not export its stack pointer`);
}

function writeGenerated(bytes, instructionSet) {
  const text = [
    '/* Written by custom-ops/build_wasm.mjs. */',
    '/** Instructions that the module uses beyond plain WebAssembly. */',
    `export const INSTRUCTION_SET: string = '${instructionSet}';`,
    '/** Base64 of the module; empty where it was not built. */',
    `export const KERNELS: string = '${Buffer.from(bytes).toString('base64')}';`,
    '',
  ].join('\n');
  if (existsSync(GENERATED) && readFileSync(GENERATED, 'utf8') === text) return;
  writeWhole(GENERATED, text);
}

/**
 * Builds the module. Resolves to `{file, generated}`; rejects with the compiler's words in the message. Where the
 * module cannot be built and never was, an empty one is written so that everything else still loads.
 */
export async function buildWasm({ log = () => {} } = {}) {
  try {
    const { runClang } = await import('@yowasp/clang');
    // Loads the compiler without its own progress lines.
    await runClang(null, {}, { fetchProgress: () => {} });
    const bytes = await link(runClang, await compile(runClang, log), log);
    verify(bytes);
    mkdirSync(BUILD, { recursive: true });
    const file = join(BUILD, OUTPUT);
    writeWhole(file, bytes);
    log(`${OUTPUT}: ${bytes.length} bytes, ${INSTRUCTION_SET}`);
    writeGenerated(bytes, INSTRUCTION_SET);
    return { file, generated: GENERATED };
  } catch (error) {
    writeEmpty();
    throw error;
  }
}

/** An empty module where there is none: everything else loads beside it, and finds no WebAssembly. */
export function writeEmpty() {
  if (!existsSync(GENERATED)) writeGenerated(new Uint8Array(0), 'none');
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await buildWasm({ log: (text) => console.error(text) });
}
