/** Files in the `.npy` format of NumPy, written piece by piece. */
import { fromPlatform } from '../base/platform.js';
import { littleEndianBytes } from './byte_order.js';

const BLOCK = 64;

/** The header of an array in row-major order, version 1.0; `descr` as NumPy calls its type, float32 by default. */
export function npyHeaderBytes(shape: readonly number[], descr = '<f4'): Uint8Array {
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const fields = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${sizes}), }`;
  // The values begin at a multiple of 64 bytes, as NumPy writes them.
  const length = Math.ceil((10 + fields.length + 1) / BLOCK) * BLOCK;
  const text = `${fields.padEnd(length - 11)}\n`;
  const bytes = new Uint8Array(length);
  bytes.set([0x93, ...Array.from('NUMPY', (letter) => letter.charCodeAt(0)), 1, 0]);
  new DataView(bytes.buffer).setUint16(8, length - 10, true);
  for (let i = 0; i < text.length; i++) bytes[10 + i] = text.charCodeAt(i);
  return bytes;
}

/**
 * Writes an array of float32 values, in row-major order, in as many blocks as it comes.
 *
 * @throws RuntimeError, which names the file, where the system refuses and where files cannot be written here.
 */
export async function writeNpy(path: string, shape: readonly number[], blocks: Iterable<Float32Array>): Promise<void> {
  await fromPlatform('writeFile', 'path', `The file ${path}`)(path, pieces(shape, blocks));
}

function* pieces(shape: readonly number[], blocks: Iterable<Float32Array>): Generator<Uint8Array> {
  yield npyHeaderBytes(shape);
  for (const block of blocks) yield littleEndianBytes(block);
}
