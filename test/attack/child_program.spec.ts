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
});
