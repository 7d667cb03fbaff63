/**
 * One set-up at a time. The lock names its owner and the programs that the owner runs, so that a lock left by a killed
 * set-up is told from a live one, and so that an npm or pip which outlived its set-up is waited for, not raced.
 */
import {
  closeSync,
  lstatSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';

const HEARTBEAT_MS = 10_000;

/** Milliseconds from one look at a lock to the next, and without a sign of life until it counts as left behind. */
const TIMES = {
  poll: 200,
  /** What is no lock is one being written; else its writer was killed. */
  unreadable: 3000,
  /** Of another machine (a container, a shared disk), and of a process whose id may be another's by now. */
  uncertain: 60_000,
  /** A program that outlived its set-up gives no signs: npm and pip take their time. */
  uncertainChild: 600_000,
};

/** A lock is a line of text; what is longer is none. */
const MOST_BYTES = 10_000;

/** Errors of a folder that may not be written, or that could not be made. */
const UNWRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR']);

/**
 * Waits for the lock at `path` and takes it. Returns {release(), children(pids)}. `times`: others than TIMES.
 * Throws the system's error where the lock can be neither taken nor done without, as on a full disk.
 */
export async function takeLock(path, log, times = {}) {
  const mine = { pid: process.pid, start: startOf(process.pid), host: hostname(), children: [] };
  const wanted = { ...TIMES, ...times };
  const watch = new Watch();
  let told = '';
  for (;;) {
    try {
      if (create(path, JSON.stringify(mine))) break;
      const found = look(path);
      if (found === null) continue; // released meanwhile
      const { why, limit } = stateOf(found.text, wanted);
      if (watch.silence(found) >= limit) removeStale(path, found.text);
      else {
        if (told !== why) log(why);
        told = why;
        await new Promise((resolve) => setTimeout(resolve, wanted.poll));
      }
    } catch (error) {
      // In a folder that may not be written nothing can be built, and so nothing can be trampled.
      if (UNWRITABLE.has(error.code)) return { release() {}, children() {} };
      throw error;
    }
  }
  removeLeftovers(path);
  return held(path, mine);
}

/** Whether there is a new lock at `path` now; false where there was one before. */
function create(path, text) {
  let file;
  try {
    file = openSync(path, 'wx');
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  try {
    writeFileSync(file, text);
  } catch (error) {
    rmSync(path, { force: true }); // no process shall wait for it
    throw error;
  } finally {
    closeSync(file);
  }
  return true;
}

function held(path, mine) {
  let text = JSON.stringify(mine);
  const isMine = () => look(path)?.text === text;
  const heartbeat = setInterval(() => {
    try {
      utimesSync(path, new Date(), new Date());
    } catch {
      // Someone removed the lock by hand; there is nothing to keep fresh.
    }
  }, HEARTBEAT_MS);
  heartbeat.unref();
  return {
    children(pids) {
      const next = JSON.stringify({ ...mine, children: pids.map((pid) => ({ pid, start: startOf(pid) })) });
      const temporary = `${path}.${process.pid}`;
      try {
        if (!isMine()) return;
        writeFileSync(temporary, next);
        renameSync(temporary, path);
        text = next;
      } catch {
        // The folder was removed under us by hand; there is nothing left to guard.
      }
    },
    release() {
      clearInterval(heartbeat);
      if (isMine()) rmSync(path, { force: true });
    },
  };
}

/** How long a lock has given no sign of life. */
class Watch {
  #seen = '';
  #since = 0;

  /** Milliseconds since the file says so, or since we see it as it is: a wrong clock or date hides only the former. */
  silence({ text, modified }) {
    const seen = `${modified} ${text}`;
    if (seen !== this.#seen) [this.#seen, this.#since] = [seen, performance.now()];
    return Math.max(Date.now() - modified, performance.now() - this.#since);
  }
}

/** After how much silence a lock with this text may be taken over, and what to tell until then. */
function stateOf(text, { unreadable, uncertain, uncertainChild }) {
  const lock = parse(text);
  if (lock === null) return { limit: unreadable, why: 'another set-up is starting: waiting' };
  const { pid, host, children } = lock;
  if (host !== hostname()) {
    return { limit: uncertain, why: `a set-up runs on ${host} (process ${pid}): waiting for it` };
  }
  const after = { ended: 0, unknown: uncertain, runs: Infinity };
  const owner = fateOf(lock);
  if (owner !== 'ended') {
    return { limit: after[owner], why: `another set-up runs (process ${pid}): waiting for it` };
  }
  const afterChild = { ...after, unknown: uncertainChild };
  const limits = children.map((child) => afterChild[fateOf(child)]);
  const limit = Math.max(0, ...limits);
  const why = `an earlier set-up was killed, its process ${children[limits.indexOf(limit)]?.pid} still runs: waiting for it`;
  return { limit, why };
}

/** Takes a stale lock away; puts it back where it turns out to be a new one that another set-up has just taken. */
function removeStale(path, text) {
  if (look(path)?.text !== text) return;
  const aside = `${path}.stale.${process.pid}`;
  const whole = { recursive: true, force: true }; // a folder may lie in the place of a lock
  rmSync(aside, whole);
  try {
    renameSync(path, aside);
    if (look(aside)?.text === text) rmSync(aside, whole);
    else renameSync(aside, path);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error; // else someone was quicker
  }
}

/** Files of killed set-ups beside the lock: each is named after its process. */
function removeLeftovers(path) {
  const prefix = `${basename(path)}.`;
  try {
    for (const name of readdirSync(dirname(path))) {
      const pid = Number(/^(?:stale\.)?(\d+)$/.exec(name.startsWith(prefix) ? name.slice(prefix.length) : '')?.[1]);
      const isLeft = pid === process.pid || (pid > 0 && fateOf({ pid, start: null }) === 'ended');
      if (isLeft) rmSync(join(dirname(path), name), { recursive: true, force: true });
    }
  } catch {
    // What cannot be removed is harmless.
  }
}

/** What lies at a path: its text, null where it is no file of the size of a lock, and when it was modified. */
function look(path) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  let text = null;
  try {
    if (stat.isFile() && stat.size <= MOST_BYTES) text = readFileSync(path, 'utf8');
  } catch {
    // Removed since, or not to be read.
  }
  return { text, modified: stat.mtimeMs };
}

/** The lock that a text describes; null where it describes none. */
function parse(text) {
  try {
    const { pid, start, host, children = [] } = JSON.parse(text);
    const lock = { pid, start, host, children };
    return isProcess(lock) && typeof host === 'string' && Array.isArray(children) && children.every(isProcess)
      ? lock
      : null;
  } catch {
    return null;
  }
}

/** Whether it names one process: 0 and negative numbers would name groups, and all there are. */
function isProcess({ pid, start }) {
  return Number.isSafeInteger(pid) && pid > 0 && (start === null || typeof start === 'string');
}

/**
 * What became of the very process that a lock names, as its id may have been given to another one since: it 'runs', has
 * 'ended', or 'unknown' where there is a process of that id that cannot be told apart.
 */
export function fateOf({ pid, start }) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return 'ended';
  }
  const now = startOf(pid);
  if (now === 'ended') return now;
  if (start === null || now === null) return 'unknown';
  return now === start ? 'runs' : 'ended';
}

/** Start time of a process where the system tells it (Linux), else null; 'ended' for one whose parent does not know. */
function startOf(pid) {
  if (process.platform !== 'linux') return null;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 'ended' : fields[19];
  } catch {
    return null;
  }
}
