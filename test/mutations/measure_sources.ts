/** Measures a room of TypeScript: changes its sources one at a time in a sandbox. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutantsOf } from './draw.js';
import { Hunt } from './hunt.js';
import { tryAll, type Request } from './measure.js';
import { mutated, type Mutant } from './mutant_text.js';
import { gatherReach } from './reach/gather.js';
import { ReachMap } from './reach/reach_map.js';
import { homesOf, isHome, specFilesOf, type Room } from './rooms.js';
import { inSandbox } from './sandbox.js';
import type { Tally } from './tally.js';
import { TypeCheck } from './type_check.js';

/** Sources that the program of the emulator's devices holds. */
function bundled(root: string): ReadonlySet<string> {
  const { files } = JSON.parse(readFileSync(join(root, 'custom-ops/build/device_worker.json'), 'utf8')) as {
    files: string[];
  };
  return new Set(files);
}

/** As many of the spec files as run in some seconds, but a few in any case. */
function within(seconds: number, specs: readonly string[], secondsOf: (spec: string) => number): string[] {
  let sum = 0;
  return specs.filter((spec, i) => (sum += secondsOf(spec)) <= seconds || i < 3);
}

export async function measureSources(root: string, room: Room, request: Request): Promise<Tally> {
  const reach = new ReachMap(root);
  const homes = homesOf(room);
  const specs = specFilesOf(root);
  await gatherReach(
    root,
    reach,
    specs.filter((spec) => isHome(homes, spec)),
  );
  const mutants = await mutantsOf(root, room.sources);
  const types = new TypeCheck(root);
  const inDevices = bundled(root);
  return inSandbox(root, room.name, (tree) => {
    const hunt = new Hunt(tree, (spec) => reach.secondsOf(spec));
    const write = (file: string, text: string): void => {
      writeFileSync(join(tree, file), text);
      if (inDevices.has(file)) spawnSync(process.execPath, ['test/mutations/devices.mjs'], { cwd: tree });
    };
    return tryAll(root, room.name, mutants, request, {
      complaint: (mutant, text) => Promise.resolve(types.complaint(mutant.file, mutated(text, mutant))),
      find(mutant: Mutant, text: string) {
        const { file, from, to } = mutant;
        const reaching = file.endsWith('.ts')
          ? reach.specsFor(file, from, to)
          : specs.filter((spec) => isHome(homes, spec));
        let isChanged = false;
        const change = (): void => {
          if (!isChanged) write(file, mutated(text, mutant));
          isChanged = true;
        };
        const restore = (): void => {
          if (isChanged) write(file, text);
          isChanged = false;
        };
        const chosen = within(request.seconds, reaching, (spec) => reach.secondsOf(spec));
        const said = chosen.length < reaching.length ? `; ${reaching.length - chosen.length} more reach it` : '';
        return hunt
          .find(chosen, change, restore)
          .then((found) => (found.fate === 'survived' ? { ...found, text: found.text + said } : found))
          .finally(restore);
      },
    });
  });
}
