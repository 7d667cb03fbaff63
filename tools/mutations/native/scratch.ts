/** A copy of the tree whose native parts are built from changed sources. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CACHE, makeSandbox, type Sandbox } from '../sandbox.js';

interface NativeBuild {
  buildNative(options: object): Promise<string>;
}

const COMPILE_ONCE = fileURLToPath(new URL('./compile_once.mjs', import.meta.url));
const BUILD = 'custom-ops/build';

/** What a build writes; two versions of it lie beside it: of the sources as they are, and of changed ones. */
export class Built {
  constructor(
    private readonly files: readonly string[],
    /** Resolves to null, or to what the compiler says. */
    readonly build: () => Promise<string | null>,
  ) {}

  /** What was built is that of the sources as they are. */
  keep(): void {
    for (const file of this.files) copyFileSync(file, `${file}.whole`);
  }

  isSame(): boolean {
    return this.files.every((file) => readFileSync(file).equals(readFileSync(`${file}.whole`)));
  }

  /** What was built is that of changed sources; the other one is in use again. */
  setAside(): void {
    for (const file of this.files) copyFileSync(file, `${file}.changed`);
    this.useWhole();
  }

  useChanged(): void {
    this.use('changed');
  }

  useWhole(): void {
    this.use('whole');
  }

  /** Renamed, not written: a process may have the old one mapped. */
  private use(which: string): void {
    for (const file of this.files) {
      copyFileSync(`${file}.${which}`, `${file}.next`);
      renameSync(`${file}.next`, file);
    }
  }
}

export class Scratch {
  private readonly sandbox: Sandbox;
  private readonly tools: { readonly cc: string; readonly cxx: string };

  constructor(private readonly root: string) {
    this.sandbox = makeSandbox(root, 'native');
    this.ownBuild();
    this.tools = { cc: this.compiler(process.env['CC'] ?? 'cc'), cxx: this.compiler(process.env['CXX'] ?? 'c++') };
  }

  get tree(): string {
    return this.sandbox.tree;
  }

  remove(): void {
    this.sandbox.remove();
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.tree, file), text);
  }

  addon(): Built {
    const out = join(this.tree, BUILD, 'tfjs_embeddings.node');
    const tensorflow = readdirSync(join(this.tree, BUILD)).find((name) => name.startsWith('tensorflow-'));
    return new Built([out], async () => {
      const program = pathToFileURL(join(this.tree, 'custom-ops', 'build_native.mjs')).href;
      const { buildNative } = (await import(program)) as NativeBuild;
      try {
        await buildNative({
          ...this.tools,
          napiInclude: join(this.root, 'node_modules', 'node-api-headers', 'include'),
          tensorflowInclude: tensorflow === undefined ? null : join(this.tree, BUILD, tensorflow, 'include'),
          out,
          // Those of the project, and of the mutations before: a mutation compiles what reads its file.
          objects: join(this.tree, BUILD, 'objects'),
          log: () => undefined,
        });
        return null;
      } catch (error) {
        return (error as Error).message;
      }
    });
  }

  wasm(): Built {
    const files = [`${BUILD}/kernels.wasm`, 'src/backends/wasm/kernels_wasm.ts'].map((file) => join(this.tree, file));
    return new Built(files, () => {
      const { status, stderr } = spawnSync(process.execPath, ['custom-ops/build_wasm.mjs'], {
        cwd: this.tree,
        encoding: 'utf8',
      });
      return Promise.resolve(status === 0 ? null : stderr);
    });
  }

  /** A build folder of its own, where the tree has a link to that of the project. */
  private ownBuild(): void {
    const [theirs, mine] = [join(this.root, BUILD), join(this.tree, BUILD)];
    if (!existsSync(theirs)) throw new Error(`there is no ${BUILD}: run npm run setup`);
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
