/** Bytes in the IPC formats of Arrow: files by their footer, streams up to the mark that ends them. */
import type * as arrow from 'apache-arrow';
import { ValueError, described } from '../base/errors.js';
import { bytesFile, unpackedPieces, type DataFile } from './data_file.js';

/** What a reader of apache-arrow takes: a file that is read here and there, or messages of a stream. */
export type ArrowSource =
  | { readonly isFile: true; readonly handle: FileLike }
  | { readonly isFile: false; readonly messages: AsyncIterable<Uint8Array> };

/** As much of a FileHandle of Node as apache-arrow asks for. */
interface FileLike {
  readonly fd: number;
  stat(): Promise<{ size: number }>;
  read(
    into: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number; buffer: Uint8Array }>;
  close(): Promise<void>;
}

const MAGIC = 'ARROW1';
const isMagic = (bytes: Uint8Array): boolean => new TextDecoder('latin1').decode(bytes) === MAGIC;

function damaged(file: DataFile, what: string): ValueError {
  return new ValueError(
    'source',
    'a whole file or stream in the IPC format of Arrow',
    described(`${file.name}, ${what}`),
  );
}

/** A file as apache-arrow reads it. Throws ValueError for one that has no footer where its end says that it lies. */
async function fileLike(file: DataFile): Promise<FileLike> {
  const { size } = file;
  const end = await file.read(Math.max(size - 10, 0), size);
  if (end.length < 10 || !isMagic(end.subarray(4))) throw damaged(file, 'which ends before its footer does');
  const footer = new DataView(end.buffer, end.byteOffset).getInt32(0, true);
  if (footer <= 0 || footer > size - 18) throw damaged(file, `whose footer has ${footer} bytes`);
  return {
    fd: 0,
    stat: () => Promise.resolve({ size }),
    read: async (into, offset, length, position) => {
      const bytes = await file.read(position, Math.min(position + length, size));
      into.set(bytes, offset);
      return { bytesRead: bytes.length, buffer: into };
    },
    close: () => Promise.resolve(),
  };
}

/** Bytes that come in pieces, taken as many at a time as are wanted. */
class Bytes {
  #held: Uint8Array = new Uint8Array(0);
  #taken = 0;

  constructor(private readonly pieces: AsyncIterator<Uint8Array>) {}

  /** Bytes taken so far. */
  get taken(): number {
    return this.#taken;
  }

  /** The next `count` bytes; fewer where there are no more. */
  async take(count: number): Promise<Uint8Array> {
    const parts = [this.#held];
    let held = this.#held.length;
    while (held < count) {
      const { done, value } = await this.pieces.next();
      if (done === true) break;
      parts.push(value);
      held += value.length;
    }
    let all = parts[0]!;
    if (parts.length > 1) {
      all = new Uint8Array(held);
      let at = 0;
      for (const part of parts) {
        all.set(part, at);
        at += part.length;
      }
    }
    const taken = all.subarray(0, Math.min(count, held));
    this.#held = all.subarray(taken.length);
    this.#taken += taken.length;
    return taken;
  }
}

/** Before the length of a message, since version 0.15 of the format. */
const CONTINUED = 0xffffffff;

/** The messages of a stream, each with its body. Throws ValueError where it ends before its end mark. */
async function* messagesOf(file: DataFile, bytes: Bytes, { Message }: typeof arrow): AsyncGenerator<Uint8Array> {
  const taken = async (count: number): Promise<Uint8Array> => {
    const found = await bytes.take(count);
    if (found.length === count) return found;
    throw damaged(file, `a stream that ends early, at byte ${bytes.taken}`);
  };
  const word = (found: Uint8Array): number => new DataView(found.buffer, found.byteOffset).getUint32(0, true);
  for (;;) {
    const first = await taken(4);
    const isContinued = word(first) === CONTINUED;
    const length = isContinued ? await taken(4) : first;
    const size = word(length);
    if (size === 0) {
      yield Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);
      return;
    }
    const metadata = await taken(size);
    const { bodyLength } = Message.decode(metadata);
    if (!(bodyLength >= 0)) throw damaged(file, `a message of ${bodyLength} bytes`);
    const body = await taken(bodyLength);
    // In one piece, and aligned to eight bytes as it lay in the stream.
    const message = new Uint8Array(8 + size + bodyLength);
    message.set([0xff, 0xff, 0xff, 0xff]);
    message.set(length, 4);
    message.set(metadata, 8);
    message.set(body, 8 + size);
    yield message;
  }
}

/** The bytes of a file, unpacked, as apache-arrow reads them. */
export async function arrowSource(file: DataFile, library: typeof arrow): Promise<ArrowSource> {
  const pieces = unpackedPieces(file);
  const first = await pieces.next();
  const start = first.done === true ? new Uint8Array(0) : first.value;
  const all = async function* (): AsyncGenerator<Uint8Array> {
    yield start;
    yield* pieces;
  };
  if (!isMagic(start.subarray(0, 6))) return { isFile: false, messages: messagesOf(file, new Bytes(all()), library) };
  const isPacked = !isMagic(await file.read(0, Math.min(6, file.size)));
  if (!isPacked) {
    await pieces.return(undefined);
    return { isFile: true, handle: await fileLike(file) };
  }
  const parts: Uint8Array[] = [];
  for await (const piece of all()) parts.push(piece);
  const whole = new Uint8Array(await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer());
  return { isFile: true, handle: await fileLike(bytesFile(whole, file.name)) };
}
