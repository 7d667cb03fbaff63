/** The same module for a shared memory: only the line that imports the memory differs, so bundles hold one. */

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
