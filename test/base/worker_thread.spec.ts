/** Threads by themselves: what they are told and say, and how they end. */
import { mayWait, noSharedMemoryBecause, startThread, type WorkerThread } from '../../src/base/worker_thread.js';

type Any = Record<string, unknown>;

/** Starts a program that sees `parentPort`; its messages and why it ended come as they are. */
function started(inNode: string): { thread: WorkerThread<unknown, Any>; said: Promise<Any>; ended: Promise<string> } {
  const head = "const { parentPort, resourceLimits, threadId } = require('node:worker_threads');";
  const thread = startThread<unknown, Any>({ inNode: `${head}${inNode}`, inPage: '' }, 'a thread of specs');
  let hear: (message: Any) => void;
  let end: (why: string) => void;
  const said = new Promise<Any>((done) => (hear = done));
  const ended = new Promise<string>((done) => (end = done));
  thread.listen(
    (message) => hear(message),
    (why) => end(why),
  );
  return { thread, said, ended };
}

describe('A thread', () => {
  it('hears and answers, knows nothing of the options of the process, and has memory of its own', async () => {
    const { thread, said } = started(`parentPort.on('message', (it) => parentPort.postMessage({
      it, argv: process.argv.slice(2), execArgv: process.execArgv, env: Object.keys(process.env), resourceLimits,
    }))`);
    thread.post({ a: 1 });
    const { it, argv, execArgv, env, resourceLimits } = await said;
    expect({ it, argv, execArgv, env }).toEqual({ it: { a: 1 }, argv: [], execArgv: [], env: [] });
    expect((resourceLimits as Any)['maxOldGenerationSizeMb']).toBe(512);
    await thread.terminate();
  });

  it('tells with which code it ended, or by which error', async () => {
    expect(await started('process.exit(3)').ended).toBe('it ended with exit code 3');
    expect(await started("throw new Error('oh')").ended).toBe('oh');
  });

  it('writes nothing into the streams of the process', async () => {
    const written = [spyOn(process.stdout, 'write'), spyOn(process.stderr, 'write')];
    const { said, thread } = started("console.log('out'); console.error('err'); parentPort.postMessage({})");
    await said;
    await thread.terminate();
    await new Promise((done) => setImmediate(done));
    const texts = written.flatMap((each) => each.calls.allArgs().map(([text]) => String(text)));
    expect(texts.filter((text) => /^(out|err)\n$/.test(text))).toEqual([]);
  });

  it('is gone when it was terminated, whatever it does', async () => {
    const { thread, said, ended } = started('parentPort.postMessage({}); for (;;);');
    await said;
    await thread.terminate();
    expect(await ended).toBe('it ended with exit code 1');
  });

  it('may share memory here, and wait; not in a page that is not isolated', () => {
    expect(noSharedMemoryBecause()).toBeNull();
    expect(mayWait()).toBeTrue();
    const wait = spyOn(Atomics, 'wait').and.throwError('a page');
    expect(mayWait()).toBeFalse();
    wait.and.callThrough();
    const page = globalThis as { crossOriginIsolated?: boolean };
    try {
      page.crossOriginIsolated = false;
      expect(noSharedMemoryBecause()).toContain('not cross-origin isolated');
      page.crossOriginIsolated = true;
      expect(noSharedMemoryBecause()).toBeNull();
    } finally {
      delete page.crossOriginIsolated;
    }
    const shared = globalThis.SharedArrayBuffer;
    try {
      (globalThis as Any)['SharedArrayBuffer'] = undefined;
      expect(noSharedMemoryBecause()).toContain('there is no shared memory');
      expect(mayWait()).toBeFalse();
    } finally {
      globalThis.SharedArrayBuffer = shared;
    }
  });

  it('cannot be where a runtime has no workers', () => {
    const { process: own } = globalThis;
    const page = globalThis as { process?: unknown; Worker?: unknown };
    const worker = page.Worker;
    try {
      page.process = undefined;
      page.Worker = undefined;
      const why = noSharedMemoryBecause();
      page.Worker = class {};
      const whyNot = noSharedMemoryBecause();
      page.process = own;
      expect([why, whyNot]).toEqual(['this runtime offers no workers here', null]);
    } finally {
      page.process = own;
      page.Worker = worker;
    }
  });
});
