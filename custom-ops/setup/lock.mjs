/**
 * One set-up at a time. The lock names its owner and the program that the owner runs, so that a lock left by a killed
 * set-up is told from a live one, and so that an npm or pip which outlived its set-up is waited for, not raced.
 */
import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

const POLL_MS = 200;
const HEARTBEAT_MS = 10_000;
/** A lock from another machine (a container, a shared disk) counts as left behind after this long without heartbeat. */
const FOREIGN_STALE_MS = 60_000;
/** An unreadable lock is one being written; older than this, its writer was killed. */
const UNREADABLE_STALE_MS = 3000;

/** Errors of a folder that may not be written, or that could not be made. */
const UNWRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR']);

/** Waits for the lock at `path` and takes it. Returns {release(), child(pid | null)}. */
export async function takeLock(path, log) {
  const mine = { pid: process.pid, start: startOf(process.pid), host: hostname(), child: null };
  let told = '';
  for (;;) {
    try {
      writeFileSync(path, JSON.stringify(mine), { flag: 'wx' });
      return held(path, mine);
    } catch (error) {
      // In a folder that may not be written nothing can be built, and so nothing can be trampled.
      if (UNWRITABLE.has(error.code)) return { release() {}, child() {} };
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = holderOf(path);
    if (holder.free) removeStale(path, holder.text);
    else {
      if (told !== holder.why) log(holder.why);
      told = holder.why;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

function held(path, mine) {
  const heartbeat = setInterval(() => {
    try {
      utimesSync(path, new Date(), new Date());
    } catch {
      // Someone removed the lock by hand; there is nothing to keep fresh.
    }
  }, HEARTBEAT_MS);
  heartbeat.unref();
  return {
    child(pid) {
      mine.child = pid === null ? null : { pid, start: startOf(pid) };
      const temporary = `${path}.${process.pid}`;
      try {
        writeFileSync(temporary, JSON.stringify(mine));
        renameSync(temporary, path);
      } catch {
        // The folder was removed under us by hand; there is nothing left to guard.
      }
    },
    release() {
      clearInterval(heartbeat);
      if (parse(read(path))?.pid === mine.pid) rmSync(path, { force: true });
    },
  };
}

/** {free: true, text} when the lock may be taken over, else {free: false, why}. */
function holderOf(path) {
  const text = read(path);
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  const lock = parse(text);
  if (lock === null) {
    return age > UNREADABLE_STALE_MS
      ? { free: true, text }
      : { free: false, why: 'another set-up is starting: waiting' };
  }
  if (lock.host !== hostname()) {
    if (age > FOREIGN_STALE_MS) return { free: true, text };
    return { free: false, why: `a set-up runs on ${lock.host} (process ${lock.pid}): waiting for it` };
  }
  if (isAlive(lock)) return { free: false, why: `another set-up runs (process ${lock.pid}): waiting for it` };
  if (lock.child !== null && isAlive(lock.child)) {
    return {
      free: false,
      why: `an earlier set-up was killed, its process ${lock.child.pid} still runs: waiting for it`,
    };
  }
  return { free: true, text };
}

/** Takes a stale lock away; puts it back where it turns out to be a new one that another set-up has just taken. */
function removeStale(path, text) {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (error.code === 'ENOENT') return; // someone else was quicker
    throw error;
  }
  if (read(aside) === text) rmSync(aside, { force: true });
  else renameSync(aside, path);
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function parse(text) {
  try {
    const lock = JSON.parse(text);
    return typeof lock?.pid === 'number' ? lock : null;
  } catch {
    return null;
  }
}

/** Whether the very process that a lock names still runs: a process id may have been given to another one since. */
export function isAlive({ pid, start }) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  return start === null || startOf(pid) === start;
}

/** Start time of a process where the system tells it (Linux), else null; a zombie has none that equals an earlier one. */
function startOf(pid) {
  if (process.platform !== 'linux') return null;
  const stat = read(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? 'ended' : fields[19];
}
