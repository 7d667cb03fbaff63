/** What becomes of changes that are switched on, in a source and spec files written for it. */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { mutantsOf, type Drawn } from '../draw.js';
import { SwitchedSpecs } from './switched_specs.js';
import type { Found } from '../hunt.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const SOURCE = `
export function sum(a, b) { return a + b; }
export function unseen(a) { return a * 2; }
export function last(list) { if (list.length === 0) return null; return list[list.length - 1].name; }
export function steps(n) { let i = 0; while (i < n) i++; return i; }
export function end(a) { if (a > 100) process.exit(3); return a; }
`;

const SPECS = [
  `it('adds', () => expect(source.sum(1, 2)).toBe(3));`,
  `it('has a last name', () => { source.last([]); expect(1).toBe(1); });
   it('counts', () => { source.steps(3); expect(1).toBe(1); });
   it('ends', () => { source.end(1); expect(1).toBe(1); });
   it('fails now and then', () => { source.unseen(1); expect((globalThis.runs = (globalThis.runs ?? 0) + 1) < 2).toBe(true); });`,
];

describe('SwitchedSpecs', () => {
  let folder = '';
  let files: string[] = [];
  let drawn: Drawn;
  let specs: SwitchedSpecs;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'switched-'));
    writeFileSync(join(folder, 'source.mjs'), SOURCE);
    drawn = await mutantsOf(folder, ['source.mjs']);
    writeFileSync(join(folder, 'source.mjs'), drawn.switched.get('source.mjs')!);
    const head = `import * as source from ${JSON.stringify(pathToFileURL(join(folder, 'source.mjs')).href)};`;
    files = SPECS.map((text, i) => {
      const file = join(folder, `${i}.spec.mjs`);
      writeFileSync(file, `${head}\n${text}`);
      return file;
    });
    specs = new SwitchedSpecs(ROOT, new Map(), join(folder, 'dry'));
  });
  afterAll(() => {
    specs.close();
    rmSync(folder, { recursive: true });
  });

  async function find(code: string, becomes: string): Promise<Found | null> {
    const found = drawn.mutants.find(
      ({ from, to, replacement }) => SOURCE.slice(from, to) === code && replacement === becomes,
    );
    return specs.find({ id: found!.id, files, seconds: 60 });
  }

  it('catch by an expectation that fails, and passes again without the change', async () => {
    expect(await find('a + b', 'a - b')).toEqual({ fate: 'caught', text: 'adds: Expected -1 to be 3.' });
  });

  it('tell what survives, and what only throws', async () => {
    expect((await find('list.length === 0', 'true'))!.fate).toBe('survived');
    const thrown = await find('list.length === 0', 'false');
    expect(thrown!.fate).toBe('thrown');
    expect(thrown!.text).toMatch(/^has a last name: TypeError/);
  });

  it('tell what does not end, and what ends the process, and go on', async () => {
    expect((await find('i++', 'i--'))!.fate).toBe('hung');
    expect((await find('a > 100', 'true'))!.fate).toBe('crashed');
    expect((await find('a + b', 'a - b'))!.fate).toBe('caught');
  });

  it('go on where the process ended between two changes', async () => {
    await find('a + b', 'a - b');
    const { child } = specs as unknown as { child: ChildProcess };
    const closed = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await closed;
    expect((await find('a + b', 'a - b'))!.fate).toBe('caught');
  });

  it('believe no spec that fails now and then', async () => {
    const found = (await find('a * 2', 'a / 2'))!;
    expect(found.fate).toBe('survived');
  });
});
