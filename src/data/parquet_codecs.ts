/** Compressions of parquet pages that hyparquet-compressors unpacks without a look at what came out. */
import type { Compressors } from 'hyparquet/src/types.js';
import { crc32 } from '../io/checksums/crc32.js';
import { unpackBlock } from './lz4.js';

/** A page of gzip: its checksum and length stand at its end. */
function checkedGzip(page: Uint8Array, unpacked: Uint8Array): Uint8Array {
  const end = new DataView(page.buffer, page.byteOffset + page.length - 8, 8);
  if (end.getUint32(4, true) !== unpacked.length || end.getUint32(0, true) !== crc32(unpacked)) {
    throw new Error('a page of gzip that differs from its checksum');
  }
  return unpacked;
}

function unpackLz4(page: Uint8Array, size: number): Uint8Array {
  const into = new Uint8Array(size);
  const end = unpackBlock(page, into, 0);
  if (end !== size) throw new Error(`a page of ${end} bytes for ${size}`);
  return into;
}

/** Parts with two lengths before each, as Hadoop writes LZ4; null: the page has none. */
function unpackHadoop(page: Uint8Array, size: number): Uint8Array | null {
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength);
  const into = new Uint8Array(size);
  let [at, end] = [0, 0];
  while (at < page.length) {
    if (at + 8 > page.length) return null;
    const [unpacked, packed] = [view.getUint32(at), view.getUint32(at + 4)];
    const part = page.subarray(at + 8, at + 8 + packed);
    if (part.length < packed || end + unpacked > size) return null;
    try {
      if (unpackBlock(part, into, end) !== end + unpacked) return null;
    } catch {
      return null;
    }
    at += 8 + packed;
    end += unpacked;
  }
  return end === size ? into : null;
}

/** The same compressors, which refuse what is damaged where a compression can tell, and unpack pages of no bytes. */
export function checkedCompressors(compressors: Compressors): Compressors {
  const checked: Compressors = {
    ...compressors,
    GZIP: (page, size) => checkedGzip(page, compressors.GZIP!(page, size)),
    LZ4: (page, size) => unpackHadoop(page, size) ?? unpackLz4(page, size),
    LZ4_RAW: unpackLz4,
  };
  const unpacking = Object.entries(checked).map(([codec, unpack]): [string, typeof unpack] => [
    codec,
    (page, size) => (size === 0 ? new Uint8Array(0) : unpack(page, size)),
  ]);
  return Object.fromEntries(unpacking);
}
