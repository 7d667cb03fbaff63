/** Files for tables in Node. Node entry only. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { PositionedFile } from '../base/platform.js';
import { writing } from './models/weight_files.js';
import { writeWhole } from './whole_file.js';

/** What the system reads at once; it takes less than 2^31 bytes. */
const AT_ONCE = 2 ** 30;

class NodeFile implements PositionedFile {
  readonly size: number;

  constructor(readonly descriptor: number) {
    this.size = fstatSync(descriptor).size;
  }

  read(position: number, into: Uint8Array): number {
    let done = 0;
    while (done < into.length) {
      const wanted = Math.min(into.length - done, AT_ONCE);
      const count = readSync(this.descriptor, into, done, wanted, position + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

/** Opens a file for reading. */
export function openFile(path: string): PositionedFile {
  // Asked before it is opened: opening a pipe waits for a writer.
  if (!statSync(path).isFile()) throw Object.assign(new Error(`${path} is not a file`), { code: 'EISDIR' });
  return new NodeFile(openSync(path, 'r'));
}

/** Writes a file, all of it or nothing, and the folders above it. */
export async function writeFile(path: string, pieces: Iterable<Uint8Array>): Promise<void> {
  const folder = dirname(path);
  await writing(folder, () => mkdir(folder, { recursive: true }));
  await writeWhole(path, true, async (write) => {
    for (const piece of pieces) await write(piece);
  });
}
