/** A tensor bundle: the values of variables in one file, and where each lies in another. */
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { shapeMessage } from '../graph/value.js';
import { DataType, type DataTypeName } from '../wire/data_types.js';
import { BundleEntry, BundleHeader, type BundleEntryMessage } from '../wire/saved_model_messages.js';
import { crc32c, extendCrc32c, maskCrc32c } from '../../../io/checksums/crc32c.js';
import { writeIndexTable, type IndexEntry } from './index_table.js';

/** Under which TensorFlow looks for the graph of objects. */
export const OBJECT_GRAPH_KEY = '_CHECKPOINTABLE_OBJECT_GRAPH';

export interface BundleTensor {
  readonly key: string;
  readonly dtype: DataTypeName;
  readonly shape: readonly number[];
  readonly pieces: () => AsyncIterable<Uint8Array>;
}

export const DATA_FILE = 'variables.data-00000-of-00001';
export const INDEX_FILE = 'variables.index';

const encoder = new TextEncoder();

export class BundleWriter {
  readonly #entries: IndexEntry[] = [];
  #offset = 0;

  #add(key: string, entry: BundleEntryMessage): void {
    this.#entries.push([encoder.encode(key), BundleEntry.encode(entry)]);
  }

  /** The bytes of the file of values: those of the tensors, then a scalar string. Once they were taken, `index` knows where. */
  async *data(tensors: readonly BundleTensor[], objectGraph: Uint8Array): AsyncGenerator<Uint8Array> {
    for (const { key, dtype, shape, pieces } of tensors) {
      const start = this.#offset;
      let crc = 0;
      for await (const piece of pieces()) {
        crc = extendCrc32c(crc, piece);
        this.#offset += piece.length;
        yield piece;
      }
      const place = { offset: start, size: this.#offset - start, crc32c: maskCrc32c(crc) };
      this.#add(key, { dtype: DataType[dtype], shape: shapeMessage(shape), shard: 0, ...place });
    }
    yield this.#string(OBJECT_GRAPH_KEY, objectGraph);
  }

  /** A string is its length, a sum of the length, and its bytes; the sum of all counts the length as four bytes. */
  #string(key: string, bytes: Uint8Array): Uint8Array {
    const length = new Uint8Array(Uint32Array.of(bytes.length).buffer);
    const ofLength = crc32c(length);
    const check = new Uint8Array(Uint32Array.of(maskCrc32c(ofLength)).buffer);
    const crc = extendCrc32c(extendCrc32c(ofLength, check), bytes);
    const whole = new BinaryWriter().uint32(bytes.length).raw(check).raw(bytes).finish();
    const place = { offset: this.#offset, size: whole.length, crc32c: maskCrc32c(crc) };
    this.#add(key, { dtype: DataType.string, shape: {}, shard: 0, ...place });
    this.#offset += whole.length;
    return whole;
  }

  index(): Uint8Array {
    const header = BundleHeader.encode({ shards: 1, endianness: 0, version: { producer: 1 } });
    return writeIndexTable([[new Uint8Array(0), header], ...this.#entries]);
  }
}
