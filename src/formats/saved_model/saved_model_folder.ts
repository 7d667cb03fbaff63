/** The files of a SavedModel on disk. Node only. */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ValueError, described } from '../../base/errors.js';
import { openInside, type FolderFile } from '../../io/models/folder_file.js';
import { readError } from '../../io/system_errors.js';
import { BundleReader, type DataFile } from './bundle/bundle_reader.js';
import { INDEX_FILE } from './bundle/bundle_writer.js';

/** More than any index or config needs. */
const MOST_BYTES = 2 ** 28;

/** Thrown where another folder, or another SavedModel, has taken the place of the one that is being read. */
export class Replaced extends Error {}

/** What no other SavedModel has, and this one only as long as it is not written. */
async function identityOf(path: string): Promise<string> {
  const files = [path, join(path, 'saved_model.pb'), join(path, 'variables', INDEX_FILE)];
  const told = files.map(async (file) => {
    const found = await stat(file, { bigint: true }).catch(() => null);
    return found === null ? 'none' : [found.dev, found.ino, found.ctimeNs, found.size].join(':');
  });
  return (await Promise.all(told)).join();
}

/** The files of a SavedModel, none of which may lie elsewhere, and all of which are of one and the same. */
export class SavedModelFolder {
  readonly #open = new Map<string, Promise<FolderFile>>();

  private constructor(
    readonly path: string,
    readonly identity: string,
  ) {}

  static async open(path: string): Promise<SavedModelFolder> {
    return new SavedModelFolder(path, await identityOf(path));
  }

  /** Throws Replaced where it is not what it was: files read by name may then be of two SavedModels. */
  async check(): Promise<void> {
    if ((await identityOf(this.path)) !== this.identity) throw new Replaced(this.path);
  }

  has(name: string): boolean {
    return existsSync(join(this.path, name));
  }

  async #file(name: string): Promise<FolderFile> {
    const path = join(this.path, name);
    let file: FolderFile;
    try {
      file = await openInside(this.path, name, (what) => {
        return new ValueError('directory', 'files in the folder of the SavedModel', described(`${path}, ${what}`));
      });
    } catch (error) {
      throw readError(error, path, 'directory');
    }
    try {
      await this.check();
      return file;
    } catch (error) {
      await file.close();
      throw error;
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
