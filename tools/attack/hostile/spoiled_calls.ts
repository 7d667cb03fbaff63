/** Arguments that are anything, and what makes hostile ones of right ones. */
import type { Random } from '../../../test/helpers/random.js';
import type { HostileArrays } from './arrays.js';

const NUMBERS = [
  0,
  1,
  2,
  3,
  -1,
  0.5,
  NaN,
  Infinity,
  -Infinity,
  2 ** 31,
  -(2 ** 31),
  2 ** 32,
  2 ** 53,
  2 ** 62,
  1e308,
  64,
];

const isNumbers = (value: unknown): value is Float32Array | Int32Array =>
  (value instanceof Float32Array || value instanceof Int32Array) && ArrayBuffer.isView(value);

/** What makes right calls wrong. */
export interface Spoiler {
  anything(): unknown;
  /** Replaces some arguments; two of them may come to share memory. */
  spoil(args: unknown[]): void;
  /** Arrays of a list of calls go away while the addon walks through the list. */
  setTrap(list: unknown): void;
}

export function spoiler(random: Random, arrays: HostileArrays): Spoiler {
  const ANYTHING: readonly (() => unknown)[] = [
    () => undefined,
    () => null,
    () => random.chance(0.5),
    () => random.pick(NUMBERS),
    () => random.pick(NUMBERS),
    () => random.pick(NUMBERS),
    () => random.whole(-5, 70),
    () => BigInt(random.whole(-9, 9)),
    () => random.pick(['', 'sum', '1', '\0', '😀'.repeat(40)]),
    () => Symbol('s'),
    () => ({ length: 4, valueOf: () => 1 }),
    () => () => 1,
    () => [1, 2, 3],
    () => arrays.floats(random.whole(0, 30)),
    () => arrays.ints(Array.from({ length: random.whole(0, 30) }, () => random.whole(-3, 10))),
    () => arrays.ints([0, 2, 4]),
    () => new Float64Array(4),
    () => new DataView(new ArrayBuffer(16)),
    () => arrays.detached(),
    () => arrays.resized(),
    () => new Proxy(new Float32Array(4), {}),
    () => Object.create(Float32Array.prototype) as unknown,
    () => new ArrayBuffer(16),
  ];

  const anything = (): unknown => random.pick(ANYTHING)();

  /** Arrays of a list of calls go away while the addon walks through the list. */
  function setTrap(list: unknown): void {
    if (!Array.isArray(list) || list.length === 0) return;
    const [at, inner] = [random.whole(0, list.length), random.pick(list)];
    const whole = list[at] as unknown;
    Object.defineProperty(list, at, {
      get() {
        for (const each of Array.isArray(inner) ? inner : []) {
          const { buffer } = ArrayBuffer.isView(each) ? each : { buffer: null };
          if (buffer instanceof ArrayBuffer && random.chance(0.5)) transfer(buffer);
        }
        return whole;
      },
    });
  }

  /** Memory of WebAssembly stays where it is. */
  function transfer(buffer: ArrayBuffer): void {
    try {
      structuredClone(buffer, { transfer: [buffer] });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  }

  /** The numbers of an array moved to the memory of another, or beside it; null where they do not fit there. */
  function moved(mine: Float32Array | Int32Array, other: ArrayBufferView): Float32Array | Int32Array | null {
    const at = other.byteOffset + 4 * random.whole(-2, 3);
    if (other.buffer.byteLength === 0 || at % 4 !== 0 || at < 0 || at + mine.byteLength > other.buffer.byteLength)
      return null;
    const Type = mine instanceof Float32Array ? Float32Array : Int32Array;
    const view = new Type(other.buffer as ArrayBuffer, at, mine.length);
    if (mine.byteLength > 0) view.set(mine.slice());
    return view;
  }

  /** Replaces some arguments; two of them may come to share memory. */
  function spoil(args: unknown[]): void {
    for (let times = random.whole(0, 3); times > 0 && args.length > 0; times--) {
      const i = random.whole(0, args.length);
      const [mine, other] = [args[i], random.pick(args)];
      if (isNumbers(mine) && ArrayBuffer.isView(other) && random.chance(0.5)) {
        args[i] = moved(mine, other) ?? mine;
      } else if (mine instanceof Int32Array && isNumbers(mine) && random.chance(0.6)) {
        if (mine.length > 0) mine[random.whole(0, mine.length)] = random.pick([-1, 0, 3, 1e6, -(2 ** 31), 2 ** 31 - 1]);
      } else {
        args[i] = anything();
      }
    }
    if (random.chance(0.05)) args.length = random.whole(0, args.length + 1);
    if (random.chance(0.05)) args.push(anything());
  }

  return { anything, spoil, setTrap };
}
