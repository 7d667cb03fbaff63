/** Whole processes that have devices: they end by themselves, and when they are told to. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { WITH_SOURCES } from '../../../helpers/programs.js';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

interface End {
  readonly code: number | null;
  readonly signal: string | null;
  readonly text: string;
}

/** Runs code that has `set`, two devices; gets a signal once it has written `go`. */
function run(code: string, signal: NodeJS.Signals | null = null): Promise<End> {
  const program = `
    import 'tfjs-embeddings/node';
    import { makeDevices } from '../../../../src/backends/emulator/devices/device_set.ts';
    const set = await makeDevices({ count: 2, kind: 'worker', threads: 1, timeoutMs: 4000 });
    const [first] = set.devices;
    ${code}`;
  const child = spawn(process.execPath, [...WITH_SOURCES, '--input-type=module', '-e', program], {
    cwd: FOLDER,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const patience = setTimeout(() => child.kill('SIGKILL'), 60_000);
  let text = '';
  const take = (bytes: Buffer): void => {
    const went = text.includes('go');
    text += bytes.toString();
    if (!went && signal !== null && text.includes('go')) setTimeout(() => child.kill(signal), 300);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  return new Promise((resolve) => {
    child.on('close', (code, by) => {
      clearTimeout(patience);
      resolve({ code, signal: by, text });
    });
  });
}

describe('a process with devices', () => {
  it('ends by itself with code 0 while they are idle', async () => {
    expect(await run(`first.post([]); first.finish(); console.log('done');`)).toEqual({
      ...{ code: 0, signal: null, text: 'done\n' },
    });
  });

  it('ends by itself although one hangs, and at process.exit', async () => {
    const hang = `first.injectFault('hang'); first.post([]);`;
    expect((await run(hang)).code).toBe(0);
    expect((await run(`${hang} process.exit(7);`)).code).toBe(7);
  });

  it('stays until a device that it closes is gone', async () => {
    expect((await run(`await first.close(); console.log('closed');`)).text).toBe('closed\n');
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`ends at ${signal} while it waits for one`, async () => {
      const end = await run(`first.injectFault('hang'); first.post([]); console.log('go'); first.finish();`, signal);
      expect(end.signal).toBe(signal);
      expect(end.text).toBe('go\n');
    });
  }
});
