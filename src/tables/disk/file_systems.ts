/** File systems on which a row file is not trained: locks and syncs do not reach the disk from another machine. */
import type * as nodePath from 'node:path';
import { RuntimeError, described } from '../../base/errors.js';
import { nodeBuiltin } from '../../base/platform.js';
import { nodeFsOf } from './row_reader.js';

/** By the numbers that Linux gives them. */
const NETWORK = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x65735546, 'FUSE'],
]);

/** The kind of file system in which a path lies. Specs put a stand-in in its place. */
export const fileSystem = {
  kindOf(path: string): number {
    const { dirname } = nodeBuiltin<typeof nodePath>('node:path')!;
    return Number(nodeFsOf(path).statfsSync(dirname(path)).type) >>> 0;
  },
};

/** Refuses to train rows on a network mount. */
export function refuseNetwork(path: string): void {
  let kind: number;
  try {
    kind = fileSystem.kindOf(path);
  } catch {
    // Opening the file says what is wrong.
    return;
  }
  const name = NETWORK.get(kind);
  if (name === undefined) return;
  const received = described(`${path}, on a mount of ${name}`);
  throw new RuntimeError('file', 'a disk of this machine for a table that is trained', received);
}
