/** The bytes of tensors on their way into files: of a large one a few rows at a time, wherever it lies. */
import * as tf from '@tensorflow/tfjs';
import { devicesInUse, tablesInUse } from '../../backends/registry.js';
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

/** Rows of a tensor that lies with the backend: into `room` where the backend can, else in an array of their own. */
async function rowsOf(tensor: tf.Tensor, row: number, count: number, room: Float32Array): Promise<Uint8Array> {
  if (tensor.dtype === 'float32' && tablesInUse().read(tensor, row, room)) return bytesOf(room);
  const piece = tf.tidy(() => tf.slice(tensor, row, count));
  try {
    return bytesOf(await piece.data());
  } finally {
    piece.dispose();
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
  const devices = devicesInUse();
  const isPlaced = devices !== null && devices.layoutOf(tensor) !== null;
  if (bytes <= PIECE_BYTES && !isPlaced) {
    yield bytesOf(await tensor.data());
    return;
  }
  const atOnce = Math.min(rows, Math.max(1, Math.floor((PIECE_BYTES / bytes) * rows)));
  const columns = tensor.size / rows;
  const room = new Float32Array(isPlaced || tensor.dtype !== 'float32' ? 0 : atOnce * columns);
  for (let row = 0; row < rows; row += atOnce) {
    const count = Math.min(atOnce, rows - row);
    yield isPlaced
      ? bytesOf(devices.readRows(tensor, row, count))
      : await rowsOf(tensor, row, count, room.subarray(0, count * columns));
  }
}

/** The same of the float32 numbers that the rows of a table stand for. */
export async function* floatPiecesOf(tensor: tf.Tensor, { codec, dim }: TableForm): AsyncGenerator<Uint8Array> {
  for await (const { buffer, byteOffset, byteLength } of piecesOf(tensor)) {
    const words = new Int32Array(buffer, byteOffset, byteLength / Int32Array.BYTES_PER_ELEMENT);
    yield bytesOf(codec.unpack(words, dim));
  }
}
