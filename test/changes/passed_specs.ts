/**
 * Spec files that passed and whose text, sources, fixtures, packages and native build are those of that pass: `npm test --
 * --changed` does without them. Kept in .cache.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { globSync } from 'tinyglobby';
import { hashOf, readStamp, writeStamp } from '../../custom-ops/setup/stamp.mjs';
import { filesOf } from '../check/tree.mjs';
import type { ImportGraph } from './import_graph.js';

const KEPT = '.cache/passed_specs.json';
/** What programs that a spec starts read, and what it looks for in the tree, no import tells: all of it counts. */
const READS_ALL = /\bchild_process\b|\bworker_threads\b|\bROOT\b|\breaddirSync\b|\bglobSync\b|\bWITH_SOURCES\b/;
/** Settings of a run that change no result. */
const OF_RUNS = /^TFJS_EMBEDDINGS_TEST_(PROCESSES|RECORD)$/;
/** Written by runs. */
const RECORD = 'test/runner/seconds.json';

export class PassedSpecs {
  readonly #hashes = new Map<string, string>();
  readonly #common: string;
  readonly #all: readonly string[];
  readonly #passed: Record<string, string>;

  /** `env`: its variables of this project change what specs do. */
  constructor(
    private readonly root: string,
    private readonly graph: ImportGraph,
    env: NodeJS.ProcessEnv = process.env,
  ) {
    this.#passed = (readStamp(join(root, KEPT)) as Record<string, string> | null) ?? {};
    this.#all = graph.files;
    const isCode = new Set(graph.files);
    // Fixtures are named in many ways; all of them are quickly read.
    const data = filesOf(root).filter((file) => !isCode.has(file) && file !== RECORD);
    // Set-up leaves beside what it builds a hash of what that was made from.
    const built = globSync(['custom-ops/build/*.json', 'custom-ops/build/*/*.json'], { cwd: root }).sort();
    const packages = join('node_modules', '.package-lock.json');
    const read = [...data, ...built, ...(existsSync(join(root, packages)) ? [packages] : [])];
    const settings = Object.entries(env).filter(([name]) => /^TFJS_/.test(name) && !OF_RUNS.test(name));
    this.#common = hashOf(
      [process.version, ...settings.sort().map(String), ...read.map((file) => this.#lineOf(file))].join('\n'),
    );
  }

  /** Whether a spec file passed and would run the same again. */
  isUnchanged(spec: string): boolean {
    return Object.hasOwn(this.#passed, spec) && this.#passed[spec] === this.stampOf(spec);
  }

  /** Another one where anything differs that a spec file can notice. */
  stampOf(spec: string): string {
    const reached = [...this.graph.reachedBy(spec)];
    const readsAll = reached.some((file) => /^(test|tools)\//.test(file) && READS_ALL.test(this.graph.textOf(file)));
    const files = readsAll ? this.#all : reached;
    return hashOf([this.#common, ...[...files].sort().map((file) => this.#lineOf(file))].join('\n'));
  }

  /** Keeps how spec files ended, with the stamps (see stampOf) that they had before they ran. */
  record(stamps: ReadonlyMap<string, string>, passed: ReadonlySet<string>): void {
    for (const [spec, stamp] of stamps) {
      if (passed.has(spec)) this.#passed[spec] = stamp;
      else delete this.#passed[spec];
    }
    mkdirSync(join(this.root, dirname(KEPT)), { recursive: true });
    writeStamp(join(this.root, KEPT), this.#passed);
  }

  #lineOf(file: string): string {
    const known = this.#hashes.get(file);
    if (known !== undefined) return known;
    const line = `${file} ${hashOf({ path: join(this.root, file) })}`;
    this.#hashes.set(file, line);
    return line;
  }
}
