import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { addonPath, loadAddon } from '../../../src/backends/native/addon.js';

/** Runs code with `addon`, `words` (shared) and `say` in a worker; resolves to what it said and to its words. */
async function inWorker(code: string): Promise<{ said: unknown[]; words: Int32Array }> {
  const words = new Int32Array(new SharedArrayBuffer(64));
  const program = `
    const { parentPort, workerData: words } = require('node:worker_threads');
    const say = (value) => parentPort.postMessage(value);
    const addon = require(${JSON.stringify(addonPath())});
    ${code}`;
  const resourceLimits = { maxOldGenerationSizeMb: 64 };
  const worker = new Worker(program, { eval: true, workerData: words, execArgv: [], stderr: true, resourceLimits });
  const said: unknown[] = [];
  worker.on('message', (value) => said.push(value));
  worker.on('error', () => undefined);
  await new Promise((resolve) => worker.on('exit', resolve));
  return { said, words };
}

const addon = loadAddon();

describe('threads of native kernels', () => {
  it('may be those of one caller alone', async () => {
    const before = addon.getThreads();
    const { said } = await inWorker('say(addon.setOwnThreads(3)); say(addon.getThreads());');
    expect(said).toEqual([3, 3]);
    expect(addon.getThreads()).toBe(before);
    expect((await inWorker('addon.setOwnThreads(5); say(addon.setOwnThreads(0));')).said).toEqual([before]);
    for (const wrong of [-1, 65, 1.5, NaN]) expect(() => addon.setOwnThreads(wrong)).toThrowError(RangeError);
  });
});

describe('helpers', () => {
  it('sleep when there is no work', () => {
    if (process.platform !== 'linux') pending('no /proc here');
    const program = `
      const { readdirSync, readFileSync } = require('node:fs');
      const addon = require(${JSON.stringify(addonPath())});
      const states = () => readdirSync('/proc/self/task').filter((id) => Number(id) !== process.pid)
        .map((id) => readFileSync('/proc/self/task/' + id + '/stat', 'utf8').replace(/.*\\) /, '')[0]);
      addon.setThreads(2);
      const before = states().length;
      const bags = 20_000;
      const [table, pooled] = [new Float32Array(16 * 9), new Float32Array(16 * bags)];
      const splits = Int32Array.from({ length: bags + 1 }, (_, i) => i);
      addon.embeddingBag(table, 0, 9, 16, new Int32Array(bags), splits, null, 0, 0, 0, pooled);
      const helpers = states().length - before;
      // Until then a machine may be busy with others for long.
      const look = (times) => {
        const awake = states().filter((state) => state === 'R').length;
        if (awake === 0 || times === 0) console.log(JSON.stringify({ helpers, awake }));
        else setTimeout(look, 10, times - 1);
      };
      look(1000);`;
    const { stdout } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual({ helpers: 1, awake: 0 });
  });
});

describe('the watch on the end of an environment', () => {
  for (const [name, end] of [
    ['returns', ''],
    ['exits', 'process.exit(2);'],
    ['throws', 'throw new Error();'],
    ['exhausts its heap', 'for (const hoard = []; ; ) hoard.push(new Array(2 ** 20).fill(hoard.length));'],
  ] as const) {
    it(`tells of a worker that ${name}`, async () => {
      const { said, words } = await inWorker(`addon.watchExit(words, 3); say([...words]); ${end}`);
      if (name === 'returns') expect(said).toEqual([Array(16).fill(0)]);
      expect([...words]).toEqual([0, 0, 0, 1, ...(Array(12).fill(0) as number[])]);
    });
  }

  it('holds the memory that it writes to', async () => {
    const { said } = await inWorker(`
      addon.watchExit(new Int32Array(new SharedArrayBuffer(1 << 22)), 1 << 19);
      for (let i = 0; i < 50; i++) new SharedArrayBuffer(1 << 22);
      say('fine');`);
    expect(said).toEqual(['fine']);
  });

  it('refuses what is not shared or not there, and a second watch', () => {
    expect(() => addon.watchExit(new Int32Array(4), 0)).toThrowError(TypeError);
    const words = new Int32Array(new SharedArrayBuffer(16));
    for (const wrong of [-1, 4, 0.5, NaN]) expect(() => addon.watchExit(words, wrong)).toThrowError(RangeError);
    expect(() => addon.watchExit(words.subarray(2, 2), 0)).toThrowError(RangeError);
    const program = `
      const addon = require(${JSON.stringify(addonPath())});
      const words = new Int32Array(new SharedArrayBuffer(16));
      addon.watchExit(words, 0);
      try { addon.watchExit(words, 0); } catch (error) { console.log(error.message); }`;
    expect(spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' }).stdout).toContain('watched already');
  });
});
