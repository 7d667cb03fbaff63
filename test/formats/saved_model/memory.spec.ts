/** What a large table takes while it is made, trained, saved and loaded: itself and its slots, once. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeForBackends } from '../../helpers/backends.js';
import { WITH_DIST } from '../../helpers/programs.js';

const PROGRAM = fileURLToPath(new URL('memory_program.ts', import.meta.url));
const MEBIBYTE = 2 ** 20;
/** Of the table; its slots take as much. */
const TABLE = 128 * MEBIBYTE;
/** What passes through memory in pieces until it is collected: less than another copy of either would take. */
const ROOM = 95 * MEBIBYTE;

/** By how many bytes a process grew above the table while that was made, and in all above the table and its slots. */
async function grown(backend: string, layer: string, format: string): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'memory-'));
  try {
    const own = ['--expose-gc', ...WITH_DIST, PROGRAM, backend, String(TABLE), folder, layer, format];
    const child = spawn(process.execPath, own, { stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, said] = [[] as Buffer[], [] as Buffer[]];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
    const status = await new Promise((resolve) => child.on('close', resolve));
    const found = /grew by (\d+), all by (\d+)/.exec(Buffer.concat(out).toString());
    if (status !== 0 || found === null) throw new Error(`${String(status)}: ${Buffer.concat(said).toString()}`);
    return [Number(found[1]) - TABLE, Number(found[2]) - 2 * TABLE];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describeForBackends(
  'a table of 128 MiB with slots',
  ({ backend }) => {
    for (const layer of ['embedding', 'distributedEmbedding']) {
      // Both layers are saved and loaded by the same code.
      for (const format of layer === 'embedding' ? ['SavedModel', 'model.json'] : ['SavedModel']) {
        it(`is made, saved as ${format} and loaded within memory for itself by ${layer}`, async () => {
          const all = await grown(backend, layer, format);
          for (const bytes of all) expect(bytes / MEBIBYTE).toBeLessThan(ROOM / MEBIBYTE);
        }, 60_000);
      }
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
