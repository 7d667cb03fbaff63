/** Measures a room of TypeScript: changes its sources one at a time in a sandbox. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutantsOf, type Switchable } from './draw.js';
import { Hunt, type Found } from './hunt.js';
import { tryAll, type Request } from './measure.js';
import { mutated } from './mutant_text.js';
import { ReachMap } from './reach/reach_map.js';
import type { Room } from './rooms.js';
import { CACHE, inSandbox } from './sandbox.js';
import { SpecsNear } from './specs_near.js';
import { SwitchedSpecs } from './switched/switched_specs.js';
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

/** Spec files are looked into that take so many times as long as those may that reach a change: not all of them do. */
const MOST_TRIED = 4;

/** Takes long to make; serves all rooms. */
let typeCheck: TypeCheck | null = null;

export async function measureSources(root: string, room: Room, request: Request): Promise<Tally> {
  const reach = new ReachMap(root);
  const near = new SpecsNear(root, MOST_TRIED * request.seconds);
  const { mutants, switched } = await mutantsOf(root, room.sources);
  const types = (typeCheck ??= new TypeCheck(root));
  const inDevices = bundled(root);
  return inSandbox(root, `${room.name}-switched`, (switchedTree) =>
    inSandbox(root, room.name, async (tree) => {
      const switches = new SwitchedSpecs(
        switchedTree,
        switched,
        join(root, CACHE, `dry-${room.name.replaceAll('/', '-')}`),
      );
      const hunt = new Hunt(tree, (spec) => reach.secondsOf(spec));
      const write = (file: string, text: string): void => {
        writeFileSync(join(tree, file), text);
        if (inDevices.has(file)) spawnSync(process.execPath, ['tools/mutations/devices.mjs'], { cwd: tree });
      };
      /** In processes of their own. */
      const findAlone = async (mutant: Switchable, text: string): Promise<Found> => {
        const { file, from, to } = mutant;
        let isChanged = false;
        const change = (): void => {
          if (!isChanged) write(file, mutated(text, mutant));
          isChanged = true;
        };
        const restore = (): void => {
          if (isChanged) write(file, text);
          isChanged = false;
        };
        const reaching = reach.specsFor(file, from, to);
        const chosen = within(request.seconds, reaching.length > 0 ? reaching : near.of(file), (spec) =>
          reach.secondsOf(spec),
        );
        try {
          return await hunt.find(chosen, change, restore);
        } finally {
          restore();
        }
      };
      try {
        return await tryAll(root, room.name, mutants, request, {
          complaint: (mutant, text) => Promise.resolve(types.complaint(mutant.file, mutated(text, mutant))),
          async find(mutant, text) {
            const { id, file } = mutant;
            const files = near.of(file);
            const found = file.endsWith('.ts') ? await switches.find({ id, files, seconds: request.seconds }) : null;
            // It may have run before its switch was turned, once per process, or elsewhere.
            return found === null || found.fate === 'survived' ? findAlone(mutant, text) : found;
          },
        });
      } finally {
        switches.close();
      }
    }),
  );
}
