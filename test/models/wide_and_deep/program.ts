/** Runs the wide-and-deep example as a user does: as a process of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runModel, type Outcome } from '../program.js';

export function runMain(...args: string[]): Promise<Outcome> {
  return runModel('wide_and_deep', args);
}

/** `variables`: of the environment, beside those of this process. */
export function runMainWith(variables: Readonly<Record<string, string>>, ...args: string[]): Promise<Outcome> {
  return runModel('wide_and_deep', args, variables);
}

/** A folder that `remove` deletes, and at the latest the end of the process: specs that were not chosen make theirs too. */
export function scratchFolder(): {
  path: string;
  write(name: string, text: string | Uint8Array): string;
  remove(): void;
} {
  const path = mkdtempSync(join(tmpdir(), 'wide-and-deep-spec-'));
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.once('exit', remove);
  return {
    path,
    write(name, text) {
      const file = join(path, name);
      writeFileSync(file, text);
      return file;
    },
    remove,
  };
}

/** A file that can be learned: the label follows from `colour`, `size` and the ragged `tags`. */
export function learnableCsv(rows: number): string {
  const colours = ['red', 'green', 'blue'];
  const lines = Array.from({ length: rows }, (_, i) => {
    const size = (i * 37) % 100;
    const colour = colours[i % 3]!;
    const tags = ['', 'hot', 'hot|new', 'new', 'new|old|hot'][(i * 7) % 5]!;
    const score = (size > 50 ? 1 : -1) + (colour === 'red' ? 0.8 : -0.4) + (tags.includes('old') ? 1.5 : -0.2);
    return `${size},${colour},${tags},${score > 0 ? 'good' : 'bad'}`;
  });
  return ['size,colour,tags,verdict', ...lines].join('\n');
}
