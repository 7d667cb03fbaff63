/** Weights on their way into files, piece by piece. */
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { writeError } from '../system_errors.js';

/** A file holds at most as many bytes: Node reads files below 2 GiB at once, and so does tfjs-node. */
const FILE_BYTES = 2 ** 30;

/** Runs what writes to a path; errors name it. */
export async function writing<T>(path: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw writeError(error, path);
  }
}

/** Writes all of the bytes and has them on disk before it closes the file. */
export class WeightFiles {
  readonly names: string[] = [];
  /** Bytes written so far. */
  bytes = 0;
  #file: FileHandle | null = null;
  #room = 0;

  /** `nameOf` gives the name of each file by its number. */
  constructor(
    private readonly folder: string,
    private readonly nameOf: (number: number) => string,
    private readonly fileBytes = FILE_BYTES,
  ) {}

  async write(piece: Uint8Array): Promise<void> {
    for (let done = 0; done < piece.length;) {
      if (this.#room === 0) await this.#begin();
      const length = Math.min(piece.length - done, this.#room);
      const { bytesWritten } = await writing(this.#path, () => this.#file!.write(piece, done, length));
      done += bytesWritten;
      this.bytes += bytesWritten;
      this.#room -= bytesWritten;
    }
  }

  /** There is a file even for no bytes. */
  async end(): Promise<void> {
    if (this.names.length === 0) await this.#begin();
    await this.#finish();
  }

  /** Gives up; what was written stays for others to remove. */
  async abandon(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
  }

  get #path(): string {
    return join(this.folder, this.names.at(-1)!);
  }

  async #begin(): Promise<void> {
    await this.#finish();
    this.names.push(this.nameOf(this.names.length));
    this.#file = await writing(this.#path, () => open(this.#path, 'wx'));
    this.#room = this.fileBytes;
  }

  async #finish(): Promise<void> {
    const file = this.#file;
    if (file === null) return;
    this.#file = null;
    await writing(this.#path, async () => {
      try {
        await file.sync();
      } finally {
        await file.close();
      }
    });
  }
}
