/**
 * The trees in which HDF5 files keep the names of a group, checked before a library walks them: nodes that share their
 * children make a small file an endless one.
 */
import { ValueError, described } from '../../base/errors.js';

/** `TREE`, kind, level, number of entries, and the addresses of two neighbours. */
const HEADER = 24;
const SIGNATURE = [0x54, 0x52, 0x45, 0x45];
const GROUP_NODE = 0;
/** The library's own writer makes 32. */
const MOST_ENTRIES = 64;

function isNode(bytes: Uint8Array, at: number): boolean {
  return SIGNATURE.every((byte, i) => bytes[at + i] === byte) && bytes[at + 4] === GROUP_NODE;
}

/** Throws ValueError where a node of a group has more entries than HDF5 writes, or a child that another node has too. */
export function checkGroupTrees(bytes: Uint8Array, name: string): void {
  const refuse = (what: string): never => {
    throw new ValueError('source', 'an HDF5 file that is whole', described(`${name}, ${what}`));
  };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const children = new Set<bigint>();
  for (let at = bytes.indexOf(SIGNATURE[0]!); at >= 0; at = bytes.indexOf(SIGNATURE[0]!, at + 1)) {
    if (!isNode(bytes, at) || at + HEADER > bytes.length) continue;
    const entries = view.getUint16(at + 6, true);
    if (entries > MOST_ENTRIES) refuse(`whose group at ${at} has ${entries} entries in a node`);
    // Keys and addresses of children take turns.
    for (let i = 0; i < entries; i++) {
      const place = at + HEADER + 8 + 16 * i;
      if (place + 8 > bytes.length) return refuse('which ends within a group');
      const child = view.getBigUint64(place, true);
      if (children.has(child)) refuse(`whose group at ${at} has a child that is another's`);
      children.add(child);
    }
  }
}
