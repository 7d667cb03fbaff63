import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { emptyFolder, setUpAddress, setUpModule } from './set_up_module.js';

interface Lock {
  release(): void;
  child(pid: number | null): void;
}
interface LockModule {
  takeLock(path: string, log: (text: string) => void): Promise<Lock>;
  isAlive(process: { pid: number; start: string | null }): boolean;
}

/** A process that does nothing until it is ended. */
function sleeper(): ChildProcess {
  return spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'], { stdio: 'ignore' });
}

/** The id of a process that has ended. */
function endedPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid;
}

describe('takeLock', () => {
  const folder = emptyFolder();
  const path = (): string => join(folder.path, 'setup.lock');
  const said: string[] = [];
  let takeLock: LockModule['takeLock'];
  let isAlive: LockModule['isAlive'];

  beforeAll(async () => ({ takeLock, isAlive } = await setUpModule<LockModule>('lock.mjs')));
  beforeEach(() => (said.length = 0));

  const take = (): Promise<Lock> => takeLock(path(), (text) => said.push(text));
  const owner = (fields: object): string =>
    JSON.stringify({ pid: process.pid, start: null, host: hostname(), child: null, ...fields });

  it('lets one owner in at a time', async () => {
    const first = await take();
    let second: Lock | null = null;
    const waiting = take().then((lock) => (second = lock));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(second).toBeNull();
    expect(said).toEqual([`another set-up runs (process ${process.pid}): waiting for it`]);
    first.release();
    (await waiting).release();
    expect(existsSync(path())).toBeFalse();
  });

  it('lets everybody in where there is no folder to build in', async () => {
    const lock = await takeLock(join(folder.path, 'absent', 'setup.lock'), () => {});
    lock.child(null);
    lock.release();
    expect(existsSync(join(folder.path, 'absent'))).toBeFalse();
  });

  it('takes over from an owner that was killed', async () => {
    const script = `import { takeLock } from ${JSON.stringify(setUpAddress('lock.mjs'))};
      await takeLock(${JSON.stringify(path())}, () => {});
      console.log('taken');
      setTimeout(() => {}, 60000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    expect(existsSync(path())).toBeTrue();
    (await take()).release();
    expect(said).toEqual([]);
  });

  it('takes over a lock whose process id belongs to another process now', async () => {
    writeFileSync(path(), owner({ start: '1' }));
    if (process.platform !== 'linux') return pending('only Linux tells when a process began');
    (await take()).release();
  });

  it('takes over a lock that its writer never finished', async () => {
    writeFileSync(path(), '{"pid":');
    const earlier = new Date(Date.now() - 60_000);
    utimesSync(path(), earlier, earlier);
    (await take()).release();
  });

  it('takes over a lock of another machine only when its heartbeat has stopped', async () => {
    writeFileSync(path(), owner({ host: 'elsewhere' }));
    const waiting = take();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(said).toEqual([`a set-up runs on elsewhere (process ${process.pid}): waiting for it`]);
    const earlier = new Date(Date.now() - 120_000);
    utimesSync(path(), earlier, earlier);
    (await waiting).release();
  });

  it('waits for the program that a killed owner left running', async () => {
    const left = sleeper();
    writeFileSync(path(), owner({ pid: endedPid(), child: { pid: left.pid, start: null } }));
    let lock: Lock | null = null;
    const waiting = take().then((taken) => (lock = taken));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(lock).toBeNull();
    expect(said).toEqual([`an earlier set-up was killed, its process ${left.pid} still runs: waiting for it`]);
    left.kill('SIGKILL');
    (await waiting).release();
  });

  it('writes down the program that its owner runs', async () => {
    const lock = await take();
    const left = sleeper();
    lock.child(left.pid as number);
    expect(JSON.parse(readFileSync(path(), 'utf8')).child.pid).toBe(left.pid);
    lock.child(null);
    expect(JSON.parse(readFileSync(path(), 'utf8')).child).toBeNull();
    left.kill('SIGKILL');
    lock.release();
  });

  it('tells a process that runs from one that ended', () => {
    expect(isAlive({ pid: process.pid, start: null })).toBeTrue();
    expect(isAlive({ pid: endedPid(), start: null })).toBeFalse();
  });

  it('does not take away the lock of another owner on release', async () => {
    const lock = await take();
    const other = owner({ pid: 1 });
    writeFileSync(path(), other);
    lock.release();
    expect(readFileSync(path(), 'utf8')).toBe(other);
  });
});
