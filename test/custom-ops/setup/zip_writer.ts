/** Writes small zip archives, so that reading them can be tested without a download. */
import { deflateRawSync } from 'node:zlib';

export interface ZipContent {
  readonly name: string;
  readonly bytes: Buffer;
  /** Kept as it is instead of deflated. */
  readonly stored?: boolean;
}

/** CRC-32, bit by bit: written apart from the one under test. */
function crcOf(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

export function zipOf(contents: readonly ZipContent[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes, stored = false } of contents) {
    const packed = stored ? bytes : deflateRawSync(bytes);
    const path = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(stored ? 0 : 8, 4);
    common.writeUInt32LE(crcOf(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, path, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, rest, path]));
    parts.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(18);
  const length = directory.reduce((sum, entry) => sum + entry.length, 0);
  end.writeUInt16LE(contents.length, 4);
  end.writeUInt16LE(contents.length, 6);
  end.writeUInt32LE(length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, ...directory, Buffer.from('PK\x05\x06'), end]);
}
