/** Where logs go: a folder whose files grow record by record, or whatever takes files. */
import type * as fileSystem from 'node:fs/promises';
import type * as paths from 'node:path';
import { ArgumentTypeError, RuntimeError, ValueError } from '../base/errors.js';
import { isWriter, nodeBuiltin, type SavedModelWriter } from '../base/platform.js';

export interface LogFolder {
  /** Adds bytes to a file, which is made where it is not there. */
  append(path: string, bytes: Uint8Array): Promise<void>;
  /** Writes a whole file, over one of this name. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Ends the files that grew. */
  close(): Promise<void>;
}

class NodeFolder implements LogFolder {
  private readonly fs: typeof fileSystem;
  private readonly path: typeof paths;
  private readonly made = new Set<string>();

  constructor(private readonly folder: string) {
    const [fs, path] = [nodeBuiltin<typeof fileSystem>('node:fs/promises'), nodeBuiltin<typeof paths>('node:path')];
    if (fs === null || path === null) {
      const note = 'In a page, pass an object {write(path, chunks)}.';
      throw new RuntimeError('logdir', 'an object {write(path, chunks)} in place of a folder', folder, note);
    }
    [this.fs, this.path] = [fs, path];
  }

  append(path: string, bytes: Uint8Array): Promise<void> {
    return this.at(path, (file) => this.fs.appendFile(file, bytes));
  }

  write(path: string, bytes: Uint8Array): Promise<void> {
    return this.at(path, (file) => this.fs.writeFile(file, bytes));
  }

  async close(): Promise<void> {
    return;
  }

  private async at(path: string, run: (file: string) => Promise<void>): Promise<void> {
    const file = this.path.join(this.folder, path);
    const folder = this.path.dirname(file);
    try {
      if (!this.made.has(folder)) await this.fs.mkdir(folder, { recursive: true });
      this.made.add(folder);
      await run(file);
    } catch (error) {
      throw new RuntimeError('logdir', 'a folder that can be written', this.folder, (error as Error).message);
    }
  }
}

/** A file that grows, as the pieces that its reader asks for. */
class Growing {
  private readonly pieces: Uint8Array[] = [];
  private wake: () => void = () => undefined;
  private isClosed = false;
  readonly written: Promise<void>;

  constructor(target: SavedModelWriter, path: string) {
    this.written = Promise.resolve(target.write(path, this.chunks()));
    // Told by `close`.
    this.written.catch(() => undefined);
  }

  add(bytes: Uint8Array): void {
    this.pieces.push(bytes);
    this.wake();
  }

  close(): Promise<void> {
    this.isClosed = true;
    this.wake();
    return this.written;
  }

  private async *chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      for (let piece = this.pieces.shift(); piece !== undefined; piece = this.pieces.shift()) yield piece;
      if (this.isClosed) return;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}

class WriterFolder implements LogFolder {
  private readonly growing = new Map<string, Growing>();

  constructor(private readonly target: SavedModelWriter) {}

  async append(path: string, bytes: Uint8Array): Promise<void> {
    const known = this.growing.get(path) ?? new Growing(this.target, path);
    this.growing.set(path, known);
    known.add(bytes);
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    const one = new Growing(this.target, path);
    one.add(bytes);
    await one.close();
  }

  async close(): Promise<void> {
    const all = [...this.growing.values()];
    this.growing.clear();
    await Promise.all(all.map((each) => each.close()));
  }
}

/** The folder of a path, or of an object that takes files. */
export function logFolder(logdir: unknown): LogFolder {
  const expected = 'the path of a folder, or an object {write(path, chunks)}';
  if (typeof logdir === 'string') {
    if (logdir === '' || logdir.includes('\0')) throw new ValueError('logdir', expected, logdir);
    return new NodeFolder(logdir);
  }
  if (isWriter(logdir)) return new WriterFolder(logdir);
  throw new ArgumentTypeError('logdir', expected, logdir);
}
