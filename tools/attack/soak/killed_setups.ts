/** Set-ups that are killed at any moment, side by side with others and behind locks that mean nothing. */
import { spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ScratchCheckout, endOf, statesIn } from '../../../test/custom-ops/setup/scratch_checkout.js';
import { Random } from '../../../test/helpers/random.js';
import type { Attack } from '../attack.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MOST_KILLS = 4;
/** A set-up that has something to do runs for so long, more or less; most moments are early ones. */
const [EARLIEST_MS, LATEST_MS] = [30, 30_000];
const TIMEOUT_MS = 600_000;
/** What set-up writes into the sources. */
const GENERATED = ['src/backends/wasm/kernels_wasm.ts', 'src/backends/emulator/devices/worker_source.ts'];

/** What a set-up then has to make; the quick ones more than once. */
const SPOILS: readonly ((checkout: ScratchCheckout) => void)[] = [
  (checkout) => rmSync(checkout.path(GENERATED[1]!)),
  (checkout) => rmSync(checkout.path(GENERATED[1]!)),
  (checkout) => rmSync(checkout.path('dist'), { recursive: true }),
  (checkout) => rmSync(checkout.path('dist', 'index.mjs')),
  (checkout) => rmSync(checkout.path(GENERATED[0]!)),
  (checkout) => rmSync(checkout.inBuild('kernels.wasm')),
  (checkout) => appendFileSync(checkout.path('custom-ops', 'build_native.mjs'), '\n'),
  (checkout) => rmSync(join(checkout.tfjsNode, 'lib'), { recursive: true }),
  (checkout) => rmSync(join(checkout.tfjsNode, 'deps'), { recursive: true }),
];

/** Locks that nobody holds. */
const LOCKS: readonly (() => string)[] = [
  () => '',
  () => '{"pid":',
  () => 'null',
  () => '{}',
  () => JSON.stringify({ pid: -1, start: null, host: hostname(), child: null }),
  () => JSON.stringify({ pid: 0, start: null, host: hostname(), child: null }),
  () => JSON.stringify({ pid: 2 ** 40, start: null, host: hostname() }),
  () => JSON.stringify({ pid: process.pid, start: '1', host: hostname(), child: { pid: process.pid, start: '1' } }),
];

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Kills a set-up after some time, unless it ends before. */
async function kill(child: ChildProcess, random: Random): Promise<void> {
  const closed = once(child, 'close');
  for (const stream of [child.stdout!, child.stderr!]) stream.resume();
  const after = EARLIEST_MS * (LATEST_MS / EARLIEST_MS) ** random.next();
  await Promise.race([closed, wait(after)]);
  child.kill(random.pick(['SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGINT'] as const));
  // Its pipes stay open while a program that it ran goes on.
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** A set-up that nobody kills; what is wrong with its end. */
async function goesWell(checkout: ScratchCheckout, states: readonly string[]): Promise<string | null> {
  const child = checkout.start();
  const late = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
  const end = await endOf(child);
  clearTimeout(late);
  const said = `\n${end.stdout}${end.stderr}`.slice(-1500);
  if (end.code !== 0) return `ends with ${end.code ?? 'no code, as it hangs'}${said}`;
  const found = Object.values(statesIn(end));
  if (found.length !== 7 || found.some((state) => !states.includes(state))) return `lacks something${said}`;
  const left = checkout.leftovers();
  return left.length === 0 ? null : `leaves ${left.join(', ')}`;
}

/** What is wrong with what was made. */
function wrongWith(checkout: ScratchCheckout): string | null {
  for (const name of GENERATED) {
    if (readFileSync(checkout.path(name), 'utf8') !== readFileSync(join(ROOT, name), 'utf8')) return `another ${name}`;
  }
  const script = `const addon = require(${JSON.stringify(checkout.inBuild('tfjs_embeddings.node'))});
    if (addon.getThreads() < 1) process.exit(1);
    require(${JSON.stringify(checkout.path('dist', 'index.cjs'))});`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { cwd: checkout.root, encoding: 'utf8' });
  return status === 0 ? null : `an addon or bundles that cannot be used\n${stderr.slice(-1000)}`;
}

async function round(random: Random): Promise<string | null> {
  const checkout = ScratchCheckout.make({ built: true });
  try {
    for (let spoils = random.whole(1, 3); spoils > 0; spoils--) {
      try {
        random.pick(SPOILS)(checkout);
      } catch {
        // What another one has spoilt is gone already.
      }
    }
    for (let kills = random.whole(1, MOST_KILLS + 1); kills > 0; kills--) {
      if (random.chance(0.3) && !existsSync(checkout.inBuild('setup.lock'))) {
        writeFileSync(checkout.inBuild('setup.lock'), random.pick(LOCKS)());
      }
      const together = Array.from({ length: random.chance(0.3) ? 2 : 1 }, () => kill(checkout.start(), random));
      await Promise.all(together);
    }
    return (
      (await goesWell(checkout, ['present', 'built'])) ??
      wrongWith(checkout) ??
      // Then there is nothing left to do.
      (await goesWell(checkout, ['present']))
    );
  } finally {
    checkout.remove();
  }
}

export const killedSetups: Attack = {
  name: 'setup',
  describe: 'kills set-ups of a checkout that lacks something, one or two at a time; a round is one checkout',
  async run({ rounds, seed, progress, found }) {
    for (let r = 0; r < rounds; r++) {
      const what = await round(new Random(seed + r));
      if (what !== null) found({ seed: seed + r, what });
      progress(r + 1);
    }
  },
};
