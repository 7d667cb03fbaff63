/** A file of ONNX that this package wrote, as a layers model. */
import type * as tf from '@tensorflow/tfjs';
import { ValueError, describe, described } from '../../base/errors.js';
import type { ByteInput } from '../../io/byte_source.js';
import { extendCrc32c } from '../../io/checksums/crc32c.js';
import { fromHalf } from '../../io/half_floats.js';
import type { StoredArray } from '../../io/models/stored_model.js';
import { openOnnx, type OnnxArray, type OnnxFile } from '../../io/weights/onnx_file.js';
import { loadStoredModel } from '../../layers/loaded_model.js';
import type { KeptWeight, LayersModelAssets } from '../saved_model/assets.js';
import { modelOf, readAssets } from '../saved_model/read_assets.js';
import { METADATA_KEY } from './model_file.js';

/** Values are read in pieces of about so many bytes. */
const PIECE_BYTES = 2 ** 20;

class StoredValues {
  readonly #checked = new Set<string>();

  constructor(
    readonly file: OnnxFile,
    readonly checksums: Readonly<Record<string, number>>,
  ) {}

  refuse(found: string, note?: string): ValueError {
    const expected = 'a file that emb.onnx.export wrote';
    return new ValueError('source', expected, described(`${this.file.name}, ${found}`), note);
  }

  /** The bytes of some rows, again in the same memory. */
  *#rows({ place, shape }: OnnxArray, room: number): Generator<Uint8Array> {
    const { source, at, bytes } = place!;
    const perRow = shape.length === 0 ? bytes : bytes / Math.max(1, shape[0]!);
    const piece = new Uint8Array(Math.min(bytes, Math.max(1, Math.floor(room / Math.max(1, perRow))) * perRow));
    for (let done = 0; done < bytes; done += piece.length) {
      const part = piece.subarray(0, Math.min(piece.length, bytes - done));
      if (source.read(at + done, part) !== part.length) throw this.refuse('which ends before');
      yield part;
    }
  }

  /** A value by its name, of one of these types, whose bytes are those that were written. */
  #checkedArray(name: string, types: readonly string[]): OnnxArray {
    const array = this.file.arrays.get(name);
    if (array?.place === undefined || array.place === null) throw this.refuse(`which has no values ${describe(name)}`);
    if (!types.includes(array.onnxType)) throw this.refuse(`whose ${describe(name)} is of type ${array.onnxType}`);
    if (this.#checked.has(name)) return array;
    let sum = 0;
    for (const part of this.#rows(array, PIECE_BYTES)) sum = extendCrc32c(sum, part);
    if (sum !== this.checksums[name]) throw this.refuse(`whose ${describe(name)} has another checksum`);
    this.#checked.add(name);
    return array;
  }

  /** A weight as it is stored; packed rows as the numbers that they stand for. */
  stored({ name, key, trainable }: KeptWeight): StoredArray {
    const common = { name, isFrozen: trainable === false };
    if (this.file.arrays.has(`${key}/codes`)) return { ...common, ...this.#coded(key) };
    const array = this.#checkedArray(key, ['float32', 'int32', 'bool', 'float16']);
    const { shape, type, onnxType } = array;
    const rows = (): Generator<Uint8Array> => this.#rows(array, PIECE_BYTES);
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      for (const part of rows()) yield onnxType === 'float16' ? widened(part) : part;
    };
    return { ...common, dtype: type.dtype, shape, pieces };
  }

  #coded(key: string): Pick<StoredArray, 'dtype' | 'shape' | 'pieces'> {
    const codes = this.#checkedArray(`${key}/codes`, ['uint8']);
    const [scales, offsets] = ['scales', 'offsets'].map((part) =>
      this.#checkedArray(`${key}/${part}`, ['float32']),
    ) as [OnnxArray, OnnxArray];
    const [rows, dim] = codes.shape as [number, number];
    for (const { shape } of [scales, offsets]) {
      if (codes.shape.length !== 2 || shape.join() !== `${rows},1`) throw this.refuse(`whose ${key} has other sizes`);
    }
    const atOnce = Math.max(1, Math.floor(PIECE_BYTES / (4 * dim)));
    const all = [this.#rows(codes, atOnce * dim), this.#rows(scales, atOnce * 4), this.#rows(offsets, atOnce * 4)];
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      for (;;) {
        const parts = all.map((each) => each.next().value as Uint8Array | undefined);
        if (parts[0] === undefined) return;
        yield decoded(parts[0], parts[1]!, parts[2]!, dim);
      }
    };
    return { dtype: 'float32', shape: [rows, dim], pieces };
  }
}

function widened(halves: Uint8Array): Uint8Array {
  const view = new DataView(halves.buffer, halves.byteOffset, halves.length);
  const values = Float32Array.from({ length: halves.length / 2 }, (_, i) => fromHalf(view.getUint16(2 * i, true)));
  return new Uint8Array(values.buffer);
}

function decoded(codes: Uint8Array, scales: Uint8Array, offsets: Uint8Array, dim: number): Uint8Array {
  const [scale, offset] = [scales, offsets].map((part) => new DataView(part.buffer, part.byteOffset, part.length)) as [
    DataView,
    DataView,
  ];
  const values = Float32Array.from(codes, (code, i) => {
    const at = 4 * Math.floor(i / dim);
    // Rounded as lookups round them, so that the model predicts the same.
    return Math.fround(scale.getFloat32(at, true) * code) + offset.getFloat32(at, true);
  });
  return new Uint8Array(values.buffer);
}

export async function loadOnnx(input: ByteInput): Promise<tf.LayersModel> {
  const file = await openOnnx(input);
  try {
    const text = file.metadata.get(METADATA_KEY);
    if (text === undefined) {
      const note = 'Tables of other files are read by emb.weights.readOnnx.';
      throw new StoredValues(file, {}).refuse('which tells of no layers', note);
    }
    const early = new StoredValues(file, {});
    const assets: LayersModelAssets = readAssets(text, (found) => early.refuse(`${METADATA_KEY}, ${found}`));
    const values = new StoredValues(file, assets.checksums ?? {});
    return await loadStoredModel({
      ...modelOf(assets),
      weights: assets.weights.map((each) => values.stored(each)),
      state: [],
      refuse: (found, note) => values.refuse(found, note),
    });
  } finally {
    file.close();
  }
}
