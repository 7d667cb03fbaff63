/** Files of data wherever they lie: paths and globs, URLs, files that were picked in a page, bytes. */
import type * as tinyglobby from 'tinyglobby';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { importUnbundled, nodeBuiltin } from '../base/platform.js';
import { pathOf, textOf } from '../io/byte_source.js';

/** A path, which may hold `*`, `**` and `?`; a URL; a File or Blob; bytes. */
export type DataSource = string | URL | Blob | ArrayBuffer | Uint8Array;

/** A file that is read in parts, or from its start. */
export interface DataFile {
  /** For errors. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** The bytes from `start` to before `end`. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** A file, found but not opened. */
export interface FoundFile {
  readonly name: string;
  open(): Promise<DataFile>;
}

const EXPECTED = 'a path, a URL, a File or Blob, bytes, or an array of these';
const GLOB = /[*?[\]{}]/;

interface Fs {
  promises: {
    stat(path: string): Promise<{ size: number; isFile(): boolean }>;
    open(
      path: string,
      flags: 'r',
    ): Promise<{
      read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
      close(): Promise<void>;
    }>;
  };
}

function fileSystem(argument: string): Fs {
  const fs = nodeBuiltin<Fs>('node:fs');
  if (fs !== null) return fs;
  throw new RuntimeError(argument, 'a URL, a File, a Blob or bytes in a page', described('a path'));
}

/** What the system says of a file, as one of our errors. */
function systemError(error: unknown, path: string, argument: string): Error {
  const { code, message } = error as { code?: string; message: string };
  if (code === 'ENOENT' || code === 'ENOTDIR') return new ValueError(argument, 'a file that exists', path);
  return new RuntimeError(argument, 'a file that can be read', described(path), message);
}

async function openPath(path: string, argument: string): Promise<DataFile> {
  const { promises } = fileSystem(argument);
  let size: number;
  try {
    const found = await promises.stat(path);
    if (!found.isFile()) throw new ValueError(argument, 'a file', described(`${path}, which is none`));
    size = found.size;
  } catch (error) {
    throw error instanceof ValueError ? error : systemError(error, path, argument);
  }
  // Opened for each part, so that a reader who stops leaves nothing open.
  const read = async (start: number, end: number): Promise<Uint8Array> => {
    try {
      const handle = await promises.open(path, 'r');
      try {
        const bytes = new Uint8Array(end - start);
        let done = 0;
        while (done < bytes.length) {
          const { bytesRead } = await handle.read(bytes, done, bytes.length - done, start + done);
          if (bytesRead === 0) throw new Error(`it ends at byte ${start + done}`);
          done += bytesRead;
        }
        return bytes;
      } finally {
        await handle.close();
      }
    } catch (error) {
      throw systemError(error, path, argument);
    }
  };
  return { name: path, size, read };
}

/** Bytes in memory as a file. */
export function bytesFile(bytes: Uint8Array, name: string): DataFile {
  return { name, size: bytes.length, read: async (start, end) => bytes.subarray(start, end) };
}

async function fetched(url: string, argument: string, range?: string): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, range === undefined ? {} : { headers: { Range: range } });
  } catch (error) {
    throw new RuntimeError(argument, 'a URL that can be read', described(url), (error as Error).message);
  }
  if (response.ok) return response;
  const Wrong = response.status === 404 ? ValueError : RuntimeError;
  throw new Wrong(argument, 'a URL that can be read', described(`${url}: the server answers ${response.status}`));
}

