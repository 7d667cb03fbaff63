/** Opens an address in the browser that the system names. */
import { spawn } from 'node:child_process';

const PROGRAMS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Says so where there is no such program; the page is served all the same. */
export function openBrowser(url: string): void {
  const [program, ...args] = PROGRAMS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', ({ message }) => process.stderr.write(`no browser was opened: ${message}\n`));
  child.unref();
}
