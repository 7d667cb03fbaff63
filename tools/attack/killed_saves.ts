/** Processes that are killed while they save or export a model over an earlier one. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Random } from '../../test/helpers/random.js';
import type { Attack } from './attack.js';
import type { Said } from './programs/killed_saves_program.js';
import { WITH_DIST } from '../../test/helpers/programs.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./programs/killed_saves_program.ts', import.meta.url));
/** A process is killed in one of so many saves. */
const SAVES = 3;
const TIMEOUT_MS = 120_000;

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What a process does over and over. */
interface Saving {
  readonly backend: string;
  /** A SavedModel in place of a save. */
  readonly isExport: boolean;
}

/** A process that saves, and what it said. */
class Saver {
  readonly #child: ChildProcess;
  readonly #digests: Map<string, string>;
  readonly #closed: Promise<unknown>;
  #errors = '';
  loaded: Said | null = null;
  begun: string | null = null;
  done: string | null = null;
  /** Saves begun so far. */
  saves = 0;
  /** Files in the folder after the last save. */
  files = 0;
  #begunAt = 0;
  /** How long the last save took. */
  #took = 0;

  constructor(folder: string, { backend, isExport }: Saving, tag: string, digests: Map<string, string>) {
    this.#digests = digests;
    const args = [...WITH_DIST, PROGRAM, folder, backend, tag, isExport ? 'export' : 'save'];
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#errors = (this.#errors + text).slice(-2000)));
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      if (line.startsWith('{')) this.#hear(JSON.parse(line) as Said);
    });
    this.#closed = Promise.all([once(child, 'close'), once(lines, 'close')]);
    this.#child = child;
  }

  #hear(said: Said): void {
    if (said.loaded !== undefined) this.loaded = said;
    if (said.begun !== undefined) {
      [this.begun, this.#begunAt] = [said.begun, performance.now()];
      this.saves++;
      this.#digests.set(said.begun, said.digest!);
    }
    if (said.done !== undefined) {
      [this.done, this.files] = [said.done, said.files!];
      this.#took = performance.now() - this.#begunAt;
    }
  }

  /** How it ended by itself; null where it goes on. */
  get problem(): string | null {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) return null;
    return `ended with ${exitCode ?? signalCode}\n${this.#errors.trim()}`;
  }

  /** Waits until a save begins, or the process has ended. */
  async begins(save: number): Promise<void> {
    while (this.saves < save && this.problem === null) await wait(1);
  }

  /** Waits for some part of the time that a save takes. */
  async goesOn(part: number): Promise<void> {
    await wait(part * this.#took);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }
}

/** The folder that savers share, and what may lie in it. */
class Target {
  readonly folder = join(mkdtempSync(join(tmpdir(), 'tfjs-embeddings-saves-')), 'model');
  readonly digests = new Map<string, string>();
  /** Marks of saves of which one must be there; null: nothing was ever saved. */
  mayBe: Set<string | null> = new Set([null]);

  remove(): void {
    rmSync(join(this.folder, '..'), { recursive: true, force: true });
  }

  /** What is wrong with what a process loaded. */
  check({ loaded }: Saver): string | null {
    if (loaded === null) return 'loads nothing';
    const mark = loaded.loaded!;
    if (!this.mayBe.has(mark)) return `loads ${mark}, not one of ${[...this.mayBe].join(', ')}`;
    return mark === null || loaded.digest === this.digests.get(mark) ? null : `loads parts of ${mark}`;
  }

  /** What may lie there after these were killed. */
  killed(savers: readonly Saver[]): void {
    const done = savers.filter((saver) => saver.done !== null).map((saver) => saver.done);
    const open = savers.filter(({ begun, done: last }) => begun !== last).map(({ begun }) => begun);
    this.mayBe = new Set([...(done.length > 0 ? done : this.mayBe), ...open]);
  }
}

/** One round: some processes load, save and are killed in a save of the first. Returns what fell. */
async function round(target: Target, saving: Saving, seed: number, processes: number): Promise<string | null> {
  const random = new Random(seed);
  const make = (_: unknown, i: number): Saver => new Saver(target.folder, saving, `${seed}.${i}`, target.digests);
  const first = make(null, 0);
  const savers = [first];
  const late = setTimeout(() => void first.kill(), TIMEOUT_MS);
  try {
    await first.begins(1);
    const wrong = first.problem ?? target.check(first);
    if (wrong !== null) return wrong;
    savers.push(...Array.from({ length: processes - 1 }, (_, i) => make(null, i + 1)));
    for (const saver of savers) await saver.begins(1);
    // The second save is the first of which one knows how long it takes.
    await first.begins(first.saves + random.whole(1, SAVES + 1));
    await first.goesOn(random.next());
    const fallen = savers.find(({ problem }) => problem !== null);
    if (fallen !== undefined) return fallen.problem;
    await Promise.all(savers.map((saver) => saver.kill()));
    target.killed(savers);
    // Alone, a save leaves its own files; others may be at work on theirs.
    const own = saving.isExport ? 1 : 2;
    return processes > 1 || first.files === own ? null : `leaves ${first.files} files`;
  } finally {
    clearTimeout(late);
    await Promise.all(savers.map((saver) => saver.kill()));
  }
}

function killedSaves(name: string, saving: Saving, processes: number): Attack {
  const what = saving.isExport ? 'an export' : 'a save';
  const who = processes === 1 ? 'a process' : `${processes} processes at once`;
  return {
    name,
    describe: `kills ${who} in ${what} over an earlier one on ${saving.backend}; a round is one kill`,
    async run({ rounds, seed, progress, found }) {
      let target = new Target();
      try {
        // One round more, to load what the last one left.
        for (let r = 0; r <= rounds; r++) {
          const fallen = await round(target, saving, seed + r, processes);
          if (fallen !== null) {
            found({ seed: seed + r, what: fallen });
            target.remove();
            target = new Target();
          }
          if (r > 0) progress(r);
        }
      } finally {
        target.remove();
      }
    },
  };
}

export const KILLED_SAVES: readonly Attack[] = [
  killedSaves('saves-cpu', { backend: 'cpu', isExport: false }, 1),
  killedSaves('saves-tf', { backend: 'tensorflow', isExport: false }, 1),
  killedSaves('saves-both', { backend: 'cpu', isExport: false }, 2),
  killedSaves('exports', { backend: 'cpu', isExport: true }, 1),
];
