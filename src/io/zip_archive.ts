/** Zip archives, by zip.js, which is loaded on first use. */
import type * as zipjs from '@zip.js/zip.js';
import type { Entry, FileEntry } from '@zip.js/zip.js';
import { ValueError, described } from '../base/errors.js';
import { loadPackage } from '../base/platform.js';
import { bytesAt, type ByteSource } from './byte_source.js';

type Zip = typeof zipjs;

/** An entry of an archive. */
export interface ZipEntry {
  readonly name: string;
  /** Bytes, as the archive says. */
  readonly size: number;
  /** Reads the entry. Throws ValueError where it is damaged or has another size than the archive says. */
  read(): Promise<Uint8Array<ArrayBuffer>>;
}

const MOST_ENTRIES = 100_000;
/** What deflate reaches at best; a larger size is a lie. */
const BEST_RATIO = 1032;

export const loadZip = (): Promise<Zip> =>
  loadPackage('@zip.js/zip.js', 'source', async () => {
    const zip = await import('@zip.js/zip.js');
    zip.configure({ useWebWorkers: false });
    return zip;
  });

/** An archive for zip.js, which asks for bytes as it needs them. */
function readerOf(zip: Zip, source: ByteSource): InstanceType<Zip['Reader']> {
  class SourceReader extends zip.Reader<ByteSource> {
    override async init(): Promise<void> {
      this.size = source.size;
      await super.init?.();
    }

    override async readUint8Array(index: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
      const fits = Math.max(0, Math.min(length, source.size - index));
      return bytesAt(source, index, fits) as Uint8Array<ArrayBuffer>;
    }
  }
  return new SourceReader(source);
}

function damaged(source: ByteSource, what: string, error: unknown): ValueError {
  const expected = 'a zip archive that is whole';
  return new ValueError('source', expected, described(`${source.name}, ${what}`), (error as Error).message);
}

async function readEntry(source: ByteSource, entry: FileEntry): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(entry.uncompressedSize);
  let at = 0;
  const writable = new WritableStream<Uint8Array>({
    write(chunk) {
      if (at + chunk.length > bytes.length) throw new Error(`more than the ${bytes.length} bytes that it says`);
      bytes.set(chunk, at);
      at += chunk.length;
    },
  });
  try {
    await entry.getData(writable, { checkSignature: true, useWebWorkers: false });
  } catch (error) {
    throw damaged(source, `whose ${JSON.stringify(entry.filename)} cannot be read`, error);
  }
  if (at === bytes.length) return bytes;
  throw damaged(source, `whose ${JSON.stringify(entry.filename)} is cut off`, new Error(''));
}

function checkEntry(source: ByteSource, entry: Entry): entry is FileEntry {
  const { filename, uncompressedSize, compressedSize, encrypted, directory } = entry;
  const refuse = (what: string): never => {
    throw new ValueError('source', 'a zip archive', described(`${source.name}, ${what}`));
  };
  if (directory) return false;
  const name = JSON.stringify(filename.slice(0, 80));
  if (encrypted) refuse(`whose ${name} is encrypted`);
  if (compressedSize > source.size || uncompressedSize > compressedSize * BEST_RATIO + BEST_RATIO) {
    refuse(`whose ${name} says that it holds ${uncompressedSize} bytes in ${compressedSize}`);
  }
  return true;
}

/** Bytes before the name of an entry, where it lies. */
const HEADER_BYTES = 30;

/** Entries that share their bytes unpack to far more than the archive could hold. */
function checkOverlap(source: ByteSource, entries: readonly FileEntry[]): void {
  const sorted = [...entries].sort((a, b) => a.offset - b.offset);
  for (const [i, { offset, compressedSize, filename }] of sorted.entries()) {
    const next = sorted[i + 1];
    if (next === undefined || next.offset >= offset + HEADER_BYTES + compressedSize) continue;
    const names = [filename, next.filename].map((name) => JSON.stringify(name.slice(0, 80)));
    const received = described(`${source.name}, whose ${names.join(' and ')} overlap`);
    throw new ValueError('source', 'a zip archive whose entries lie side by side', received);
  }
}

/**
 * Returns the entries of an archive by name; nothing is unpacked before it is read.
 *
 * @throws ValueError for anything but a zip archive, encrypted entries, entries of one name, entries that
 * overlap and impossible sizes.
 */
export async function readZip(source: ByteSource): Promise<Map<string, ZipEntry>> {
  const zip = await loadZip();
  const entries = new Map<string, ZipEntry>();
  const files: FileEntry[] = [];
  const reader = new zip.ZipReader(readerOf(zip, source));
  try {
    for await (const entry of reader.getEntriesGenerator()) {
      if (entries.size >= MOST_ENTRIES) throw new Error(`more than ${MOST_ENTRIES} entries`);
      if (!checkEntry(source, entry)) continue;
      const { filename: name, uncompressedSize: size } = entry;
      if (entries.has(name)) throw new Error(`two entries are called ${JSON.stringify(name)}`);
      files.push(entry);
      entries.set(name, { name, size, read: () => readEntry(source, entry) });
    }
    checkOverlap(source, files);
  } catch (error) {
    throw error instanceof ValueError ? error : damaged(source, 'which is none', error);
  }
  return entries;
}
