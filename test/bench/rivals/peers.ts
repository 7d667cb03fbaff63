/** Who is measured, and how their programs start. */
import { fileURLToPath } from 'node:url';
import { Peer } from './peer.js';

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const tsx = (file: string, ...args: string[]): string[] => [process.execPath, '--import', 'tsx', here(file), ...args];

export interface Contestant {
  readonly name: string;
  /** For each interpreter that may have it; one command where it is ours. */
  readonly commands: (threads: number) => readonly (readonly string[])[];
}

/** Ours, whose times the others are divided by. */
export const BASE = 'native';

/** Who looks rows up and steps them. */
export function bagContestants(pythons: readonly string[]): Contestant[] {
  const rival = (name: string, file: string): Contestant => ({
    name,
    commands: (threads) => pythons.map((python) => [python, here(`python/${file}`), `${threads}`]),
  });
  const own = (name: string, file: string, which: string): Contestant => ({
    name,
    commands: (threads) => [tsx(file, which, `${threads}`)],
  });
  return [
    own(BASE, 'own_bags.ts', 'native'),
    own('tensorflow', 'tfjs_bags.ts', 'ours'),
    own('wasm', 'own_bags.ts', 'wasm'),
    rival('torch', 'torch_bags.py'),
    rival('FBGEMM', 'fbgemm_bags.py'),
    rival('Keras', 'keras_bags.py'),
    own('stock tfjs', 'tfjs_bags.ts', 'stock'),
  ];
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
