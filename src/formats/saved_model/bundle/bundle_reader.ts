/** Reads the values of a tensor bundle, believing nothing that its files do not bear out. */
import { ValueError, described } from '../../../base/errors.js';
import { dataTypeName, ELEMENT_BYTES, type VariableType } from '../wire/data_types.js';
import { BundleEntry, BundleHeader, type BundleEntryMessage } from '../wire/saved_model_messages.js';
import { extendCrc32c, maskCrc32c } from '../../../io/checksums/crc32c.js';
import { readIndexTable } from './index_table.js';

/** A file of values: those of a disk, or of anything like one. */
export interface DataFile {
  readonly size: number;
  /** Fills `into` with what lies at `position`. */
  read(position: number, into: Uint8Array): Promise<void>;
}

export interface StoredTensor {
  readonly key: string;
  readonly dtype: VariableType;
  readonly shape: readonly number[];
  readonly bytes: number;
}

/** Values are read in pieces of so many bytes. */
const PIECE_BYTES = 2 ** 24;

const decoder = new TextDecoder('utf-8', { fatal: true });

function broken(key: string, what: string): ValueError {
  return new ValueError('directory', 'variables as TensorFlow writes them', described(`${key}, ${what}`));
}

export class BundleReader {
  readonly #entries = new Map<string, BundleEntryMessage>();
  readonly #shards: number;

  /** `index`: the bytes of its file; `open`: gives the file of a shard; `pieceBytes`: a multiple of 4. */
  constructor(
    index: Uint8Array,
    private readonly open: (shard: number, shards: number) => Promise<DataFile>,
    private readonly pieceBytes = PIECE_BYTES,
  ) {
    const [[first, header] = [null, null], ...entries] = readIndexTable(index);
    if (first === null || first.length > 0) throw broken('its index', 'which has no header');
    const { shards = 0, endianness = 0 } = BundleHeader.decode(header);
    if (endianness !== 0) throw broken('its index', 'of a machine with another order of bytes');
    this.#shards = shards;
    for (const [key, entry] of entries) this.#entries.set(decoder.decode(key), BundleEntry.decode(entry));
  }

  get keys(): string[] {
    return [...this.#entries.keys()];
  }

  /** What is stored under a key; null where there is nothing, or strings. Throws ValueError for sizes that do not fit. */
  find(key: string): StoredTensor | null {
    const entry = this.#entries.get(key);
    const dtype = dataTypeName(entry?.dtype);
    if (entry === undefined || dtype === null || !(dtype in ELEMENT_BYTES)) return null;
    if (entry.slices !== undefined && entry.slices.length > 0) throw broken(key, 'which is stored in slices');
    const shape = (entry.shape?.dim ?? []).map(({ size = 0 }) => size);
    const { size: bytes = 0 } = entry;
    const wanted = shape.reduce((product, size) => product * size, ELEMENT_BYTES[dtype as VariableType]);
    if (shape.some((size) => size < 0) || wanted !== bytes) {
      throw broken(key, `whose ${bytes} bytes are not the ${dtype} values of shape [${shape.join(', ')}]`);
    }
    return { key, dtype: dtype as VariableType, shape, bytes };
  }

  /** A stored tensor with its bytes, as `readTensor` takes it. */
  array(stored: StoredTensor): StoredTensor & { pieces(): AsyncIterable<Uint8Array> } {
    return { ...stored, pieces: () => this.pieces(stored.key) };
  }

  /** Checks that the file holds the values before there is memory for them. */
  async #fileOf(key: string): Promise<{ file: DataFile; offset: number; size: number; crc: number }> {
    const { shard = 0, offset = 0, size = 0, crc32c = 0 } = this.#entries.get(key)!;
    if (shard < 0 || shard >= this.#shards) throw broken(key, `in file ${shard} of ${this.#shards}`);
    const file = await this.open(shard, this.#shards);
    if (offset < 0 || size < 0 || offset + size > file.size) {
      throw broken(key, `whose file ends before its ${size} bytes at ${offset}`);
    }
    return { file, offset, size, crc: crc32c };
  }

  /** Throws ValueError where values take more bytes together than their files have: some would share them. */
  async checkRoom(keys: readonly string[]): Promise<void> {
    const room = new Map<DataFile, number>();
    for (const key of keys) {
      const { file, size } = await this.#fileOf(key);
      const left = (room.get(file) ?? file.size) - size;
      if (left < 0) throw broken(key, 'which shares its bytes with others');
      room.set(file, left);
    }
  }

  /** Gives the bytes of a value in pieces, each of whole numbers. Throws ValueError where they are not those that were written. */
  async *pieces(key: string): AsyncGenerator<Uint8Array> {
    const { file, offset, size, crc: expected } = await this.#fileOf(key);
    const room = new Uint8Array(Math.min(size, this.pieceBytes));
    let crc = 0;
    for (let done = 0; done < size;) {
      const piece = room.subarray(0, Math.min(room.length, size - done));
      await file.read(offset + done, piece);
      crc = extendCrc32c(crc, piece);
      done += piece.length;
      yield piece;
    }
    if (maskCrc32c(crc) !== expected) throw broken(key, 'whose checksum is another');
  }
}
