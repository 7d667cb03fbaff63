/** Measures a room of C: changes its sources one at a time in a sandbox, and builds them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hunt } from '../hunt.js';
import { tryAll, type Request } from '../measure.js';
import { mutated, type Mutant } from '../mutant_text.js';
import { ReachMap } from '../reach/reach_map.js';
import { specFilesOf, type Room } from '../rooms.js';
import type { Tally } from '../tally.js';
import { cMutants } from './c_mutants.js';
import { Scratch } from './scratch.js';
import { specsForNative } from './spec_groups.js';

/** Compiled to WebAssembly alone. */
const WASM_ALONE = /^custom-ops\/(hosts\/wasm\/\w+|kernels\/threads_wasm)\.c$/;

export async function measureNative(root: string, room: Room, request: Request): Promise<Tally> {
  const reach = new ReachMap(root);
  const specs = specFilesOf(root);
  const mutants = room.sources.flatMap((file) => cMutants(file, readFileSync(join(root, file), 'utf8')));
  const scratch = new Scratch(root);
  const interrupted = (): void => {
    scratch.remove();
    process.exit(130);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    const kinds = [scratch.addon(), scratch.wasm()];
    const build = async (file: string): Promise<string | null> =>
      (WASM_ALONE.test(file) ? kinds[1]! : kinds[0]!).build();
    const wholeProblem = await kinds[0]!.build();
    if (wholeProblem !== null) throw new Error(wholeProblem);
    kinds.forEach((kind) => kind.keep());
    const hunt = new Hunt(scratch.tree, (spec) => reach.secondsOf(spec));
    return await tryAll(root, room.name, mutants, request, {
      /** What compiles to the same code changes nothing. */
      async complaint(mutant: Mutant, text: string) {
        scratch.write(mutant.file, mutated(text, mutant));
        const kind = WASM_ALONE.test(mutant.file) ? kinds[1]! : kinds[0]!;
        const problem = await build(mutant.file);
        scratch.write(mutant.file, text);
        const said = problem ?? (kind.isSame() ? 'the same code' : null);
        kind.setAside();
        return said;
      },
      find(mutant: Mutant) {
        const kind = WASM_ALONE.test(mutant.file) ? kinds[1]! : kinds[0]!;
        const files = specsForNative(mutant.file.replace(/^custom-ops\//, ''), specs);
        let sum = 0;
        const chosen = files.filter((spec, i) => (sum += reach.secondsOf(spec)) <= request.seconds || i < 3);
        return hunt.find(
          chosen,
          () => kind.useChanged(),
          () => kind.useWhole(),
        );
      },
    });
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    scratch.remove();
  }
}
