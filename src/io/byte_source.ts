/** Bytes from wherever users keep them: a path, a URL, a file that was picked, or memory. */
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { platform, type PositionedFile } from '../base/platform.js';
import { openPath } from './table_file.js';

/** A path or URL, a Blob or File, or bytes in memory. */
export type ByteInput = string | URL | Blob | ArrayBuffer | Uint8Array;

/** Bytes that are read piece by piece, and what they are called in errors. */
export interface ByteSource extends PositionedFile {
  readonly name: string;
}

const FILE_SCHEME = 'file://';
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const EXPECTED = 'a path, a URL, a Blob or File, or bytes';

class MemoryBytes implements ByteSource {
  readonly size: number;

  constructor(
    readonly bytes: Uint8Array,
    readonly name: string,
  ) {
    this.size = bytes.length;
  }

  read(position: number, into: Uint8Array): number {
    const part = this.bytes.subarray(position, position + into.length);
    into.set(part);
    return part.length;
  }

  close(): void {}
}

/** Bytes in memory as a file. */
export function positioned(bytes: Uint8Array): PositionedFile {
  return new MemoryBytes(bytes, 'the bytes');
}

async function fetchBytes(url: string, argument: string): Promise<ByteSource> {
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`the server answers ${response.status}`);
    return new MemoryBytes(new Uint8Array(await response.arrayBuffer()), url);
  } catch (error) {
    throw new RuntimeError(argument, 'a URL that can be read', described(url), (error as Error).message);
  }
}

/** Whether a text is a URL that is fetched; everything else is a path. */
export function isFetched(text: string): boolean {
  if (text.startsWith(FILE_SCHEME)) return false;
  return SCHEME.test(text) ? !/^[a-z]:[\\/]/i.test(text) : platform().openFile === undefined;
}

/** What a library says of bytes that it cannot read. Where it only stumbled over them, that tells users nothing. */
export function noteOnBytes(error: unknown): string {
  const message = String((error as Error | undefined)?.message ?? error);
  // A library names what it did not find.
  const stumbled = error instanceof TypeError || error instanceof RangeError || message.includes('undefined');
  return stumbled ? 'Its bytes are damaged.' : message;
}

/** The path in a `file://` URL, as tfjs-node reads it: what follows is a path, with nothing encoded. */
export function pathOf(text: string): string {
  return text.startsWith(FILE_SCHEME) ? text.slice(FILE_SCHEME.length) : text;
}

/** A URL as text: what it fetches, or the path of a file, in which nothing is encoded. */
export function textOf(url: URL): string {
  if (url.protocol !== 'file:') return url.href;
  const path = decodeURIComponent(url.pathname);
  // On Windows /C:/folder is the path C:/folder.
  const isDrive =
    /^\/[a-z]:\//i.test(path) && (globalThis as { process?: NodeJS.Process }).process?.platform === 'win32';
  return isDrive ? path.slice(1) : path;
}

/**
 * The path of a folder, which may come as a `file://` URL.
 *
 * @throws ValueError for nothing, and for a URL of another scheme: it would be a folder of that name.
 */
export function folderPath(text: string, argument: string): string {
  const path = pathOf(text);
  if (path === '' || /^[a-z][a-z\d+.-]*:\/\//i.test(path)) throw new ValueError(argument, 'the path of a folder', text);
  return path;
}

/**
 * Opens bytes for reading; a path is read piece by piece, all else lies in memory.
 *
 * @throws TypeError for anything else; ValueError for a file that does not exist; RuntimeError where it cannot be read.
 */
export async function openBytes(source: unknown, argument = 'source'): Promise<ByteSource> {
  if (source instanceof URL) return openBytes(textOf(source), argument);
  if (typeof source === 'string') {
    if (source === '') throw new ValueError(argument, EXPECTED, source);
    if (isFetched(source)) return fetchBytes(source, argument);
    const path = pathOf(source);
    return Object.assign(openPath(path, argument), { name: path });
  }
  if (source instanceof Blob) {
    const name = (source as { name?: unknown }).name;
    return new MemoryBytes(new Uint8Array(await source.arrayBuffer()), typeof name === 'string' ? name : 'the blob');
  }
  if (source instanceof ArrayBuffer) return new MemoryBytes(new Uint8Array(source), 'the bytes');
  if (source instanceof Uint8Array) return new MemoryBytes(source, 'the bytes');
  throw new ArgumentTypeError(argument, EXPECTED, source);
}

/** Bytes of a source. Throws ValueError where it ends before. */
export function bytesAt(source: ByteSource, position: number, length: number, argument = 'source'): Uint8Array {
  const bytes = new Uint8Array(length);
  const count = source.read(position, bytes);
  if (count === length) return bytes;
  throw new ValueError(argument, `${length} bytes at ${position}`, described(`${source.name}, which ends before`));
}

/** All bytes; those that lie in memory are not copied. */
export function allBytes(source: ByteSource, argument = 'source'): Uint8Array {
  return source instanceof MemoryBytes ? source.bytes : bytesAt(source, 0, source.size, argument);
}
