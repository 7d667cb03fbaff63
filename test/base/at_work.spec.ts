/** Whether those who made a draft may still be at work. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { hostMark, isAtWork } from '../../src/base/at_work.js';

describe('A process that made a draft', () => {
  const draft = mkdtempSync(join(tmpdir(), 'draft-'));
  afterAll(() => rmSync(draft, { recursive: true }));

  /** Sets how long ago the draft was changed. */
  function age(seconds: number): void {
    const at = Date.now() / 1000 - seconds;
    utimesSync(draft, at, at);
  }

  it('of another machine is at work for a day', async () => {
    age(86_300);
    expect(await isAtWork(draft, process.pid, 'another')).toBeTrue();
    age(86_500);
    expect(await isAtWork(draft, process.pid, 'another')).toBeFalse();
  });

  it('is this one where it began before the draft was made', async () => {
    age(0);
    expect(await isAtWork(draft, process.pid, hostMark())).toBeTrue();
    age(process.uptime() + 60);
    expect(await isAtWork(draft, process.pid, hostMark())).toBeFalse();
  });

  it('is at work while it runs, also where it may not be asked', async () => {
    age(1e6);
    expect(await isAtWork(draft, process.ppid, hostMark())).toBeTrue();
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    expect(await isAtWork(draft, pid, hostMark())).toBeFalse();
    const kill = spyOn(process, 'kill').and.throwError(Object.assign(new Error('no'), { code: 'EPERM' }));
    expect(await isAtWork(draft, pid, hostMark())).toBeTrue();
    expect(kill).toHaveBeenCalledOnceWith(pid, 0);
  });

  it('marks its machine by eight digits of the hash of its name', () => {
    expect(hostMark()).toBe(createHash('sha256').update(hostname()).digest('hex').slice(0, 8));
  });
});
