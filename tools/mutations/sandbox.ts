/** A copy of the working tree whose sources may be changed. What was installed or built is linked, not copied. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LINKED = ['node_modules', 'custom-ops/build', 'dist'];
/** Made by set-up, not under version control, but sources all the same. */
const GENERATED = ['src/backends/wasm/kernels_wasm.ts', 'src/backends/emulator/devices/worker_source.ts'];

/** Under the root, git-ignored. */
export const CACHE = join('.cache', 'mutations');

function treeFiles(root: string): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error('git ls-files failed: mutations need a clone and git');
  return [...stdout.split('\0').filter((name) => name !== ''), ...GENERATED];
}

export interface Sandbox {
  readonly tree: string;
  remove(): void;
}

export function makeSandbox(root: string, name: string): Sandbox {
  mkdirSync(join(root, CACHE), { recursive: true });
  const tree = mkdtempSync(join(root, CACHE, `${name.replaceAll('/', '-')}-`));
  for (const file of treeFiles(root)) {
    if (!existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    copyFileSync(join(root, file), join(tree, file));
  }
  for (const folder of LINKED) {
    if (existsSync(join(root, folder))) symlinkSync(join(root, folder), join(tree, folder), 'junction');
  }
  // What Python needs is large, and installed once.
  const python = join('test', '.cache');
  if (existsSync(join(root, python))) symlinkSync(join(root, python), join(tree, python), 'junction');
  return { tree, remove: () => rmSync(tree, { recursive: true, force: true }) };
}

/** Calls `work` with the path of a sandbox, which is removed whatever happens. */
export async function inSandbox<T>(root: string, name: string, work: (tree: string) => Promise<T>): Promise<T> {
  const { tree, remove } = makeSandbox(root, name);
  const interrupted = (): void => {
    remove();
    process.exit(130);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    return await work(tree);
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    remove();
  }
}
