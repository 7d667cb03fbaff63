/** Where a Chromium is, and how the test set-up gets one where it may. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as playwright, type Browser } from 'playwright-core';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Held by the process that installs. */
const LOCK = join(tmpdir(), 'tfjs-embeddings-chromium.lock');
const INSTALL =
  'test -x /usr/bin/chromium || { apt-get update -q && apt-get install -y -q --no-install-recommends chromium; }';

export type Chromium = { path: string } | { missing: string };

function find(): string | undefined {
  const named = process.env.CHROMIUM_PATH;
  return named !== undefined && existsSync(named) ? named : PLACES.find((place) => existsSync(place));
}

function run(command: string, args: string[]): string | null {
  const { status, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 8 * 60_000,
  });
  if (status === 0) return null;
  return error?.message ?? stderr.trim().split('\n').slice(-2).join(' ');
}

/**
 * Returns the path of a Chromium: the one named by CHROMIUM_PATH, one that is installed, or Debian's package, installed
 * here when this process may do that (root, with apt-get). Otherwise says what is missing.
 */
export function chromium(): Chromium {
  // Another process may be installing it, and its files are there before it runs.
  if (existsSync(LOCK)) run('flock', ['--shared', LOCK, 'true']);
  const present = find();
  if (present !== undefined) return { path: present };
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    return {
      missing: 'no Chromium is installed (set CHROMIUM_PATH), and it cannot be installed without root and apt-get',
    };
  }
  process.stderr.write('installing Chromium for the browser tests (Debian package, about a minute) ...\n');
  const problem = run('flock', [LOCK, 'sh', '-c', INSTALL]);
  if (problem !== null) return { missing: `apt-get could not install chromium: ${problem}` };
  const installed = find();
  return installed === undefined ? { missing: 'apt-get installed chromium, yet it is nowhere' } : { path: installed };
}

/** Starts a Chromium without a window that asks nothing of the network by itself. */
export function launch(path: string): Promise<Browser> {
  return playwright.launch({
    executablePath: path,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
