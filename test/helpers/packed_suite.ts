/** Specs of lookups of packed rows that every implementation must pass: the reference over generated cases. */
import { IdOutOfRange, floatTable, type HostTable } from '../../src/backends/kernel_set.js';
import { referenceKernels } from '../../src/backends/reference/reference_kernel_set.js';
import type { Storage } from '../../src/codecs/codec.js';
import { CODECS, codecOf } from '../../src/codecs/codecs.js';
import { FLOAT16 } from '../../src/codecs/float16.js';
import { bagCase, type BagCase } from './bag_cases.js';
import type { Kernels } from './kernel_set_suite.js';
import { pooledMagnitudes, weightsGradientMagnitude } from './magnitudes.js';
import { Random } from './random.js';
import { expectClose } from './tensors.js';
import { lookUpInto } from './kernel_calls.js';

/** The table of these values in words. */
export function packedTable(values: Float32Array, storage: Storage, rows: number, dim: number): HostTable<Int32Array> {
  const codec = codecOf(storage);
  const data = new Int32Array(rows * codec.words(dim));
  codec.pack(values, dim, data);
  return { codec, data, rows, dim };
}

/** The case of a seed with its table packed; columns are `dim` in place of those of the case, where given. */
export interface PackedCase {
  readonly plain: BagCase;
  readonly packed: HostTable<Int32Array>;
}

export function packedCase(seed: number, storage: Storage, dim?: number): PackedCase {
  const drawn = bagCase(seed);
  const { rows } = drawn.table;
  const random = new Random(seed + 31);
  const width = dim ?? drawn.table.dim;
  // Rows far from 0 and rows of one value too.
  const values = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++) {
    const far = random.chance(0.2) ? random.whole(-3, 4) : 0;
    const isConstant = random.chance(0.1);
    const columns = random.floats(isConstant ? 1 : width, far - 1, far + 1);
    for (let c = 0; c < width; c++) values[row * width + c] = columns[isConstant ? 0 : c]!;
  }
  const packed = packedTable(values, storage, rows, width);
  const table = floatTable(packed.codec.unpack(packed.data, width), rows, width);
  const gradient = random.floats((drawn.bags.rowSplits.length - 1) * width);
  const maxNorm = drawn.options.maxNorm > 0 ? Math.fround(0.5 * Math.sqrt(width / 3)) : 0;
  const options = { ...drawn.options, maxNorm };
  return { plain: { ...drawn, name: `${storage} ${drawn.name}, dim ${width}`, table, gradient, options }, packed };
}

/** Columns whose terms are products of codes and scales: what is rounded is as large as the row's range. */
function magnitudes({ plain, packed }: PackedCase): Float64Array {
  if (packed.codec === FLOAT16) return pooledMagnitudes(plain);
  const { table } = plain;
  const data = new Float32Array(table.data.length);
  for (let row = 0; row < table.rows; row++) {
    const columns = table.data.subarray(row * table.dim, (row + 1) * table.dim);
    const most = columns.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    data.fill(3 * most, row * table.dim, (row + 1) * table.dim);
  }
  return pooledMagnitudes({ ...plain, table: { ...table, data } });
}

/** Widths around the borders of words, vectors and chunks. */
const WIDTHS = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 19, 31, 33, 47, 63, 64, 65, 96, 100, 127, 128, 129, 200, 256];
const WIDE = [257, 300, 400, 513];

export function itLooksUpPackedRows(kernels: () => Kernels): void {
  for (const { name: storage } of CODECS.filter(({ isPlain }) => !isPlain)) {
    const cases = (): PackedCase[] => [
      ...Array.from({ length: 60 }, (_, i) => packedCase(i + 1, storage)),
      // Seeds with some bags and few rows.
      ...WIDTHS.flatMap((dim, i) => [packedCase(4 + 9 * i, storage, dim), packedCase(5 + 9 * i, storage, dim)]),
      ...WIDE.map((dim, i) => packedCase(3 + 9 * i, storage, dim)),
    ];

    it(`pools packed rows as the reference does: ${storage}`, () => {
      for (const each of cases()) {
        const { plain, packed } = each;
        const { bags, options } = plain;
        const length = (bags.rowSplits.length - 1) * packed.dim;
        const [expected, actual] = [new Float32Array(length), new Float32Array(length).fill(NaN)];
        lookUpInto(referenceKernels, plain.table, bags, options, expected);
        lookUpInto(kernels(), packed, bags, options, actual);
        expectClose(actual, expected, magnitudes(each), plain.name);
      }
    });

    it(`gives the reference gradients of the weights of packed rows: ${storage}`, () => {
      for (const { plain, packed } of cases().filter((each) => each.plain.bags.weights !== null)) {
        const { bags, options, gradient } = plain;
        const { length } = bags.values;
        const [expected, actual] = [new Float32Array(length), new Float32Array(length).fill(NaN)];
        referenceKernels.weightsGradient(plain.table, gradient, bags, options, expected);
        kernels().weightsGradient(packed, gradient, bags, options, actual);
        expectClose(actual, expected, 4 * weightsGradientMagnitude(plain), plain.name);
      }
    });

    it(`tells the first id outside a packed table: ${storage}`, () => {
      const packed = packedTable(Float32Array.of(1, 2, 3, 4, 5, 6), storage, 2, 3);
      const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
      const bags = { values: Int32Array.of(1, 2, -1), rowSplits: Int32Array.of(0, 1, 3), weights: new Float32Array(3) };
      const error = jasmine.objectContaining({ id: 2, position: 1, rows: 2 });
      for (const maxNorm of [0, 1]) {
        const given = { ...options, maxNorm };
        expect(() => lookUpInto(kernels(), packed, bags, given, new Float32Array(6))).toThrow(error);
        expect(() => {
          kernels().weightsGradient(packed, new Float32Array(6), bags, given, new Float32Array(3));
        }).toThrow(error);
      }
      expect(new IdOutOfRange(2, 1, 2).rows).toBe(2);
    });
  }

  it('looks up every half as the number that it stands for', () => {
    const words = Int32Array.from({ length: 2 ** 15 }, (_, i) => (2 * i) | ((2 * i + 1) << 16));
    const packed: HostTable = { codec: FLOAT16, data: words, rows: 2 ** 11, dim: 32 };
    const rows = Int32Array.from({ length: 2 ** 11 }, (_, i) => i);
    const bags = { values: rows, rowSplits: Int32Array.from({ length: 2 ** 11 + 1 }, (_, i) => i), weights: null };
    const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
    const actual = new Float32Array(2 ** 16);
    lookUpInto(kernels(), packed, bags, options, actual);
    expect(actual).toEqual(FLOAT16.unpack(words, 32).map((value) => value + 0));
  });
}
