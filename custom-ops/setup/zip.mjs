/**
 * Reads single files out of a zip archive with built-in modules only: a wheel holds 15,000 files, of which some twenty
 * are wanted, one of them 790 MB.
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import zlib from 'node:zlib';

const END_SIGNATURE = 0x06054b50;
const DIRECTORY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const LONGEST_END = 22 + 0xffff;
const CHUNK = 1 << 20;

const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let c = byte;
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  return c;
});

/** CRC-32 of a buffer, continued from `seed`. `zlib.crc32` (Node 20.15 and later) is 20 times as fast as the table. */
export function crc32(bytes, seed = 0) {
  if (typeof zlib.crc32 === 'function') return zlib.crc32(bytes, seed);
  let c = ~seed;
  for (let i = 0; i < bytes.length; i++) c = CRC_TABLE[(c ^ bytes[i]) & 255] ^ (c >>> 8);
  return ~c >>> 0;
}

/** A zip archive opened for reading: `names()`, `has`, `read` into memory, `extract` into a file, `close`. */
export class ZipArchive {
  #file;
  #entries;

  constructor(file, entries) {
    this.#file = file;
    this.#entries = entries;
  }

  /** Opens the archive at `path`. Throws when it is not a whole zip file. */
  static async open(path) {
    const file = await open(path, 'r');
    try {
      return new ZipArchive(file, await readDirectory(file));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  names() {
    return [...this.#entries.keys()];
  }

  has(name) {
    return this.#entries.has(name);
  }

  /** Size in bytes of a file once unpacked. */
  size(name) {
    return this.#entry(name).size;
  }

  /** The content of a small file. */
  async read(name) {
    const parts = [];
    for await (const part of this.#content(name)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** Unpacks a file to `path`; `onBytes` is told of each piece. Returns its SHA-256 in hexadecimal. */
  async extract(name, path, onBytes = () => {}) {
    const hash = createHash('sha256');
    const out = createWriteStream(path, { mode: 0o644, highWaterMark: 4 * CHUNK });
    out.on('error', () => {}); // finished() reports it; without a listener it would end the process first.
    try {
      for await (const part of this.#content(name)) {
        hash.update(part);
        onBytes(part.length);
        if (!out.write(part)) await room(out);
        if (out.errored) break;
      }
      out.end();
      await finished(out);
    } catch (error) {
      out.destroy();
      throw error;
    }
    return hash.digest('hex');
  }

  async close() {
    await this.#file.close();
  }

  #entry(name) {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new Error(`the archive has no file ${name}`);
    return entry;
  }

  /** The unpacked pieces of a file; throws at the end when size or checksum is not what the archive says. */
  async *#content(name) {
    const entry = this.#entry(name);
    if (entry.method !== 0 && entry.method !== 8) throw new Error(`${name}: compression ${entry.method} is unknown`);
    const packed = this.#packed(entry);
    let size = 0;
    let crc = 0;
    for await (const part of entry.method === 0 ? packed : inflate(packed)) {
      size += part.length;
      crc = crc32(part, crc);
      yield part;
    }
    if (size !== entry.size || crc !== entry.crc) {
      throw new Error(`${name}: damaged (${size} bytes, checksum ${crc}; expected ${entry.size}, ${entry.crc})`);
    }
  }

  async *#packed(entry) {
    const local = await readAt(this.#file, entry.offset, 30);
    if (local.readUInt32LE(0) !== LOCAL_SIGNATURE) throw new Error('damaged archive: a file has no local header');
    let position = entry.offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
    let left = entry.packedSize;
    while (left > 0) {
      const part = await readAt(this.#file, position, Math.min(CHUNK, left));
      position += part.length;
      left -= part.length;
      yield part;
    }
  }
}

async function* inflate(packed) {
  const stream = zlib.createInflateRaw({ chunkSize: CHUNK });
  // Fed by hand rather than by pipeline(), which would swallow an error of the source in favour of "premature close".
  const fed = (async () => {
    try {
      for await (const part of packed) {
        if (stream.destroyed) return;
        if (!stream.write(part)) await room(stream);
      }
      stream.end();
    } catch (error) {
      stream.destroy(error);
    }
  })();
  yield* stream;
  await fed;
}

/** Waits until a stream takes more, or is closed. */
function room(stream) {
  return new Promise((resolve) => {
    if (stream.closed || stream.errored) return void resolve(); // no event would come any more
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}

async function readAt(file, position, length) {
  const buffer = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(buffer, done, length - done, position + done);
    if (bytesRead === 0) throw new Error('damaged archive: it ends too early');
    done += bytesRead;
  }
  return buffer;
}

async function readDirectory(file) {
  const { size } = await file.stat();
  const tailLength = Math.min(size, LONGEST_END);
  const tail = await readAt(file, size - tailLength, tailLength);
  let at = tail.length - 22;
  while (at >= 0 && tail.readUInt32LE(at) !== END_SIGNATURE) at--;
  if (at < 0) throw new Error('not a zip archive, or cut short');
  const count = tail.readUInt16LE(at + 10);
  const length = tail.readUInt32LE(at + 12);
  const offset = tail.readUInt32LE(at + 16);
  if (count === 0xffff || length === 0xffffffff || offset === 0xffffffff) throw new Error('zip64 is not supported');
  return parseDirectory(await readAt(file, offset, length), count);
}

function parseDirectory(directory, count) {
  const entries = new Map();
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (directory.readUInt32LE(at) !== DIRECTORY_SIGNATURE) throw new Error('damaged archive: directory');
    const nameLength = directory.readUInt16LE(at + 28);
    const name = directory.toString('utf8', at + 46, at + 46 + nameLength);
    entries.set(name, {
      method: directory.readUInt16LE(at + 10),
      crc: directory.readUInt32LE(at + 16),
      packedSize: directory.readUInt32LE(at + 20),
      size: directory.readUInt32LE(at + 24),
      offset: directory.readUInt32LE(at + 42),
    });
    at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}
