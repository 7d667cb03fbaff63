/** Arguments of the addon that share memory: what is written must be apart from everything else. */
import { loadAddon, type Addon } from '../../../src/backends/native/addon.js';
import { packedHyperCase } from '../../helpers/bag_cases.js';

type Function = 'embeddingBag' | 'embeddingBagGrad' | 'embeddingBagWeightsGrad' | 'sparseApply';
type Arrays = Record<string, Float32Array | Int32Array>;

const [FLOAT32, ROWS, DIM] = [0, 3, 2];
/** sgd, adagrad, rowWiseAdagrad, adam: no slot, one, one of a number per row, two. */
const OPTIMIZERS = [0, 1, 2, 4];

interface Example {
  readonly name: string;
  readonly function: Function;
  readonly arrays: Arrays;
  readonly written: readonly string[];
  /** The arguments, with `arrays` in their places. */
  readonly call: (arrays: Arrays) => unknown[];
}

/** Two bags of two ids, with weights. */
function bagArrays(): Arrays {
  return {
    table: Float32Array.of(1, 2, 3, 4, 5, 6),
    values: Int32Array.of(0, 1, 2, 0),
    rowSplits: Int32Array.of(0, 2, 4),
    weights: Float32Array.of(1, 2, 3, 4),
  };
}

const bags = ({ values, rowSplits, weights }: Arrays): unknown[] => [values, rowSplits, weights, 0, 0, 0];

function examples(): Example[] {
  const gradient = Float32Array.of(1, 2, 3, 4);
  return [
    {
      name: 'embeddingBag',
      function: 'embeddingBag',
      arrays: { ...bagArrays(), pooled: new Float32Array(4) },
      written: ['pooled'],
      call: (a) => [a['table'], FLOAT32, ROWS, DIM, ...bags(a), a['pooled']],
    },
    {
      name: 'embeddingBagWeightsGrad',
      function: 'embeddingBagWeightsGrad',
      arrays: { ...bagArrays(), gradient, out: new Float32Array(4) },
      written: ['out'],
      call: (a) => [a['table'], FLOAT32, ROWS, DIM, ...bags(a), a['gradient'], a['out']],
    },
    ...OPTIMIZERS.map((optimizer): Example => {
      const slots = ['slot0', 'slot1'].slice(0, [0, 1, 1, 2, 2, 2][optimizer]);
      const length = optimizer === 2 ? ROWS : ROWS * DIM;
      const slotArrays = Object.fromEntries(slots.map((slot) => [slot, new Float32Array(length).fill(1)]));
      return {
        name: `sparseApply of optimizer ${optimizer}`,
        function: 'sparseApply',
        arrays: { ...bagArrays(), ...slotArrays, gradient, useStarts: Int32Array.of(1, 2) },
        written: ['table', ...slots],
        call: (a) => [
          ...[
            a['table'],
            FLOAT32,
            ROWS,
            DIM,
            ...bags(a),
            optimizer,
            a['slot0'] ?? null,
            a['slot1'] ?? null,
            null,
            null,
          ],
          ...[a['gradient'], packedHyperCase('sgd', 0), a['useStarts']],
        ],
      };
    }),
  ];
}

/** A view of `buffer` with the numbers of an array. */
function placed(array: Float32Array | Int32Array, buffer: ArrayBuffer, byteOffset: number): Float32Array | Int32Array {
  const type = array instanceof Float32Array ? Float32Array : Int32Array;
  const view = new type(buffer, byteOffset, array.length);
  view.set(array);
  return view;
}

describe('arguments of the addon that share memory', () => {
  const addon = loadAddon() as unknown as Record<keyof Addon, (...args: unknown[]) => unknown>;

  for (const example of examples()) {
    const { written, arrays } = example;
    it(`are refused by ${example.name}, and nothing is written`, () => {
      for (const one of written) {
        for (const other of Object.keys(arrays).filter((name) => name !== one)) {
          const [mine, shared] = [arrays[one]!, arrays[other]!];
          // The other begins in the last number of the one, and ends in the first.
          for (const at of [mine.byteLength - 4, 4 - shared.byteLength]) {
            const buffer = new ArrayBuffer(256);
            const changed = { ...arrays, [one]: placed(mine, buffer, 64) };
            changed[other] = placed(shared, buffer, 64 + at);
            const before = Buffer.from(buffer.slice(0));
            const call = (): unknown => addon[example.function](...example.call(changed));
            expect(call)
              .withContext(`${one} and ${other}`)
              .toThrowError(RangeError, /`\w+`: expected memory of its own, received memory of another argument/);
            expect(Buffer.compare(Buffer.from(buffer), before))
              .withContext(`${one} and ${other}`)
              .toBe(0);
          }
        }
      }
    });

    it(`are taken by ${example.name} where they only touch`, () => {
      for (const one of written) {
        for (const other of Object.keys(arrays).filter((name) => name !== one)) {
          const [mine, shared] = [arrays[one]!, arrays[other]!];
          for (const at of [mine.byteLength, -shared.byteLength]) {
            const buffer = new ArrayBuffer(256);
            const changed = { ...arrays, [one]: placed(mine, buffer, 64) };
            changed[other] = placed(shared, buffer, 64 + at);
            for (const name of written) if (name !== one && name !== other) changed[name] = arrays[name]!.slice();
            expect(() => addon[example.function](...example.call(changed))).not.toThrow();
          }
        }
      }
    });
  }

  it('are read where nothing is written', () => {
    const gradient = Float32Array.of(1, 2, 3, 4);
    const arrays: Arrays = { ...bagArrays(), weights: gradient };
    const args = [gradient, arrays['table'], FLOAT32, ROWS, DIM, ...bags(arrays)];
    expect(addon.embeddingBagGrad(...args)).toEqual([
      Int32Array.of(0, 1, 2),
      Float32Array.of(1 + 4 * 3, 2 + 4 * 4, 2, 4, 9, 12),
    ]);
  });
});
