/** How long a process may take: seconds in which it waited for a processor, as others had them all, do not count. */
import { readFileSync, readdirSync } from 'node:fs';

/** Less is not worth another look. */
const LEAST_SECONDS = 0.1;

/** Whether a process belongs to the group, by the line that Linux has of it. */
function isOf(group: number, pid: string): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name may hold brackets and spaces.
  const [, , ofProcess] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(ofProcess) === group;
}

/** Seconds that each process of a group has waited for a processor; empty where the system does not tell. */
export function delaysOf(group: number): Map<string, number> {
  const delays = new Map<string, number>();
  if (process.platform !== 'linux') return delays;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!isOf(group, pid)) continue;
      const [, nanoseconds] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
      delays.set(pid, Number(nanoseconds) / 1e9);
    } catch {
      // It has ended meanwhile.
    }
  }
  return delays;
}

/** Calls `late` where a group of processes has had so many seconds; gives what calls it off. */
export function whenLate(group: number, seconds: number, late: () => void, delays = delaysOf): () => void {
  let before = delays(group);
  let timer: NodeJS.Timeout;
  const wait = (left: number): void => {
    timer = setTimeout(() => {
      const now = delays(group);
      // They wait for each other: the one that was delayed longest delayed all of them.
      const delayed = Math.max(0, ...[...now].map(([pid, sum]) => sum - (before.get(pid) ?? 0)));
      before = now;
      if (delayed > LEAST_SECONDS) wait(Math.min(delayed, left));
      else late();
    }, left * 1000);
  };
  wait(seconds);
  return () => clearTimeout(timer);
}
