/**
 * The index of a tensor bundle: a sorted table of keys and values, in blocks with checksums, as LevelDB lays it out and
 * TensorFlow reads it.
 */
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { ValueError, described } from '../../../base/errors.js';
import { crc32c, extendCrc32c, maskCrc32c } from '../../../io/checksums/crc32c.js';

const MAGIC_LOW = 0x8b80fb57;
const MAGIC_HIGH = 0xdb477524;
const FOOTER_BYTES = 48;
const BLOCK_BYTES = 262_144;
/** Keys share their beginning with the key before; every so often one stands whole. */
const RESTART_INTERVAL = 16;
/** After each block: its kind (0: as it is) and its checksum. */
const TRAILER_BYTES = 5;
/** Upper bound on the size of an entry; a larger one means a damaged file. */
const LONGEST = 2 ** 24;
/** Of all keys together: each may say that it begins as the one before, which takes no room in the file. */
const MOST_KEY_BYTES = 2 ** 26;

export type IndexEntry = readonly [key: Uint8Array, value: Uint8Array];

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

function sharedLength(a: Uint8Array, b: Uint8Array): number {
  let shared = 0;
  while (shared < a.length && shared < b.length && a[shared] === b[shared]) shared++;
  return shared;
}

class BlockWriter {
  #writer = new BinaryWriter();
  #bytes = 0;
  #restarts: number[] = [];
  #last = new Uint8Array(0);
  #count = 0;

  get isFull(): boolean {
    return this.#bytes >= BLOCK_BYTES;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  get lastKey(): Uint8Array {
    return this.#last;
  }

  add([key, value]: IndexEntry): void {
    const isWhole = this.#count++ % RESTART_INTERVAL === 0;
    if (isWhole) this.#restarts.push(this.#bytes);
    const shared = isWhole ? 0 : sharedLength(this.#last, key);
    const head = new BinaryWriter()
      .uint32(shared)
      .uint32(key.length - shared)
      .uint32(value.length);
    const entry = head.raw(key.subarray(shared)).raw(value).finish();
    this.#writer.raw(entry);
    this.#bytes += entry.length;
    this.#last = Uint8Array.from(key);
  }

  /** The block with its trailer. */
  finish(): Uint8Array {
    const restarts = this.#restarts.length === 0 ? [0] : this.#restarts;
    const bytes = this.#writer.raw(littleEndian([...restarts, restarts.length])).finish();
    const whole = new Uint8Array(bytes.length + TRAILER_BYTES);
    whole.set(bytes);
    const crc = maskCrc32c(extendCrc32c(crc32c(bytes), Uint8Array.of(0)));
    whole.set(littleEndian([crc]), bytes.length + 1);
    return whole;
  }
}

function littleEndian(words: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * words.length);
  const view = new DataView(bytes.buffer);
  words.forEach((word, i) => view.setUint32(4 * i, word, true));
  return bytes;
}

/** The bytes of a table of these entries, which may come in any order. */
export function writeIndexTable(entries: readonly IndexEntry[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  let at = 0;
  /** Returns where the block lies: offset and length without the trailer. */
  const put = (block: BlockWriter): Uint8Array => {
    const bytes = block.finish();
    const handle = new BinaryWriter().uint64(at).uint64(bytes.length - TRAILER_BYTES);
    pieces.push(bytes);
    at += bytes.length;
    return handle.finish();
  };
  const index = new BlockWriter();
  let block = new BlockWriter();
  for (const entry of [...entries].sort(([a], [b]) => compareBytes(a, b))) {
    if (block.isFull) {
      index.add([block.lastKey, put(block)]);
      block = new BlockWriter();
    }
    block.add(entry);
  }
  if (!block.isEmpty) index.add([block.lastKey, put(block)]);
  const handles = [put(new BlockWriter()), put(index)];
  const footer = new Uint8Array(FOOTER_BYTES);
  footer.set(handles[0]!);
  footer.set(handles[1]!, handles[0]!.length);
  footer.set(littleEndian([MAGIC_LOW, MAGIC_HIGH]), FOOTER_BYTES - 8);
  return join([...pieces, footer]);
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function broken(what: string): ValueError {
  return new ValueError('bytes', 'an index of a tensor bundle', described(what));
}

/** The block at a handle, checked against its checksum. */
function blockAt(bytes: Uint8Array, handle: BinaryReader): Uint8Array {
  const [offset, size] = [Number(handle.uint64()), Number(handle.uint64())];
  const end = offset + size;
  if (!(end + TRAILER_BYTES <= bytes.length)) throw broken('a block beyond the end of the file');
  if (bytes[end] !== 0) throw broken('a compressed block');
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const crc = maskCrc32c(crc32c(bytes.subarray(offset, end + 1)));
  if (view.getUint32(end + 1, true) !== crc) throw broken('a block with another checksum');
  return bytes.subarray(offset, end);
}

function readBlock(block: Uint8Array, budget: { left: number }): IndexEntry[] {
  if (block.length < 4) throw broken('a block without an end');
  const restarts = new DataView(block.buffer, block.byteOffset).getUint32(block.length - 4, true);
  const end = block.length - 4 - 4 * restarts;
  if (end < 0) throw broken('a block that is all restarts');
  const entries: IndexEntry[] = [];
  const reader = new BinaryReader(block.subarray(0, end));
  let key = new Uint8Array(0);
  while (reader.pos < end) {
    const [shared, rest, length] = [reader.uint32(), reader.uint32(), reader.uint32()];
    const stop = reader.pos + rest + length;
    if (shared > key.length || shared + rest > LONGEST || stop > end) throw broken('an entry beyond its block');
    budget.left -= shared + rest;
    if (budget.left < 0) throw broken(`keys of more than ${MOST_KEY_BYTES} bytes`);
    const next = new Uint8Array(shared + rest);
    next.set(key.subarray(0, shared));
    next.set(block.subarray(reader.pos, reader.pos + rest), shared);
    entries.push([next, block.slice(reader.pos + rest, stop)]);
    key = next;
    reader.pos = stop;
  }
  return entries;
}

/** The entries of a table. Throws ValueError for bytes that are none, in time and memory in proportion to them. */
export function readIndexTable(bytes: Uint8Array): IndexEntry[] {
  const start = bytes.length - FOOTER_BYTES;
  if (start < 0) throw broken(`${bytes.length} bytes`);
  const footer = new DataView(bytes.buffer, bytes.byteOffset + start, FOOTER_BYTES);
  if (footer.getUint32(40, true) !== MAGIC_LOW || footer.getUint32(44, true) !== MAGIC_HIGH) {
    throw broken('bytes that end in another way');
  }
  try {
    const handles = new BinaryReader(bytes.subarray(start, start + 40));
    handles.uint64();
    handles.uint64();
    const budget = { left: MOST_KEY_BYTES };
    const index = readBlock(blockAt(bytes, handles), budget);
    const seen = new Set<number>();
    return index.flatMap(([, handle]) => {
      const offset = Number(new BinaryReader(handle).uint64());
      // One block for many handles would be more than the file holds.
      if (seen.has(offset)) throw broken('a block that is named twice');
      seen.add(offset);
      return readBlock(blockAt(bytes, new BinaryReader(handle)), budget);
    });
  } catch (error) {
    if (error instanceof ValueError) throw error;
    throw broken((error as Error).message);
  }
}
