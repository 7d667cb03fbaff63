/** Which of a list of different whole numbers each number of a column is. */
import { platform, type ColumnKernels } from '../../base/platform.js';
import { slotWords } from './text_index.js';

export interface NumberIndex {
  /** Writes the place of each number in the list, -1 for others; returns how many of these there are. */
  find(queries: BigInt64Array, found: Int32Array): number;
}

/** An index in C. The numbers differ. */
export function nativeNumberIndex(numbers: BigInt64Array, kernels: ColumnKernels): NumberIndex {
  const slots = new BigInt64Array(slotWords(numbers.length, 2));
  kernels.indexNumbers(numbers, slots);
  return { find: (queries, found) => kernels.findNumbers(slots, queries, found) };
}

/** The same in TypeScript, which the native one is compared with. */
export function plainNumberIndex(numbers: BigInt64Array): NumberIndex {
  const places = new Map(Array.from(numbers, (number, i) => [number, i]));
  return {
    find: (queries, found) => {
      let unknown = 0;
      for (let i = 0; i < found.length; i++) {
        const place = places.get(queries[i]!);
        found[i] = place ?? -1;
        if (place === undefined) unknown++;
      }
      return unknown;
    },
  };
}

export function numberIndex(numbers: BigInt64Array): NumberIndex {
  const kernels = platform().columns;
  return kernels === undefined ? plainNumberIndex(numbers) : nativeNumberIndex(numbers, kernels);
}

/** Int32 as int64: words are written, as each BigInt would be an object. */
export function wideNumbers(numbers: Int32Array): BigInt64Array {
  const wide = new BigInt64Array(numbers.length);
  const words = new Int32Array(wide.buffer);
  const isLittle = new Uint8Array(Int32Array.of(1).buffer)[0] === 1;
  const [low, high] = isLittle ? [0, 1] : [1, 0];
  for (let i = 0; i < numbers.length; i++) {
    words[2 * i + low] = numbers[i]!;
    words[2 * i + high] = numbers[i]! >> 31;
  }
  return wide;
}
