/** Who is measured, and how their programs start. */
import { fileURLToPath } from 'node:url';
import { WITH_SOURCES } from '../../../test/helpers/programs.js';
import type { PackedStorage } from '../../../src/codecs/codec.js';
import { Peer } from './peer.js';

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const tsx = (file: string, ...args: string[]): string[] => [process.execPath, ...WITH_SOURCES, here(file), ...args];

export interface Contestant {
  readonly name: string;
  /** For each interpreter that may have it; one command where it is ours. */
  readonly commands: (threads: number) => readonly (readonly string[])[];
}

/** Ours, whose times the others are divided by. */
export const BASE = 'native';
export const OURS = 'ours';

/** Tables of fewer bits, which are looked up by our native kernels. */
export const PACKED: readonly PackedStorage[] = ['float16', 'int8'];

const own = (name: string, file: string, which: string): Contestant => ({
  name,
  commands: (threads) => [tsx(file, which, `${threads}`)],
});

const rivalOf =
  (pythons: readonly string[]) =>
  (name: string, file: string): Contestant => ({
    name,
    commands: (threads) => pythons.map((python) => [python, here(`python/${file}`), `${threads}`]),
  });

/** Who looks rows up and steps them. */
export function bagContestants(pythons: readonly string[]): Contestant[] {
  const rival = rivalOf(pythons);
  return [
    own(BASE, 'bags/own_bags.ts', 'native'),
    own('tensorflow', 'bags/tfjs_bags.ts', 'ours'),
    own('wasm', 'bags/own_bags.ts', 'wasm'),
    ...PACKED.map((storage) => own(storage, 'bags/own_bags.ts', storage)),
    rival('torch', 'torch_bags.py'),
    rival('FBGEMM', 'fbgemm_bags.py'),
    rival('Keras', 'keras_bags.py'),
    own('stock tfjs', 'bags/tfjs_bags.ts', 'stock'),
  ];
}

/** Who trains whole models. */
export function modelContestants(pythons: readonly string[]): Contestant[] {
  const rival = rivalOf(pythons);
  return [
    own(OURS, 'models/tfjs_models.ts', 'ours'),
    rival('torch', 'torch_models.py'),
    rival('Keras', 'keras_models.py'),
    own('stock tfjs', 'models/tfjs_models.ts', 'stock'),
  ];
}

/** Our model on `tensorflow`, and on so many virtual devices of one thread each. */
export function deviceContestants(): Contestant[] {
  const emulators = [1, 2, 4].map((devices): Contestant => {
    const name = `emulator ${devices}`;
    return { name, commands: (threads) => [tsx('models/tfjs_models.ts', name, `${threads}`)] };
  });
  return [own(OURS, 'models/tfjs_models.ts', 'ours'), ...emulators];
}

/** Starts a contestant with the first interpreter that has it; else tells why none has. */
export async function start({ name, commands }: Contestant, threads: number): Promise<Peer | string> {
  const why: string[] = [];
  for (const command of commands(threads)) {
    const peer = await Peer.start(name, command, { OMP_NUM_THREADS: `${threads}` });
    if (typeof peer !== 'string') return peer;
    why.push(commands(threads).length > 1 ? `${command[0]}: ${peer}` : peer);
  }
  return why.join('; ') || 'no interpreter was given';
}
