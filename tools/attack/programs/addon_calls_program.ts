/**
 * Calls every function of the addon with arbitrary values, in a process of its own.
 *   node --import tsx tools/attack/addon_calls_program.ts <seed> [calls] [path of the addon]
 * Half of the calls are made of anything; half are right but for a few arguments, so that they come far. Nothing may
 * change but what a function writes, and nothing at all where that shares memory with another argument: such a call
 * must be refused. Prints a JSON line at the end.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { CODECS } from '../../../src/codecs/codecs.js';
import { Random } from '../../../test/helpers/random.js';
import { HostileArrays } from '../hostile/arrays.js';
import { LEFT_OUT, rightCalls } from '../hostile/right_calls.js';
import { spoiler } from '../hostile/spoiled_calls.js';
import { WatchedMemory } from '../watched_memory.js';

const random = new Random(Number(process.argv[2] ?? 1));
const calls = Number(process.argv[3] ?? 20_000);
const KERNELS = /^(embeddingBag|sparseApply|matMul|partitionCsr|extendCrc32c|exchangeFolders|buildGraph|unsizedPlace)/;
const addon = loadAddon(process.argv[4]) as unknown as Record<string, (...args: unknown[]) => unknown>;
const names = Object.keys(addon).filter((name) => LEFT_OUT[name] === undefined);
/** A folder of its own: nothing else may come to be exchanged. */
const scratch = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-addon-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
const arrays = new HostileArrays(random);
const hostile = spoiler(random, arrays);
const right = rightCalls(random, arrays, hostile, scratch);
/** A name with a right call is drawn from these: kernels most of the time. */
const kernels = names.filter((name) => right[name] !== undefined && KERNELS.test(name));

const counts = { calls: 0, returned: 0, threw: 0, shared: 0 };
const byName: Record<string, { returned: number; threw: number }> = {};
/** Calls of lookups and steps that returned, by the name of the function and that of the codec. */
const byCodec: Record<string, number> = {};

/** Makes a call; what is wrong with it, or null. */
function attempt(): string | null {
  const isWild = random.chance(0.5);
  const name = isWild || random.chance(0.2) ? random.pick(names) : random.pick(kernels);
  const rightCall = isWild ? undefined : right[name];
  const args = rightCall?.() ?? Array.from({ length: random.whole(0, 16) }, hostile.anything);
  if (rightCall !== undefined) hostile.spoil(args);
  const memory = new WatchedMemory(name, args);
  if (random.chance(0.2)) hostile.setTrap(args[0]);
  let hasThrown = false;
  try {
    addon[name]!(...args);
  } catch (error) {
    if (!(error instanceof Error)) return `${name} threw ${String(error)}`;
    hasThrown = true;
  }
  counts.calls++;
  const each = (byName[name] ??= { returned: 0, threw: 0 });
  each[hasThrown ? 'threw' : 'returned']++;
  if (hasThrown) counts.threw++;
  else counts.returned++;
  if (!hasThrown && (name === 'embeddingBag' || name === 'sparseApply')) {
    const of = `${name} of ${CODECS[args[1] as number]!.name}`;
    byCodec[of] = (byCodec[of] ?? 0) + 1;
  }
  if (memory.isShared) counts.shared++;
  const fault = memory.fault(hasThrown);
  return fault === null ? null : `call ${counts.calls}: ${name} ${fault}`;
}

const fallen: string[] = [];
// What has gone wrong once may spoil all that follows.
while (counts.calls < calls && fallen.length === 0) {
  const fault = attempt();
  if (fault !== null) fallen.push(fault);
}
console.log(JSON.stringify({ ...counts, byName, byCodec, fallen }));