/** A URL by range requests; a server that knows none is read once, and its answer kept. */
async function openUrl(url: string, argument: string): Promise<DataFile> {
  const first = await fetched(url, argument, 'bytes=0-0');
  const total = /\/(\d+)$/.exec(first.headers.get('content-range') ?? '');
  if (first.status !== 206 || total === null) return bytesFile(new Uint8Array(await first.arrayBuffer()), url);
  await first.arrayBuffer();
  const read = async (start: number, end: number): Promise<Uint8Array> => {
    if (start >= end) return new Uint8Array(0);
    const response = await fetched(url, argument, `bytes=${start}-${end - 1}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.status === 206 && bytes.length === end - start) return bytes;
    const received = described(`${bytes.length} bytes for ${end - start} of ${url}`);
    throw new RuntimeError(argument, 'a server that answers range requests alike', received);
  };
  return { name: url, size: Number(total[1]), read };
}

function ofBlob(blob: Blob): DataFile {
  const { name } = blob as { name?: unknown };
  const read = async (start: number, end: number): Promise<Uint8Array> =>
    new Uint8Array(await blob.slice(start, end).arrayBuffer());
  return { name: typeof name === 'string' ? name : 'the blob', size: blob.size, read };
}

async function globbed(pattern: string, argument: string): Promise<FoundFile[]> {
  fileSystem(argument);
  const { glob } = (await importUnbundled('tinyglobby')) as typeof tinyglobby;
  const paths = await glob(pattern.replaceAll('\\', '/'), {
    absolute: pattern.startsWith('/'),
    expandDirectories: false,
  });
  if (paths.length === 0) throw new ValueError(argument, 'a pattern that a file fits', pattern);
  return paths.sort().map((path) => ({ name: path, open: () => openPath(path, argument) }));
}

/** Whether a text is a URL: all but paths, which pages do not have. A name may have a colon, and a single letter is a drive. */
function isUrl(text: string): boolean {
  if (/^file:/i.test(text)) return false;
  return /^([a-z][a-z\d+.-]+:\/\/|data:|blob:)/i.test(text) || nodeBuiltin('node:fs') === null;
}

async function findOne(source: unknown, argument: string): Promise<FoundFile[]> {
  if (source instanceof URL) return findOne(textOf(source), argument);
  if (typeof source === 'string') {
    if (source === '') throw new ValueError(argument, EXPECTED, source);
    if (isUrl(source)) return [{ name: source, open: () => openUrl(source, argument) }];
    const path = pathOf(source);
    if (!GLOB.test(path)) return [{ name: path, open: () => openPath(path, argument) }];
    // A file may be named like a pattern.
    const isFile = await fileSystem(argument)
      .promises.stat(path)
      .then((found) => found.isFile())
      .catch(() => false);
    return isFile ? [{ name: path, open: () => openPath(path, argument) }] : globbed(path, argument);
  }
  const opened = (file: DataFile): FoundFile[] => [{ name: file.name, open: () => Promise.resolve(file) }];
  if (source instanceof Blob) return opened(ofBlob(source));
  if (source instanceof ArrayBuffer) return opened(bytesFile(new Uint8Array(source), 'the bytes'));
  if (source instanceof Uint8Array) return opened(bytesFile(source, 'the bytes'));
  throw new ArgumentTypeError(argument, EXPECTED, source);
}

/** Checks what a source is, before anything is looked for. */
export function checkSource(source: unknown, argument = 'source'): void {
  const all: unknown[] = Array.isArray(source) ? source : [source];
  if (all.length === 0) throw new ValueError(argument, EXPECTED, source);
  for (const each of all) {
    if (each === '') throw new ValueError(argument, EXPECTED, each);
    const isKnown = typeof each === 'string' || each instanceof URL || each instanceof Blob;
    if (!isKnown && !(each instanceof ArrayBuffer) && !(each instanceof Uint8Array)) {
      throw new ArgumentTypeError(argument, EXPECTED, each);
    }
  }
}

/**
 * The files of a source, in the order given, those of a pattern by name.
 *
 * @throws ValueError for a pattern that nothing fits; opening throws ValueError for a file that does not exist, and
 * RuntimeError where it cannot be read.
 */
export async function findFiles(source: unknown, argument = 'source'): Promise<FoundFile[]> {
  const all: unknown[] = Array.isArray(source) ? source : [source];
  return (await Promise.all(all.map((each) => findOne(each, argument)))).flat();
}

/** Bytes that are read at once. */
const PIECE = 2 ** 20;

/** All bytes of a file, piece after piece. */
export async function* piecesOf(file: DataFile): AsyncGenerator<Uint8Array> {
  let next = file.size > 0 ? file.read(0, Math.min(PIECE, file.size)) : null;
  for (let start = 0; next !== null;) {
    const piece = await next;
    start += piece.length;
    next = start < file.size ? file.read(start, Math.min(start + PIECE, file.size)) : null;
    // A failure is told with the piece.
    next?.catch(() => undefined);
    yield piece;
  }
}

/** All bytes of a file, unpacked where its name says that it is packed by gzip. */
export async function* unpackedPieces(file: DataFile): AsyncGenerator<Uint8Array> {
  const [pathname] = file.name.split(/[?#]/);
  if (!pathname!.toLowerCase().endsWith('.gz')) {
    yield* piecesOf(file);
    return;
  }
  const stream = new DecompressionStream('gzip');
  const writer = stream.writable.getWriter();
  const reader = stream.readable.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const fed = (async () => {
    for await (const piece of piecesOf(file)) await writer.write(piece as Uint8Array<ArrayBuffer>);
    await writer.close();
  })();
  // Told by the reader.
  fed.catch((error: unknown) => writer.abort(error).catch(() => undefined));
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
    await fed;
  } catch (error) {
    if (error instanceof ValueError || error instanceof RuntimeError) throw error;
    throw new ValueError('source', 'a file packed by gzip', described(file.name), (error as Error).message);
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
