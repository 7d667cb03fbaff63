/** A copy of the tree whose native parts are built from patched sources. */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CACHE, makeSandbox, type Sandbox } from '../sandbox.js';
import { patched, type Patch } from './patch.js';

interface NativeBuild {
  buildNative(options: object): Promise<string>;
}

const COMPILE_ONCE = fileURLToPath(new URL('./compile_once.mjs', import.meta.url));
const BUILD = 'custom-ops/build';
const WASM = [`${BUILD}/kernels.wasm`, 'src/backends/wasm/kernels_wasm.ts'];

export class Scratch {
  private readonly sandbox: Sandbox;
  private readonly tools: { readonly cc: string; readonly cxx: string };

  constructor(private readonly root: string) {
    this.sandbox = makeSandbox(root, 'native');
    this.ownBuild();
    // What Python needs is large, and installed once.
    const python = join('test', '.cache');
    if (existsSync(join(root, python))) symlinkSync(join(root, python), join(this.tree, python), 'junction');
    this.tools = { cc: this.compiler(process.env['CC'] ?? 'cc'), cxx: this.compiler(process.env['CXX'] ?? 'c++') };
  }

  get tree(): string {
    return this.sandbox.tree;
  }

  remove(): void {
    this.sandbox.remove();
  }

  /** Writes the sources as they are but for a patch, or all as they are. */
  write(patch: Patch | null): void {
    for (const folder of ['custom-ops/kernels', 'custom-ops/hosts']) {
      rmSync(join(this.tree, folder), { recursive: true });
      cpSync(join(this.root, folder), join(this.tree, folder), { recursive: true });
    }
    if (patch === null) return;
    const path = join(this.tree, 'custom-ops', patch.file);
    writeFileSync(path, patched(readFileSync(path, 'utf8'), patch));
  }

  /** Builds the addon; null, or what the compiler says. */
  async buildAddon(): Promise<string | null> {
    const program = pathToFileURL(join(this.tree, 'custom-ops', 'build_native.mjs')).href;
    const { buildNative } = (await import(program)) as NativeBuild;
    const tensorflow = readdirSync(join(this.tree, BUILD)).find((name) => name.startsWith('tensorflow-'));
    try {
      await buildNative({
        ...this.tools,
        napiInclude: join(this.root, 'node_modules', 'node-api-headers', 'include'),
        tensorflowInclude: tensorflow === undefined ? null : join(this.tree, BUILD, tensorflow, 'include'),
        out: join(this.tree, BUILD, 'tfjs_embeddings.node'),
        log: () => undefined,
      });
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Builds the WebAssembly module; null, or what the compiler says. */
  buildWasm(): string | null {
    const { status, stderr } = spawnSync(process.execPath, ['custom-ops/build_wasm.mjs'], {
      cwd: this.tree,
      encoding: 'utf8',
    });
    return status === 0 ? null : stderr;
  }

  /** Puts the module of the unpatched sources back. */
  restoreWasm(): void {
    for (const file of WASM) copyFileSync(join(this.root, file), join(this.tree, file));
  }

  /** A build folder of its own, where the tree has a link to that of the project. */
  private ownBuild(): void {
    const [theirs, mine] = [join(this.root, BUILD), join(this.tree, BUILD)];
    rmSync(mine);
    mkdirSync(mine);
    for (const name of readdirSync(theirs)) {
      if (statSync(join(theirs, name)).isDirectory()) symlinkSync(join(theirs, name), join(mine, name), 'junction');
      else copyFileSync(join(theirs, name), join(mine, name));
    }
  }

  /** A command that compiles only what it has not compiled before. */
  private compiler(command: string): string {
    const script = join(this.tree, `${command.replace(/\W/g, '_')}_once.sh`);
    const folder = join(this.root, CACHE, 'objects');
    mkdirSync(dirname(folder), { recursive: true });
    writeFileSync(script, `#!/bin/sh\nexec "${process.execPath}" "${COMPILE_ONCE}" "${command}" "${folder}" "$@"\n`);
    chmodSync(script, 0o755);
    return script;
  }
}
