import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { emptyFolder, setUpAddress, setUpModule } from './set_up_module.js';

interface Lock {
  release(): void;
  children(pids: readonly number[]): void;
}
type Times = Partial<Record<'poll' | 'unreadable' | 'uncertain' | 'uncertainChild', number>>;
interface LockModule {
  takeLock(path: string, log: (text: string) => void, times?: Times): Promise<Lock>;
  fateOf(process: { pid: number; start: string | null }): string;
}

/** Times that a spec waits for; in the program they are seconds and minutes. */
const SHORT = { poll: 5, unreadable: 200, uncertain: 200, uncertainChild: 200 };
const NEVER = { poll: 5, unreadable: Infinity, uncertain: Infinity, uncertainChild: Infinity };

/** A process that does nothing until it is ended. */
function sleeper(): ChildProcess {
  return spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'], { stdio: 'ignore' });
}

/** The id of a process that has ended. */
function endedPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid;
}

/** When a process began, where the system tells it. */
function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!;
}

describe('takeLock', () => {
  const folder = emptyFolder();
  const path = (): string => join(folder.path, 'setup.lock');
  const said: string[] = [];
  let takeLock: LockModule['takeLock'];
  let fateOf: LockModule['fateOf'];
  const left: ChildProcess[] = [];

  beforeAll(async () => ({ takeLock, fateOf } = await setUpModule<LockModule>('lock.mjs')));
  beforeEach(() => (said.length = 0));
  afterEach(() => left.splice(0).forEach((child) => child.kill('SIGKILL')));

  /** Calls back when somebody has to wait, with what they were told. */
  let onWait: (text: string) => void = () => undefined;
  const take = (times: Times = NEVER): Promise<Lock> =>
    takeLock(
      path(),
      (text) => {
        said.push(text);
        onWait(text);
      },
      times,
    );
  const owner = (fields: object): string =>
    JSON.stringify({ pid: process.pid, start: null, host: hostname(), children: [], ...fields });
  const sleeping = (): number => {
    const child = sleeper();
    left.push(child);
    return child.pid!;
  };
  const modify = (secondsAgo: number): void => {
    const then = new Date(Date.now() - 1000 * secondsAgo);
    utimesSync(path(), then, then);
  };

  /** Takes the lock, which somebody has; what `then` does lets it go. Returns what was said meanwhile. */
  async function takeAfter(then: () => void, times: Times = NEVER): Promise<string[]> {
    const waits = new Promise<string>((resolve) => (onWait = resolve));
    let isTaken = false;
    const taken = take(times).then((lock) => {
      isTaken = true;
      return lock;
    });
    await Promise.race([waits, taken]);
    expect(isTaken).withContext('taken at once').toBeFalse();
    then();
    const lock = await taken;
    expect(JSON.parse(readFileSync(path(), 'utf8')).pid).toBe(process.pid);
    lock.release();
    expect(readdirSync(folder.path)).toEqual([]);
    return said;
  }

  /** Takes the lock at once, though there is a file in its place, and leaves nothing. */
  async function takeOver(times: Times = NEVER): Promise<void> {
    const lock = await take(times);
    expect(said).toEqual([]);
    expect(JSON.parse(readFileSync(path(), 'utf8'))).toEqual(jasmine.objectContaining({ pid: process.pid }));
    lock.release();
    expect(readdirSync(folder.path)).toEqual([]);
  }

  it('lets one owner in at a time', async () => {
    const first = await take();
    expect(await takeAfter(() => first.release())).toEqual([
      `another set-up runs (process ${process.pid}): waiting for it`,
    ]);
  });

  it('lets everybody in where there is no folder to build in', async () => {
    const lock = await takeLock(join(folder.path, 'absent', 'setup.lock'), () => {});
    lock.children([]);
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
    await takeOver();
  });

  it('takes over a lock whose process id belongs to another process now', async () => {
    if (process.platform !== 'linux') return pending('only Linux tells when a process began');
    for (const pid of [process.pid, sleeping(), 1]) {
      writeFileSync(path(), owner({ pid, start: '1' }));
      if (startOf(pid) !== '1') await takeOver();
    }
    writeFileSync(path(), owner({ pid: endedPid(), children: [{ pid: sleeping(), start: '1' }] }));
    await takeOver();
  });

  it('takes over a lock of a process that nobody is sure of only after some silence', async () => {
    for (const pid of [1, sleeping()]) {
      writeFileSync(path(), owner({ pid }));
      said.length = 0;
      expect(await takeAfter(() => modify(1), { ...NEVER, uncertain: 900 })).toEqual([
        `another set-up runs (process ${pid}): waiting for it`,
      ]);
    }
  });

  const NONE: readonly [string, string][] = [
    ['empty', ''],
    ['cut off', '{"pid":'],
    ['null', 'null'],
    ['a number', '17'],
    ['a list', '[{"pid":1}]'],
    ['a text', '"setup"'],
    ['without a process', '{}'],
    ['of a process that is no number', owner({ pid: '1' })],
    ['of process 0', owner({ pid: 0 })],
    ['of process -1', owner({ pid: -1 })],
    ['of process -1 with a child', owner({ pid: -1, children: [{ pid: -1, start: null }] })],
    ['of half a process', owner({ pid: 1.5 })],
    ['of a process beyond all numbers', '{"pid":1e400,"start":null,"host":"x","children":[]}'],
    ['without a host', owner({ host: undefined })],
    ['of a host that is no text', owner({ host: 5 })],
    ['with a start that is no text', owner({ start: {} })],
    ['with a child that is no process', owner({ pid: endedPid(), children: 'npm' })],
    ['with no list of children', owner({ pid: endedPid(), children: { pid: 1, start: null } })],
    ['with a child that is null', owner({ pid: endedPid(), children: [null] })],
    ['with a child of process 0', owner({ pid: endedPid(), children: [{ pid: 0, start: null }] })],
    ['with a child of process -1', owner({ pid: endedPid(), children: [{ pid: -1, start: null }] })],
    ['longer than any lock', owner({ more: 'x'.repeat(20_000) })],
    ['of bytes that are no text', '\u0000\ufffd\u0001'],
  ];
  for (const [what, text] of NONE) {
    it(`takes over a file that is no lock, once nobody can be writing it: ${what}`, async () => {
      writeFileSync(path(), text);
      modify(60);
      await takeOver(SHORT);
      writeFileSync(path(), text);
      expect(await takeAfter(() => modify(1), { ...NEVER, unreadable: 900 })).toEqual([
        'another set-up is starting: waiting',
      ]);
    });
  }

  it('takes over a lock from before there were children in it', async () => {
    writeFileSync(path(), JSON.stringify({ pid: endedPid(), start: null, host: hostname() }));
    await takeOver();
  });

  it('takes over a lock of a process beyond those that there can be', async () => {
    for (const pid of [2 ** 31 - 1, 2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
      writeFileSync(path(), owner({ pid, child: { pid, start: null } }));
      await takeOver();
    }
  });

  it('takes over what is dated in the future, after some time of its own', async () => {
    for (const text of ['', owner({ pid: 1 }), owner({ host: 'elsewhere' })]) {
      writeFileSync(path(), text);
      modify(-1e6);
      said.length = 0;
      expect((await takeAfter(() => undefined, SHORT)).length).toBe(1);
    }
    // Whoever has ended gives no more signs, whatever the date.
    writeFileSync(path(), owner({ pid: endedPid() }));
    modify(-1e6);
    said.length = 0;
    await takeOver();
  });

  it('takes over folders, links and pipes in the place of a lock', async () => {
    mkdirSync(join(path(), 'inner'), { recursive: true });
    modify(60);
    await takeOver(SHORT);
    symlinkSync(join(folder.path, 'absent'), path());
    expect(await takeAfter(() => undefined, SHORT)).toEqual(['another set-up is starting: waiting']);
    said.length = 0;
    if (process.platform === 'win32') return;
    execFileSync('mkfifo', [path()]);
    modify(60);
    await takeOver(SHORT);
  });

  it('takes over a lock of another machine only when its heartbeat has stopped', async () => {
    writeFileSync(path(), owner({ host: 'elsewhere' }));
    expect(await takeAfter(() => modify(120), { ...NEVER, uncertain: 60_000 })).toEqual([
      `a set-up runs on elsewhere (process ${process.pid}): waiting for it`,
    ]);
  });

  it('waits for a program that a killed owner left running', async () => {
    const pid = sleeping();
    for (const start of process.platform === 'linux' ? [null, startOf(pid)] : [null]) {
      const npm = start === null ? pid : sleeping();
      writeFileSync(
        path(),
        owner({
          pid: endedPid(),
          children: [
            { pid: endedPid(), start: null },
            { pid: npm, start: start && startOf(npm) },
          ],
        }),
      );
      modify(3600);
      said.length = 0;
      expect(await takeAfter(() => process.kill(npm, 'SIGKILL'))).toEqual([
        `an earlier set-up was killed, its process ${npm} still runs: waiting for it`,
      ]);
    }
  });

  it('writes down the programs that its owner runs', async () => {
    const lock = await take();
    const pid = sleeping();
    lock.children([pid, process.pid]);
    expect(JSON.parse(readFileSync(path(), 'utf8'))).toEqual(
      jasmine.objectContaining({
        pid: process.pid,
        children: [jasmine.objectContaining({ pid }), jasmine.objectContaining({ pid: process.pid })],
      }),
    );
    lock.children([]);
    expect(JSON.parse(readFileSync(path(), 'utf8')).children).toEqual([]);
    lock.release();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('gives a sign of life every ten seconds', async () => {
    jasmine.clock().install();
    try {
      const lock = await take();
      modify(3600);
      jasmine.clock().tick(9_999);
      expect(Date.now() - statSync(path()).mtimeMs).toBeGreaterThan(3_000_000);
      jasmine.clock().tick(2);
      expect(Date.now() - statSync(path()).mtimeMs).toBeLessThan(3_000_000);
      lock.release();
    } finally {
      jasmine.clock().uninstall();
    }
  });

  it('tells a process that runs from one that ended, and from one that may be another', () => {
    const { pid } = process;
    expect(fateOf({ pid: endedPid(), start: null })).toBe('ended');
    expect(fateOf({ pid, start: null })).toBe('unknown');
    if (process.platform !== 'linux') return;
    expect(fateOf({ pid, start: startOf(pid) })).toBe('runs');
    expect(fateOf({ pid, start: '1' })).toBe('ended');
  });

  it('does not take away the lock of another owner, nor write to it', async () => {
    const lock = await take();
    // The same process id elsewhere.
    const other = owner({ host: 'elsewhere' });
    writeFileSync(path(), other);
    lock.children([1]);
    lock.release();
    expect(readFileSync(path(), 'utf8')).toBe(other);
    expect(readdirSync(folder.path)).toEqual(['setup.lock']);
  });

  it('removes what killed set-ups left beside it, and nothing else', async () => {
    const [ended, living] = [endedPid(), sleeping()];
    const gone = [`setup.lock.${ended}`, `setup.lock.stale.${ended}`, `setup.lock.${process.pid}`];
    const kept = [`setup.lock.${living}`, 'setup.lock.txt', `setup.log.${ended}`, 'tfjs_embeddings.node'];
    for (const name of [...gone, ...kept]) writeFileSync(join(folder.path, name), '');
    (await take()).release();
    expect(readdirSync(folder.path).sort()).toEqual(kept.sort());
  });

  it('lets one process in at a time where many find a lock that was left', async () => {
    const log = join(folder.path, 'log');
    const script = `import { appendFileSync } from 'node:fs';
      import { takeLock } from ${JSON.stringify(setUpAddress('lock.mjs'))};
      const lock = await takeLock(${JSON.stringify(path())}, () => {});
      appendFileSync(${JSON.stringify(log)}, 'in\\n');
      await new Promise((resolve) => setTimeout(resolve, 20));
      appendFileSync(${JSON.stringify(log)}, 'out\\n');
      lock.release();`;
    writeFileSync(path(), owner({ pid: endedPid() }));
    const children = Array.from({ length: 8 }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' }),
    );
    const codes = await Promise.all(children.map(async (child) => ((await once(child, 'exit')) as [number])[0]));
    expect(codes).toEqual(children.map(() => 0));
    expect(readFileSync(log, 'utf8')).toBe('in\nout\n'.repeat(children.length));
    expect(readdirSync(folder.path)).toEqual(['log']);
  });
});
