import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runProgram } from './child_program.js';

describe('runProgram', () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-attack-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  function program(text: string): URL {
    const file = join(folder, 'program.mts');
    writeFileSync(file, text);
    return pathToFileURL(file);
  }

  it('gives the last line', async () => {
    const file = program(`console.log('first'); console.log(process.argv.slice(2).join());`);
    expect(await runProgram(file, [7, 'x'], { timeoutMs: 60_000 })).toEqual({ lastLine: '7,x', problem: null });
  });

  it('tells of an exit code, with what was said', async () => {
    const { problem } = await runProgram(program(`throw new Error('fell over');`), [], { timeoutMs: 60_000 });
    expect(problem).toMatch(/^ended with 1\n[^]*Error: fell over/);
  });

  it('tells of a crash', async () => {
    const { problem } = await runProgram(program(`process.abort();`), [], { timeoutMs: 60_000 });
    expect(problem).toMatch(/^ended with SIG/);
  });

  it('ends what hangs', async () => {
    const { problem } = await runProgram(program('for (;;);'), [], { timeoutMs: 2000 });
    expect(problem).toMatch(/^hangs: not done after 2000 ms/);
  });

  it('lets go on what speaks, as long as it does', async () => {
    const lines: string[] = [];
    const speaking = (times: number, then: string): string => `
      const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      for (let i = 0; i < ${times}; i++) { console.error('line', i); await pause(1500); }
      ${then}`;
    const options = { timeoutMs: 20_000, onLine: (line: string) => void lines.push(line) };
    expect(await runProgram(program(speaking(15, "console.log('done')")), [], options)).toEqual({
      lastLine: 'done',
      problem: null,
    });
    expect(lines.length).toBe(15);
    const { problem } = await runProgram(program(speaking(1, 'for (;;);')), [], { ...options, timeoutMs: 5000 });
    expect(problem).toMatch(/^hangs: silent after 5000 ms/);
  }, 120_000);
});
