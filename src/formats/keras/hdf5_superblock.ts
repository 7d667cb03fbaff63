/** The first bytes of an HDF5 file, which tell how long it is. */
import { ValueError, described } from '../../base/errors.js';

const VERSION_AT = 8;
/** Where the address of the end lies, by version, with addresses of 8 bytes. */
const END_AT = [40, 44, 28, 28];

/** Throws ValueError for a file that is shorter than it says. */
export function checkEnd(bytes: Uint8Array, name: string): void {
  const at = END_AT[bytes[VERSION_AT] ?? -1];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = at === undefined || at + 8 > bytes.length ? null : view.getBigUint64(at, true);
  if (end !== null && end <= BigInt(bytes.length)) return;
  const expected = end === null ? 'an HDF5 file' : `an HDF5 file of ${end} bytes`;
  throw new ValueError('source', expected, described(`${name}, which holds ${bytes.length}`));
}
