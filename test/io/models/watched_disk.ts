/** The file system as sources see it, with somebody who watches each call and may make it fail. */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';

export interface Call {
  /** From 0 on. */
  readonly number: number;
  readonly name: string;
  /** Makes half of what a write would; does nothing for others. */
  half(): Promise<void>;
}

type Method = (...args: unknown[]) => Promise<unknown>;

const FUNCTIONS = ['mkdir', 'lstat', 'stat', 'realpath', 'open', 'writeFile', 'readFile', 'rename', 'readdir', 'rm'];
const METHODS = ['write', 'writeFile', 'read', 'stat', 'sync'];

async function fileHandles(): Promise<Record<string, Method>> {
  const handle = await fs.open(fileURLToPath(import.meta.url));
  await handle.close();
  return Object.getPrototypeOf(handle) as Record<string, Method>;
}

/** Runs `run` while `before` is called ahead of each call of the system; what it throws is what the call throws. */
export async function watchDisk<T>(before: (call: Call) => void | Promise<void>, run: () => Promise<T>): Promise<T> {
  const functions = fs as unknown as Record<string, Method>;
  const methods = await fileHandles();
  const undo: (() => void)[] = [];
  let number = 0;
  const write = methods['write']!;
  /** How much was written to a file so far: half a write leaves its position alone. */
  const ends = new WeakMap<object, number>();
  const whole = (text: string): [Uint8Array, number, number] => [Buffer.from(text), 0, Buffer.byteLength(text)];
  const watch = (holder: Record<string, Method>, name: string): void => {
    const method = holder[name]!;
    undo.push(() => (holder[name] = method));
    holder[name] = async function (this: unknown, ...args: unknown[]): Promise<unknown> {
      const half = async (): Promise<void> => {
        if (holder !== methods || !name.startsWith('write')) return;
        const at = ends.get(this as object) ?? 0;
        const [piece, from, length] =
          name === 'write' ? (args as [Uint8Array, number, number]) : whole(args[0] as string);
        await write.call(this, piece, from, length >> 1, at);
        ends.set(this as object, at + length);
      };
      await before({ number: number++, name, half });
      return method.apply(this, args);
    };
  };
  for (const name of FUNCTIONS) watch(functions, name);
  for (const name of METHODS) watch(methods, name);
  syncBuiltinESMExports();
  try {
    return await run();
  } finally {
    for (const each of undo) each();
    syncBuiltinESMExports();
  }
}
