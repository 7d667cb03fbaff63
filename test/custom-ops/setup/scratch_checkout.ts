/**
 * A copy of this checkout in which set-up may do what it likes. Packages and TensorFlow are links to those of this one,
 * and what was built here is current there, as stamps know nothing of where a checkout lies.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FILES = ['package.json', 'package-lock.json', 'rollup.config.js', 'tsconfig.json', 'src', 'custom-ops'];
/** Changed by set-up, so it must be a copy. */
const TFJS_NODE = '@tensorflow/tfjs-node';

export interface SetupEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class ScratchCheckout {
  private constructor(readonly root: string) {}

  /** `built`: with everything that was built here; else as a clone whose packages were just installed. */
  static make({ built }: { readonly built: boolean }): ScratchCheckout {
    const scratch = new ScratchCheckout(mkdtempSync(join(tmpdir(), 'tfjs-embeddings-checkout-')));
    const isTensorflow = (path: string): boolean => /^tensorflow-[\d.]+$/.test(basename(path));
    const isBuilt = (path: string): boolean =>
      resolve(path) === join(ROOT, 'custom-ops', 'build') || /(kernels_wasm|worker_source)\.ts$/.test(path);
    // The compiler for other platforms alone is 15,000 files.
    const others = ['prebuild', 'packages', 'python'].map((name) => join(ROOT, 'custom-ops', 'build', name));
    const isOfOtherCommands = (path: string): boolean => others.includes(resolve(path));
    for (const name of built ? [...FILES, 'dist'] : FILES) {
      const filter = (path: string): boolean =>
        !isTensorflow(path) && !isOfOtherCommands(path) && (built || !isBuilt(path));
      if (existsSync(join(ROOT, name))) cpSync(join(ROOT, name), scratch.path(name), { recursive: true, filter });
    }
    mkdirSync(scratch.build, { recursive: true });
    for (const name of readdirSync(join(ROOT, 'custom-ops', 'build')).filter(isTensorflow)) {
      symlinkSync(join(ROOT, 'custom-ops', 'build', name), scratch.inBuild(name));
    }
    scratch.linkPackages(built);
    return scratch;
  }

  get build(): string {
    return this.path('custom-ops', 'build');
  }

  get tfjsNode(): string {
    return this.path('node_modules', TFJS_NODE);
  }

  path(...names: string[]): string {
    return join(this.root, ...names);
  }

  inBuild(...names: string[]): string {
    return join(this.build, ...names);
  }

  /** Starts a set-up in it. */
  start(env: NodeJS.ProcessEnv = {}, args: readonly string[] = []): ChildProcess {
    return spawn(process.execPath, [this.path('custom-ops', 'setup.mjs'), ...args], {
      cwd: this.root,
      env: { ...process.env, CI: '', LIBTENSORFLOW_DIR: '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Lets a set-up come to its end. */
  async setUp(env: NodeJS.ProcessEnv = {}, args: readonly string[] = []): Promise<SetupEnd> {
    return endOf(this.start(env, args));
  }

  /** Everything that set-up may leave beside what it makes. */
  leftovers(): string[] {
    const places = [
      this.build,
      this.path('dist'),
      this.path('src', 'backends', 'wasm'),
      this.path('src', 'backends', 'emulator', 'devices'),
      ...['deps', 'deps/lib'].map((name) => join(this.tfjsNode, name)),
      ...names(join(this.tfjsNode, 'lib')).map((name) => join(this.tfjsNode, 'lib', name)),
    ];
    const isLeft = (name: string): boolean =>
      /\.(partial|tmp)$|^setup\.lock|^download$|^objects-|^npm\.begun$/.test(name);
    return places.flatMap((place) => names(place).filter(isLeft));
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  private linkPackages(built: boolean): void {
    const from = join(ROOT, 'node_modules');
    const scopes = readdirSync(from).filter((name) => name.startsWith('@'));
    const packages = [
      ...readdirSync(from).filter((name) => !/^[@.]/.test(name)),
      ...scopes.flatMap((scope) => readdirSync(join(from, scope)).map((name) => `${scope}/${name}`)),
    ];
    for (const scope of scopes) mkdirSync(this.path('node_modules', scope), { recursive: true });
    const locked = '.package-lock.json';
    cpSync(join(from, locked), this.path('node_modules', locked));
    for (const name of packages.filter((each) => each !== TFJS_NODE)) {
      symlinkSync(join(from, name), this.path('node_modules', name));
    }
    const isMade = (path: string): boolean => /[\\/]tfjs-node[\\/](deps|lib)$/.test(path);
    const filter = (path: string): boolean => built || !isMade(path);
    cpSync(join(from, TFJS_NODE), this.tfjsNode, { recursive: true, verbatimSymlinks: true, filter });
  }
}

function names(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

export function endOf(child: ChildProcess): Promise<SetupEnd> {
  let [stdout, stderr] = ['', ''];
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (code) => done({ code, stdout, stderr }));
  });
}

/** States of the parts, as the table at the end tells them. */
export function statesIn({ stdout }: SetupEnd): Record<string, string> {
  const rows = stdout
    .trimEnd()
    .split('\n')
    .slice(2)
    .map((line) => line.split(/ +/));
  return Object.fromEntries(rows.map(([name, state]) => [name, state]));
}
