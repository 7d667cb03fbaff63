/** Ways to spoil a `.keras` or HDF5 file of Keras. */
import type { Random } from '../../../test/helpers/random.js';

/** A whole file: an HDF5 file with a model, or the parts of a `.keras` archive. */
export interface KerasParts {
  readonly hdf5: Uint8Array;
  /** The text of `config.json`; null: the HDF5 file holds the model itself. */
  readonly config: string | null;
}

export interface HostileKerasFile {
  readonly kind: string;
  /** Whether the file must be refused, where others may still be a model. */
  readonly isAlwaysBad: boolean;
  /** Parts of another file, or its name in the archive where that is what is wrong. */
  spoil(parts: KerasParts, random: Random): KerasParts & { readonly entry?: string };
}

const SIGNATURES = ['TREE', 'SNOD', 'HEAP', 'GCOL'];

/** Where structures of the file begin, with the first byte of the file, which is one too. */
function structures(bytes: Uint8Array): number[] {
  const text = Buffer.from(bytes).toString('latin1');
  const found = [0];
  for (const signature of SIGNATURES) {
    for (let at = text.indexOf(signature); at >= 0; at = text.indexOf(signature, at + 1)) found.push(at);
  }
  return found;
}

/** Places of words that hold an address within the file. */
function addresses(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: number[] = [];
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    const value = view.getBigUint64(at, true);
    if (value >= 48n && value < BigInt(bytes.length)) found.push(at);
  }
  return found;
}

function write(bytes: Uint8Array, at: number, value: bigint): void {
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).setBigUint64(at, value, true);
}

function inHdf5(kind: string, change: (bytes: Uint8Array, random: Random) => Uint8Array | void): HostileKerasFile {
  return {
    kind,
    isAlwaysBad: false,
    spoil: (parts, random) => {
      const bytes = parts.hdf5.slice();
      return { ...parts, hdf5: change(bytes, random) ?? bytes };
    },
  };
}

const HUGE = [2n ** 31n, 2n ** 32n - 1n, 2n ** 40n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n];

/** A value somewhere within a JSON becomes another. */
function inConfig(kind: string, values: (random: Random) => unknown, isAlwaysBad = false): HostileKerasFile {
  return {
    kind,
    isAlwaysBad,
    spoil: (parts, random) => {
      if (parts.config === null) return { ...parts, hdf5: new Uint8Array(9) };
      const root = JSON.parse(parts.config) as Record<string, unknown>;
      const places: [Record<string, unknown>, string][] = [];
      const visit = (value: unknown): void => {
        if (value === null || typeof value !== 'object') return;
        for (const key of Object.keys(value)) {
          places.push([value as Record<string, unknown>, key]);
          visit((value as Record<string, unknown>)[key]);
        }
      };
      visit(root);
      const [owner, key] = random.pick(places);
      owner[key] = values(random);
      return { ...parts, config: JSON.stringify(root).replaceAll('"__own__"', '"__proto__"') };
    },
  };
}

const VALUES = [null, -1, 0, 1.5, 2 ** 31, 1e300, 'x', '', [], {}, [[[]]], true, { className: 'Dense' }];

export const HOSTILE_KERAS_FILES: readonly HostileKerasFile[] = [
  inHdf5('flipped bits', (bytes, random) => {
    for (let times = random.whole(1, 6); times > 0; times--) {
      bytes[random.whole(0, bytes.length)]! ^= 1 << random.whole(0, 8);
    }
  }),
  inHdf5('addresses that lead elsewhere', (bytes, random) => {
    const [words, ends] = [addresses(bytes), structures(bytes)];
    for (let times = random.whole(1, 4); times > 0; times--)
      write(bytes, random.pick(words), BigInt(random.pick(ends)));
  }),
  inHdf5('addresses that change places', (bytes, random) => {
    const words = addresses(bytes);
    const view = new DataView(bytes.buffer);
    const [a, b] = [random.pick(words), random.pick(words)];
    const [first, second] = [view.getBigUint64(a, true), view.getBigUint64(b, true)];
    write(bytes, a, second);
    write(bytes, b, first);
  }),
  inHdf5('huge numbers', (bytes, random) => write(bytes, random.pick(addresses(bytes)), random.pick(HUGE))),
  inHdf5('huge counts behind a signature', (bytes, random) => {
    const at = random.pick(structures(bytes)) + random.pick([4, 6, 8, 16]);
    if (at + 8 <= bytes.length) write(bytes, at, random.pick(HUGE));
  }),
  inHdf5('structures that hold another', (bytes, random) => {
    const all = structures(bytes);
    const [from, to] = [random.pick(all), random.pick(all)];
    bytes.copyWithin(to, from, from + random.pick([16, 64, 328]));
  }),
  inHdf5('short words', (bytes, random) => {
    for (let times = 4; times > 0; times--) {
      const at = random.whole(0, bytes.length >> 1) * 2;
      bytes.set([255, random.pick([0, 255])], Math.min(at, bytes.length - 2));
    }
  }),
  inHdf5('a file cut off', (bytes, random) => bytes.slice(0, random.whole(0, bytes.length))),
  inHdf5('more behind the end', (bytes, random) => {
    const longer = new Uint8Array(bytes.length + random.whole(1, 4096));
    longer.set(bytes);
    return longer;
  }),
  inConfig('a value of another kind', (random) => random.pick(VALUES)),
  inConfig('a key __proto__', (random) => ({ __own__: random.pick(VALUES), [random.pick(['__own__', 'config'])]: {} })),
  inConfig('deep lists', () => JSON.parse(`${'['.repeat(3000)}${']'.repeat(3000)}`) as unknown),
  inConfig('huge sizes', (random) => random.pick([2 ** 31, 2 ** 40, 1e308, [2 ** 31, 2 ** 31]])),
  {
    kind: 'a config that is cut off',
    isAlwaysBad: true,
    spoil: (parts, random) => ({ ...parts, config: (parts.config ?? '{"a":1').slice(0, random.whole(0, 60)) }),
  },
  {
    kind: 'an entry under another name',
    isAlwaysBad: true,
    spoil: (parts, random) => ({
      ...parts,
      config: parts.config ?? '{}',
      entry: random.pick(['../model.weights.h5', '/model.weights.h5', '__proto__', 'C:\\model.weights.h5', '']),
    }),
  },
];
