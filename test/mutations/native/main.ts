/** The room `native` of `npm run mutate`: patches of the C sources, one at a time. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Random } from '../../helpers/random.js';
import type { Request } from '../measure_sources.js';
import { CACHE } from '../sandbox.js';
import { tallyText, type Tally } from '../tally.js';
import { readPatches, type Patch } from './patch.js';
import { Scratch } from './scratch.js';
import { ALL_GROUPS, failureOf, groupsFor } from './spec_groups.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MEMORY = join(ROOT, CACHE, 'native.json');

const nameOf = ({ file, why }: Patch): string => `${file}: ${why}`;

function choose(all: readonly Patch[], { sample, seed, again, file }: Request): Patch[] {
  const before = again ? survivorsBefore() : null;
  const patches = all.filter((patch) => {
    if (patch.equivalent !== undefined) return false;
    return (before === null || before.includes(nameOf(patch))) && (file === null || patch.file.includes(file));
  });
  const random = new Random(seed);
  while (sample !== null && patches.length > sample) patches.splice(random.whole(0, patches.length), 1);
  return patches;
}

function survivorsBefore(): string[] {
  if (!existsSync(MEMORY)) throw new Error('--again: no survivors of native are noted; run it without --again first');
  return JSON.parse(readFileSync(MEMORY, 'utf8')) as string[];
}

/** Specs that fail without a patch would catch everything. */
function checkSpecs(tree: string, patches: readonly Patch[]): void {
  const groups = new Set(patches.flatMap(({ file }) => groupsFor(file)));
  for (const group of ALL_GROUPS.filter((each) => groups.has(each))) {
    // On a busy machine a program may be too late once.
    const failure = failureOf(group, tree) && failureOf(group, tree);
    if (failure !== null) throw new Error(`without a patch: ${failure}`);
  }
}

/** What became of a patch. One that does not compile proves nothing: it counts as a survivor until it is mended. */
interface Outcome {
  readonly isNoticed: boolean;
  readonly text: string;
}

async function tried(patch: Patch, scratch: Scratch): Promise<Outcome> {
  scratch.write(patch);
  const refused = await scratch.buildAddon();
  if (refused !== null) return { isNoticed: false, text: `DOES NOT COMPILE: ${refused}` };
  try {
    for (const group of groupsFor(patch.file)) {
      const problem = group.needsWasm === true ? scratch.buildWasm() : null;
      if (problem !== null) return { isNoticed: false, text: `DOES NOT COMPILE to WebAssembly: ${problem}` };
      const failure = failureOf(group, scratch.tree);
      if (failure !== null) return { isNoticed: true, text: `noticed: ${failure}` };
    }
    return { isNoticed: false, text: 'SURVIVED' };
  } finally {
    scratch.restoreWasm();
  }
}

/** Prints what noticed each patch, and what survived. */
export async function measure(request: Request): Promise<Tally> {
  const all = readPatches();
  const patches = choose(all, request);
  const scratch = new Scratch(ROOT);
  const survivors: string[] = [];
  let count = 0;
  const tallyOf = (tried: number): Tally => ({
    caught: tried - survivors.length,
    survived: survivors.length,
    equivalent: all.filter((patch) => patch.equivalent !== undefined).length,
    total: all.length,
  });
  // What was tried is worth telling: all patches take hours.
  const interrupted = (): void => {
    scratch.remove();
    console.log(`  interrupted: ${tallyText('native', tallyOf(count))}`);
    process.exit(130);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    scratch.write(null);
    const refused = await scratch.buildAddon();
    if (refused !== null) throw new Error(refused);
    checkSpecs(scratch.tree, patches);
    console.log('  all specs hold without a patch');
    for (const [i, patch] of patches.entries()) {
      const { isNoticed, text } = await tried(patch, scratch);
      if (!isNoticed) survivors.push(nameOf(patch));
      count++;
      console.log(`  ${i + 1} of ${patches.length}: ${nameOf(patch)}\n    ${text}`);
    }
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    scratch.remove();
  }
  mkdirSync(dirname(MEMORY), { recursive: true });
  writeFileSync(MEMORY, JSON.stringify(survivors, null, 1));
  return tallyOf(count);
}
