/** What the processes that specs start tell the runner: which mutants they reached. Which one is on they learn by themselves. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** For processes that start between `listen` and `close`. */
export class ChildProcesses {
  private folder: string | null = null;
  private options: string | undefined;

  listen(): void {
    this.folder = mkdtempSync(join(tmpdir(), 'mutations-'));
    process.env['MUTATIONS_REACHED'] = this.folder;
    this.options = process.env['NODE_OPTIONS'];
    process.env['NODE_OPTIONS'] =
      `${this.options ?? ''} --import=${new URL('child_process.mjs', import.meta.url).href}`;
  }

  close(): void {
    if (this.folder !== null) rmSync(this.folder, { recursive: true, force: true });
    this.folder = null;
    delete process.env['MUTATIONS_REACHED'];
    if (this.options === undefined) delete process.env['NODE_OPTIONS'];
    else process.env['NODE_OPTIONS'] = this.options;
  }

  /** The mutants that processes reached which have ended since this was last asked. */
  takeReached(): string[] {
    const { folder } = this;
    if (folder === null) return [];
    return readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      const reached = JSON.parse(readFileSync(path, 'utf8')) as string[];
      rmSync(path);
      return reached;
    });
  }
}
