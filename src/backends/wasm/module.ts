/** The compiled WebAssembly modules: from the bytes in the bundle, or from a URL that serves them apart. */
import { ArgumentTypeError, described, RuntimeError, ValueError } from '../../base/errors.js';
import { KERNELS } from './kernels_wasm.js';

const bytesOf = (text: string): number[] => [text.length, ...[...text].map((letter) => letter.charCodeAt(0))];
const IMPORT_SECTION = 2;
const MEMORY = 2;
const NO_MAXIMUM = 0;
const SHARED_WITH_MAXIMUM = 3;
/** 65536 pages (4 GiB) as LEB128: a module must say at most as much as the memory that it is given. */
const MAXIMUM = [0x80, 0x80, 0x04];

/** `env.memory`, without its limits. */
const NAMES = [...bytesOf('env'), ...bytesOf('memory'), MEMORY];

/** A section that imports `env.memory` alone, up to the pages that it must have at least. */
function importSection(limits: number, after: readonly number[]): number[] {
  const pages = 1;
  const size = 1 + NAMES.length + 1 + pages + after.length;
  return [IMPORT_SECTION, size, 1, ...NAMES, limits];
}

/**
 * Returns the bytes of a module that imports an ordinary memory, changed to import a shared one.
 * Throws where they do not import `env.memory` alone, with fewer than 128 pages and no maximum.
 */
export function asShared(plain: Uint8Array): Uint8Array<ArrayBuffer> {
  const wanted = importSection(NO_MAXIMUM, []);
  const start = plain.findIndex((_, at) => wanted.every((byte, i) => plain[at + i] === byte));
  if (start < 0) throw new Error('the WebAssembly module does not import env.memory as it should');
  const pages = start + wanted.length;
  const head = [...importSection(SHARED_WITH_MAXIMUM, MAXIMUM), plain[pages]!, ...MAXIMUM];
  const rest = plain.subarray(pages + 1);
  const shared = new Uint8Array(start + head.length + rest.length);
  shared.set(plain.subarray(0, start));
  shared.set(head, start);
  shared.set(rest, start + head.length);
  return shared;
}

/** Which memory a module can import. */
type MemoryKind = 'plain' | 'shared';

const modules = new Map<MemoryKind, WebAssembly.Module>();
const listeners: (() => void)[] = [];
let pending: Promise<void> | null = null;

/** Whether the bundle holds the module and the runtime knows WebAssembly. */
export function wasmSupported(): boolean {
  return typeof WebAssembly === 'object' && KERNELS !== '';
}

/** Calls back as soon as the module for ordinary memories is compiled: at once where that is allowed. */
export function whenCompiled(listener: () => void): void {
  if (modules.has('plain')) listener();
  else listeners.push(listener);
}

/** Compiles the embedded module: at once where the runtime allows it, otherwise in the background. */
export function compileEmbedded(kind: MemoryKind = 'plain'): void {
  if (!wasmSupported() || modules.has(kind) || (kind === 'plain' && pending !== null)) return;
  const embedded = decodeBase64(KERNELS);
  const bytes = kind === 'plain' ? embedded : asShared(embedded);
  try {
    found(kind, new WebAssembly.Module(bytes));
  } catch (error) {
    // Pages may be forbidden to compile at once (RangeError); bytes that no runtime takes reject `ready()` instead.
    const compiled =
      error instanceof RangeError ? WebAssembly.compile(bytes) : Promise.reject<WebAssembly.Module>(error);
    awaited(compiled.then((module) => found(kind, module)));
  }
}

/** What `ready()` waits for; a failure is told there, and nowhere else. */
function awaited(work: Promise<void>): void {
  pending = work;
  work.catch(() => undefined);
}

function found(kind: MemoryKind, module: WebAssembly.Module): void {
  modules.set(kind, module);
  if (kind === 'plain') for (const listener of listeners.splice(0)) listener();
}

/**
 * Resolves when the WebAssembly kernels can run.
 *
 * Where the runtime compiles at once (Node; most browsers) they run from the start. Await it after `setWasmPath`, and
 * in pages that may only compile in the background. Rejects where the module cannot be fetched or compiled.
 *
 * @returns Resolves with nothing; rejects where the kernels cannot be loaded.
 *
 * @example
 * await emb.ready();
 */
export async function ready(): Promise<void> {
  compileEmbedded();
  await pending;
}

/**
 * Takes the WebAssembly kernels from a URL instead of the bytes in the bundle; await `ready()` afterwards. Memories
 * that exist keep the module that they have, and shared memories always take the one in the bundle. Errors: TypeError for a url that is not a string; RuntimeError, from
 * `ready()`, where it cannot be fetched. Mirrors `setWasmPath` of tfjs-backend-wasm 4.
 *
 * @param url - Where `kernels.wasm` lies.
 *
 * @example
 * emb.setWasmPath('/static/kernels.wasm');
 * await emb.ready();
 */
export function setWasmPath(url: string): void {
  if (typeof url !== 'string') throw new ArgumentTypeError('url', 'a string', url);
  if (url === '') throw new ValueError('url', 'a URL', url);
  awaited(fetchModule(url).then((module) => found('plain', module)));
}

async function fetchModule(url: string): Promise<WebAssembly.Module> {
  let response: Response;
  try {
    response = await fetch(url);
  } catch (error) {
    throw new RuntimeError('url', 'a URL that can be fetched', url, String(error));
  }
  if (!response.ok) {
    throw new RuntimeError('url', 'a URL that can be fetched', described(`${url} (status ${response.status})`));
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

/** Whether the module for a kind of memory can run at once. */
export function isCompiled(kind: MemoryKind): boolean {
  compileEmbedded(kind);
  return modules.has(kind);
}

/** The module for ordinary memories, to be handed to another thread; null where it is not compiled yet. */
export function compiledModule(): WebAssembly.Module | null {
  compileEmbedded();
  return modules.get('plain') ?? null;
}

/** Takes the module for ordinary memories from the thread that compiled it. */
export function adoptModule(module: WebAssembly.Module): void {
  found('plain', module);
}

/** The module for a memory: a shared one needs a module that says so. */
export function moduleFor(memory: WebAssembly.Memory): WebAssembly.Module {
  const kind = isShared(memory.buffer) ? 'shared' : 'plain';
  compileEmbedded(kind);
  const module = modules.get(kind);
  if (module === undefined) {
    throw new RuntimeError(
      'kernels',
      'a compiled WebAssembly module',
      described(wasmSupported() ? 'one that is still being compiled' : 'none'),
      wasmSupported() ? 'Await `ready()` first.' : 'This runtime or this build has no WebAssembly kernels.',
    );
  }
  return module;
}

/** Whether other threads may see a memory. */
export function isShared(buffer: ArrayBuffer | SharedArrayBuffer): boolean {
  return typeof SharedArrayBuffer === 'function' && buffer instanceof SharedArrayBuffer;
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
