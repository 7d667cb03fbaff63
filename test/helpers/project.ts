/** Projects of users in temporary folders: the package as it is built here, and programs that use it. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

export interface Outcome {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

function packageFile(): { version: string; dependencies: Record<string, string> } {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as ReturnType<typeof packageFile>;
}

/** What a program that was started says until its end, and how it ends. */
export function outcomeOf(child: ChildProcessByStdio<Writable | null, Readable, Readable>): Promise<Outcome> {
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output, errors }));
  });
}

/** Runs a program with these arguments in a folder. */
export function runIn(folder: string, program: string, ...args: readonly string[]): Promise<Outcome> {
  return outcomeOf(spawn(program, args, { cwd: folder }));
}

export class Project {
  readonly path: string;

  /** In a folder of the system's for such files, or in another one. */
  constructor(parent = tmpdir()) {
    this.path = mkdtempSync(join(parent, 'project of a user, Zürich '));
  }

  /** Writes a file of the project. */
  write(name: string, text: string): void {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Links packages that are installed here. */
  link(...names: string[]): void {
    for (const name of names) {
      const path = join(this.path, 'node_modules', name);
      if (existsSync(path)) continue;
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', name), path, 'dir');
    }
  }

  /** Installs a copy of this package without what set-up builds, in a folder of node_modules; returns its path. */
  install(folder = 'tfjs-embeddings', version?: string): string {
    const home = join(this.path, 'node_modules', folder);
    cpSync(join(ROOT, 'dist'), join(home, 'dist'), { recursive: true });
    const description = packageFile();
    writeFileSync(
      join(home, 'package.json'),
      JSON.stringify({ ...description, version: version ?? description.version }),
    );
    this.#linkDependencies();
    return home;
  }

  /** Links this package as it is built here, with what set-up builds. */
  linkHere(): void {
    mkdirSync(join(this.path, 'node_modules'), { recursive: true });
    symlinkSync(ROOT, join(this.path, 'node_modules', 'tfjs-embeddings'), 'dir');
  }

  /** Installs the package as npm packs it. */
  async installPacked(): Promise<void> {
    const packed = await runIn(ROOT, 'npm', 'pack', '--ignore-scripts', '--silent', '--pack-destination', this.path);
    const home = join(this.path, 'node_modules', 'tfjs-embeddings');
    mkdirSync(home, { recursive: true });
    const archive = join(this.path, packed.output.trim());
    const { code, errors } = await runIn(this.path, 'tar', '-xzf', archive, '--strip-components=1', '-C', home);
    if (code !== 0) throw new Error(`${packed.errors}${errors}`);
    this.#linkDependencies();
  }

  /** What npm installs with this package. */
  #linkDependencies(): void {
    this.link(...Object.keys(packageFile().dependencies));
  }

  /** Runs Node with these arguments in the project. */
  run(...args: string[]): Promise<Outcome> {
    return this.runBy(process.execPath, ...args);
  }

  /** Runs a program with these arguments in the project. */
  runBy(program: string, ...args: string[]): Promise<Outcome> {
    return runIn(this.path, program, ...args);
  }

  /** Runs an ES module. */
  runModule(code: string): Promise<Outcome> {
    return this.run('--input-type=module', '-e', code);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
