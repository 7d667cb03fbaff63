/** The bytes of tensors on their way into files: of a large one a few rows at a time, wherever it lies. */
import * as tf from '@tensorflow/tfjs';
import { devicesInUse } from '../../backends/registry.js';
import { rowsRead } from '../../backends/stores/table_rows.js';
import type { TableForm } from '../../backends/table.js';

/** Values are read in pieces of about so many bytes. */
const PIECE_BYTES = 2 ** 20;

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** Strings as tfjs stores them: each after its length. */
async function* pieceOfStrings(tensor: tf.Tensor): AsyncGenerator<Uint8Array> {
  for (const bytes of (await tensor.bytes()) as Uint8Array[]) {
    yield bytesOf(Uint32Array.of(bytes.length));
    yield bytes;
  }
}

/**
 * The bytes of a tensor in pieces. A piece is of use until the next is asked for: memory that is used again costs far less
 * than new memory for each.
 */
export async function* piecesOf(tensor: tf.Tensor): AsyncGenerator<Uint8Array> {
  if (tensor.dtype === 'string') return yield* pieceOfStrings(tensor);
  const [rows = 1] = tensor.shape;
  const bytes = tensor.size * tf.util.bytesPerElement(tensor.dtype);
  if (bytes === 0) return;
  const isPlaced = (devicesInUse()?.layoutOf(tensor) ?? null) !== null;
  if (bytes <= PIECE_BYTES && !isPlaced) {
    yield bytesOf(await tensor.data());
    return;
  }
  const atOnce = Math.min(rows, Math.max(1, Math.floor((PIECE_BYTES / bytes) * rows)));
  const columns = tensor.size / rows;
  const room = new Float32Array(tensor.dtype === 'float32' ? atOnce * columns : 0);
  for (let row = 0; row < rows; row += atOnce) {
    const count = Math.min(atOnce, rows - row);
    yield bytesOf(await rowsRead(tensor, row, count, room.subarray(0, count * columns)));
  }
}

/** The same of the float32 numbers that the rows of a table stand for. */
export async function* floatPiecesOf(tensor: tf.Tensor, { codec, dim }: TableForm): AsyncGenerator<Uint8Array> {
  for await (const { buffer, byteOffset, byteLength } of piecesOf(tensor)) {
    const words = new Int32Array(buffer, byteOffset, byteLength / Int32Array.BYTES_PER_ELEMENT);
    yield bytesOf(codec.unpack(words, dim));
  }
}
