/** What processes and the loopback device use, as Linux tells it. */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** The state of a socket, in `/proc/net/tcp`. */
const LISTENING = '0A';

export interface ProcessFigures {
  /** Bytes that are in memory. */
  readonly resident: number;
  readonly threads: number;
  /** Open files, sockets and what else has a descriptor. */
  readonly handles: number;
}

export function figuresOf(pid: number): ProcessFigures {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)![1]);
  return {
    resident: 1024 * of('VmRSS'),
    threads: of('Threads'),
    handles: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** Bytes that have gone over loopback, with the headers of packets. */
export function loopbackBytes(): number {
  const line = readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .find((each) => each.trim().startsWith('lo:'))!;
  return Number(line.trim().split(/\s+/)[1]);
}

/** What a descriptor is; nothing where it was closed meanwhile. */
function linkOf(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return '';
  }
}

/** Ports of this network namespace that sockets of a process listen on. */
export function listeningPorts(pid: number): number[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(linkOf(pid, fd)) ?? [];
      return inode === undefined ? [] : [inode];
    }),
  );
  return ['tcp', 'tcp6'].flatMap((kind) =>
    readFileSync(`/proc/${pid}/net/${kind}`, 'utf8')
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
        return state === LISTENING && sockets.has(inode!) ? [parseInt(local!.split(':')[1]!, 16)] : [];
      }),
  );
}
