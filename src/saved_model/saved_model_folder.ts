/** The files of a SavedModel on disk. Node only. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ValueError, described } from '../errors.js';
import { openInside, type FolderFile } from '../io/folder_file.js';
import { readError } from '../io/system_errors.js';
import { BundleReader, type DataFile } from './bundle/bundle_reader.js';
import { INDEX_FILE } from './bundle/bundle_writer.js';

/** More than any index or config needs. */
const MOST_BYTES = 2 ** 28;

/** The files of a SavedModel, none of which may lie elsewhere. */
export class SavedModelFolder {
  readonly #open = new Map<string, Promise<FolderFile>>();

  constructor(readonly path: string) {}

  has(name: string): boolean {
    return existsSync(join(this.path, name));
  }

  async #file(name: string): Promise<FolderFile> {
    const path = join(this.path, name);
    try {
      return await openInside(this.path, name, (what) => {
        return new ValueError('directory', 'files in the folder of the SavedModel', described(`${path}, ${what}`));
      });
    } catch (error) {
      throw readError(error, path, 'directory');
    }
  }

  file(name: string): Promise<FolderFile> {
    const known = this.#open.get(name) ?? this.#file(name);
    this.#open.set(name, known);
    return known;
  }

  async bytes(name: string, most = MOST_BYTES): Promise<Uint8Array> {
    const file = await this.file(name);
    if (file.size > most) {
      throw new ValueError('directory', `at most ${most} bytes in ${name}`, described(`${file.size} in ${this.path}`));
    }
    const bytes = new Uint8Array(file.size);
    await file.read(0, bytes);
    return bytes;
  }

  async bundle(): Promise<BundleReader> {
    const index = await this.bytes(`variables/${INDEX_FILE}`);
    const number = (value: number): string => String(value).padStart(5, '0');
    return new BundleReader(index, (shard, shards): Promise<DataFile> => {
      return this.file(`variables/variables.data-${number(shard)}-of-${number(shards)}`);
    });
  }

  async close(): Promise<void> {
    for (const file of this.#open.values()) await (await file.catch(() => null))?.close();
  }
}
