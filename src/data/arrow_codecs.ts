/** Bodies of Arrow's record batches that are packed by LZ4 or zstd, for apache-arrow, which unpacks none by itself. */
import type * as arrow from 'apache-arrow';
import type * as compressors from 'hyparquet-compressors';
import { RuntimeError, described } from '../base/errors.js';
import { loadPackage } from '../base/platform.js';
import { unpackBlock } from './lz4.js';

type Unpackers = Pick<typeof compressors, 'decompressZstd'>;

const FRAME = 0x184d2204;
/** Length of the numbers that tell a buffer's size before it was packed. */
const PREFIX = 8;

/** A frame of LZ4, whose blocks may lean on earlier ones. */
function unpackFrame(bytes: Uint8Array, size: number): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = bytes[4]!;
  if (view.getUint32(0, true) !== FRAME || flags >> 6 !== 1) throw new Error('no frame of LZ4');
  if ((flags & 1) !== 0) throw new Error('a frame of LZ4 with a dictionary');
  const [blockSum, contentSize, contentSum] = [(flags & 16) !== 0, (flags & 8) !== 0, (flags & 4) !== 0];
  let at = 6 + (contentSize ? 8 : 0) + 1;
  const into = new Uint8Array(size);
  let end = 0;
  for (;;) {
    const word = view.getUint32(at, true);
    at += 4;
    if (word === 0) break;
    const length = word & 0x7fffffff;
    const block = bytes.subarray(at, at + length);
    if (block.length < length) throw new Error('a frame of LZ4 that ends early');
    if (word >>> 31 === 1) {
      into.set(block, end);
      end += length;
    } else end = unpackBlock(block, into, end);
    at += length + (blockSum ? 4 : 0);
  }
  if (end !== size || at + (contentSum ? 4 : 0) > bytes.length) throw new Error(`${end} bytes of LZ4 for ${size}`);
  return into;
}

/** The size of a buffer before it was packed: apache-arrow hands over what lies behind it. */
function sizeOf(bytes: Uint8Array): number {
  if (bytes.byteOffset < PREFIX) throw new Error('a packed buffer without its size');
  const size = Number(new DataView(bytes.buffer, bytes.byteOffset - PREFIX).getBigInt64(0, true));
  if (!(size >= 0 && size < 2 ** 31)) throw new Error(`a packed buffer of ${size} bytes`);
  return size;
}

/** Teaches apache-arrow to unpack, where nobody has. Throws RuntimeError for a version that cannot be taught. */
export async function teachCodecs(library: typeof arrow): Promise<void> {
  const { compressionRegistry: registry, CompressionType: type } = library as Partial<typeof arrow>;
  if (registry === undefined || type === undefined) {
    const note = 'Install it: npm install apache-arrow@21. Earlier versions take packed columns for plain ones.';
    throw new RuntimeError('source', 'apache-arrow 21 or later', described('an earlier version'), note);
  }
  const unpackers = await loadPackage(
    'hyparquet-compressors',
    'source',
    async () => (await import('hyparquet-compressors')) as Unpackers,
  );
  const zstd = (bytes: Uint8Array): Uint8Array => {
    const size = sizeOf(bytes);
    const found = unpackers.decompressZstd(bytes);
    if (found.length !== size) throw new Error(`${found.length} bytes of zstd for ${size}`);
    // In memory of its own, where it is aligned for numbers of 64 bits.
    return found.slice();
  };
  const own = [
    [type.LZ4_FRAME, (bytes: Uint8Array) => unpackFrame(bytes, sizeOf(bytes))],
    [type.ZSTD, zstd],
  ] as const;
  for (const [kind, decode] of own) {
    const known = registry.get(kind);
    if (typeof known?.decode !== 'function') registry.set(kind, { ...known, decode });
  }
}
