/** What counts as caught, with spec files written for it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Hunt, type Found } from './hunt.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('Hunt', () => {
  let folder = '';
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'hunt-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Hunts with specs whose bodies read `changed`. */
  function find(...bodies: string[]): Promise<Found> {
    const flag = join(folder, 'flag');
    const set = (text: string): void => writeFileSync(flag, text);
    set('');
    const files = bodies.map((body, i) => {
      const file = join(folder, `${i}.spec.mjs`);
      const head = `import { readFileSync, writeFileSync } from 'node:fs';
        const changed = readFileSync(${JSON.stringify(flag)}, 'utf8') !== '';
        let runs = 0;`;
      writeFileSync(
        file,
        body.startsWith('!') ? `${head}${body.slice(1)}` : `${head}it('spec ${i}', () => {${body}});`,
      );
      return file;
    });
    const hunt = new Hunt(ROOT, () => 1);
    return hunt.find(
      files,
      () => set('yes'),
      () => set(''),
    );
  }

  it('catches by an expectation that fails', async () => {
    const found = await find('expect(1).toBe(1)', 'expect(changed).toBe(false)');
    expect(found).toEqual({ fate: 'caught', text: 'spec 1: Expected true to be false.' });
    expect((await find('expect(1).toBe(1); if (changed) fail("no")')).fate).toBe('caught');
  });

  it('passes over what is thrown, as long as an expectation may fail', async () => {
    const throws = 'expect(1).toBe(1); if (changed) throw new Error("oh")';
    expect(await find(throws)).toEqual({ fate: 'thrown', text: 'spec 0: Error: oh' });
    expect((await find(throws, 'expect(changed).toBe(false)')).fate).toBe('caught');
  });

  it('believes no spec that fails now and then, or without the change', async () => {
    expect((await find('expect(runs++ > 0 || !changed).toBe(true)')).fate).toBe('survived');
    expect((await find('expect(false).toBe(true)')).fate).toBe('survived');
    expect((await find('expect(1).toBe(1)')).fate).toBe('survived');
  });

  it('believes no spec that fails only after others', async () => {
    const leaves = 'globalThis.left = changed; expect(1).toBe(1)';
    expect((await find(leaves, 'expect(globalThis.left ?? false).toBe(false)')).fate).toBe('survived');
  });

  it('tells apart what cannot be loaded and what ends the process', async () => {
    const unloadable = '!if (changed) throw new Error("no"); it("loads", () => expect(1).toBe(1));';
    expect((await find(unloadable)).fate).toBe('crashed');
    const ends = 'expect(1).toBe(1); if (changed) process.exit(3)';
    expect((await find(ends)).fate).toBe('crashed');
    expect((await find(ends, 'expect(changed).toBe(false)')).fate).toBe('caught');
  });
});
