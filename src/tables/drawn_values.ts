/**
 * The values that the stock initializers of TensorFlow.js give, to the bit, a few rows at a time: tfjs makes all of a
 * table at once, beside the table.
 */
import { Alea } from './alea.js';
import type { Initializer, TableToFill } from './initializers.js';
import { stockValues, type Distribution } from './stock_initializers.js';

/** Fills an array with the values that come next. */
export type Draw = (values: Float32Array) => void;

type Uniform = Distribution & { kind: 'uniform' };
type Normal = Distribution & { kind: 'normal' | 'truncatedNormal' };

function uniform({ from, to }: Uniform, random: Alea): Draw {
  return (values) => drawUniform(values, from, to - from, random);
}

/** A function of its own: what a closure holds is fetched anew for each value. */
function drawUniform(values: Float32Array, from: number, range: number, random: Alea): void {
  for (let i = 0; i < values.length; i++) values[i] = from + range * random.next();
}

/** Pairs of normal values by Marsaglia's polar method; of a pair the second waits for the next call. */
function normal({ kind, mean, deviation }: Normal, random: Alea): Draw {
  const furthest = kind === 'normal' ? Infinity : Math.abs(deviation * 2);
  const [lowest, highest] = [mean - furthest, mean + furthest];
  let waiting: number | null = null;
  const pair = new Float64Array(2);
  const drawPair = (): void => {
    for (;;) {
      const x = 2 * random.next() - 1;
      const y = 2 * random.next() - 1;
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const stretch = Math.sqrt((-2 * Math.log(square)) / square);
      pair[0] = mean + deviation * x * stretch;
      pair[1] = mean + deviation * y * stretch;
      // Only a pair whose first value counts is kept.
      if (pair[0] >= lowest && pair[0] <= highest) return;
    }
  };
  return (values) => {
    let at = 0;
    if (waiting !== null && values.length > 0) {
      values[at++] = waiting;
      waiting = null;
    }
    while (at < values.length) {
      drawPair();
      values[at++] = pair[0]!;
      if (!(pair[1]! >= lowest && pair[1]! <= highest)) continue;
      if (at < values.length) values[at++] = pair[1]!;
      else waiting = pair[1]!;
    }
  };
}

/**
 * Returns what draws the values of a table from its first row on; null for constants, Identity, Orthogonal and classes of
 * the user's own, and for a truncated normal by that name, which tfjs makes uniform. Without a seed other values come each
 * time; tfjs takes the seed 0 of a normal distribution for none, here it is one.
 *
 * @throws TypeError or ValueError for a config whose numbers cannot be used.
 */
export function drawnBy(initializer: Initializer, table: TableToFill): Draw | null {
  const stock = stockValues(initializer, table);
  if (stock === null || !stock.isAsInTfjs) return null;
  const { values, seed } = stock;
  if (values.kind === 'constant') return null;
  const random = new Alea(String(seed ?? Math.random()));
  return values.kind === 'uniform' ? uniform(values, random) : normal(values, random);
}
