/** Loads modules of the set-up program, which is plain JavaScript without declarations. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FOLDER = new URL('../../../custom-ops/setup/', import.meta.url);

export async function setUpModule<T>(name: string): Promise<T> {
  return (await import(new URL(name, FOLDER).href)) as T;
}

/** Address of a module of the set-up program, for other processes to import. */
export function setUpAddress(name: string): string {
  return new URL(name, FOLDER).href;
}

/** A folder that each spec of the suite finds empty and that is gone afterwards. */
export function emptyFolder(): { path: string } {
  const folder = { path: '' };
  beforeEach(() => {
    folder.path = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-spec-'));
  });
  afterEach(() => {
    rmSync(folder.path, { recursive: true, force: true });
  });
  return folder;
}
