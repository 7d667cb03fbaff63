/** Network namespaces: a process that has a loopback to itself, and no other network. */
import { spawnSync } from 'node:child_process';

/** `unshare` keeps the process and its descriptors; nothing listens on a loopback that is down. */
const UNSHARE = ['unshare', '--net', '--map-root-user', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

let isPossible: boolean | undefined;

/** Whether this system lets its users have one: Linux, where they may, with `unshare` and `ip`. */
export function hasOwnNetworks(): boolean {
  isPossible ??= spawnSync(UNSHARE[0]!, [...UNSHARE.slice(1), 'true'], { stdio: 'ignore' }).status === 0;
  return isPossible;
}

/** The command that runs a command in a network of its own; the command itself where that cannot be. */
export function inOwnNetwork(command: readonly string[]): readonly string[] {
  return hasOwnNetworks() ? [...UNSHARE, ...command] : command;
}
