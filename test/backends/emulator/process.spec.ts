/** Whole processes with a model on devices that clean nothing up: they end, and leave nothing behind. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WITH_DIST } from '../../helpers/programs.js';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const SHARED = '/dev/shm';

interface End {
  readonly code: number | null;
  readonly signal: string | null;
  readonly text: string;
  /** What the process left in its folder for temporary files. */
  readonly left: readonly string[];
}

/** Runs code that has `model`, `x` and `y` on devices; it gets a signal once it has written `go`. */
function run(code: string, signal: NodeJS.Signals | null = null): Promise<End> {
  const program = `
    import * as tf from '@tensorflow/tfjs';
    import * as emb from 'tfjs-embeddings/node';
    import { makeModel, startDevices } from '../../browser/distributed_model.js';
    await emb.ready();
    await startDevices(tf, emb, { host: 'cpu', devices: 'worker' });
    const { model, x, y } = makeModel(tf, emb);
    const fit = (epochs, onEpochEnd = () => undefined) =>
      model.fit(x, y, { epochs, batchSize: 16, verbose: 0, callbacks: { onEpochEnd } });
    ${code}`;
  const temporary = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-process-'));
  const child = spawn(process.execPath, [...WITH_DIST, '--input-type=module', '-e', program], {
    cwd: FOLDER,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: temporary },
  });
  const patience = setTimeout(() => child.kill('SIGKILL'), 60_000);
  let text = '';
  const take = (bytes: Buffer): void => {
    const went = text.includes('go');
    text += bytes.toString();
    if (!went && signal !== null && text.includes('go')) child.kill(signal);
  };
  child.stdout.on('data', take);
  child.stderr.resume();
  return new Promise((resolve) => {
    child.on('close', (code, by) => {
      clearTimeout(patience);
      const left = readdirSync(temporary).filter((name) => !name.startsWith('tsx-'));
      rmSync(temporary, { recursive: true, force: true });
      resolve({ code, signal: by, text, left });
    });
  });
}

const shared = (): string[] => (existsSync(SHARED) ? readdirSync(SHARED).sort() : []);

describe('a process with a model on devices', () => {
  it('ends by itself with code 0 once it has nothing more to do', async () => {
    const end = await run(`await fit(2); console.log('done');`);
    expect(end).toEqual({ code: 0, signal: null, text: 'done\n', left: [] });
  });

  it('ends with the code that it gives, in the middle of a fit too', async () => {
    const early = run(`await fit(1e6, (epoch) => epoch > 0 && process.exit(7));`);
    expect((await run(`await fit(1); process.exitCode = 3;`)).code).toBe(3);
    expect((await early).code).toBe(7);
  });

  it('ends with an error that nobody catches, after a fault too', async () => {
    const faulty = run(`emb.tpuEmulator().injectFault(1, 'kernelError'); await fit(1);`);
    expect((await run(`await fit(1); throw new Error('end');`)).code).toBe(1);
    expect((await faulty).code).toBe(1);
  });

  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    it(`ends at ${signal} during fit and leaves no files and no shared memory`, async () => {
      const before = shared();
      const end = await run(`await fit(1e6, (epoch) => epoch === 2 && console.log('go'));`, signal);
      expect(end).toEqual({ code: null, signal, text: 'go\n', left: [] });
      expect(shared().filter((name) => !before.includes(name))).toEqual([]);
    });
  }
});
