/** The kernels that make CSR agree to the bit, over generated stacks. */
import * as emb from 'tfjs-embeddings';
import {
  CsrIdOutOfRange,
  countCsr,
  roundUp,
  type CsrFeature,
  type CsrParts,
  type CsrRequest,
} from '../../src/backends/sparse_core.js';
import type { KernelSet } from '../../src/backends/kernel_set.js';
import type { ModelKernels } from '../../src/backends/model_kernels.js';
import { namedKernelSet } from '../../src/backends/registry.js';
import { partitionCsr } from '../../src/backends/reference/partition_csr.js';
import { WEIGHING } from '../../src/base/types.js';
import { skipOrFail } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';
import 'tfjs-embeddings/node';

const CASES = 150;

function feature(
  random: Random,
  request: Omit<CsrRequest, 'features' | 'capacity'>,
  at: Partial<CsrFeature>,
): CsrFeature {
  const samples = request.cores * random.whole(0, 6);
  const rows = random.pick([1, 7, 64, 5000, 3_000_000]);
  const most = random.pick([1, 3, 40]);
  const few = random.chance(0.5) ? Math.min(rows, 4) : rows;
  const lists = Array.from({ length: samples }, () =>
    Array.from({ length: random.whole(0, most) }, () => random.whole(0, few)),
  );
  const rowSplits = new Int32Array(samples + 1);
  lists.forEach((list, i) => (rowSplits[i + 1] = rowSplits[i]! + list.length));
  const values = Int32Array.from(lists.flat());
  const weights = random.chance(0.5) ? random.floats(values.length).map((w) => (Math.abs(w) < 0.3 ? 0 : w)) : null;
  return {
    values,
    rowSplits,
    weights,
    combiner: random.pick(WEIGHING),
    rows,
    columnOffset: 0,
    rotation: random.whole(0, request.shards),
    sampleOffset: 0,
    ...at,
  };
}

/** A stack of one to four features on one to three tables. */
export function generatedRequest(seed: number): CsrRequest {
  const random = new Random(seed);
  const shards = 2 ** random.whole(0, 6);
  const machine = { cores: random.pick([1, 2, 3, 8]), shards, samples: 0 };
  const features: CsrFeature[] = [];
  // Tables begin anywhere in the rows of the shards.
  const places = new Random(CASES + seed);
  let [sampleOffset, columnOffset] = [0, places.whole(0, 2 * shards)];
  for (let count = random.whole(1, 5); count > 0; count--) {
    const last = features.at(-1);
    // Sometimes a second feature on the same table.
    const isSame = last !== undefined && random.chance(0.3);
    const at = isSame ? { columnOffset: last.columnOffset, rotation: last.rotation } : { columnOffset };
    const made = feature(random, machine, { ...at, sampleOffset });
    const rows = isSame ? Math.min(made.rows, last.rows) : made.rows;
    features.push(isSame ? { ...made, rows: last.rows, values: made.values.map((id) => id % rows) } : made);
    sampleOffset += made.rowSplits.length - 1;
    if (!isSame) columnOffset += roundUp(made.rows, shards) + places.whole(0, shards);
  }
  const ids = features.reduce((sum, { values }) => sum + values.length, 0);
  const capacity = random.chance(0.3) ? roundUp(random.whole(0, ids + 8)) : roundUp(ids + 8 * machine.cores * shards);
  return { ...machine, features, samples: sampleOffset, capacity };
}

/** All numbers, floats as their bits. */
function bits(parts: CsrParts): Record<string, number[]> {
  const { rowPointers, sampleIds, tokenIds, gains, idCounts, uniqueIdCounts } = parts;
  const lists = {
    rowPointers,
    sampleIds,
    tokenIds,
    idCounts,
    uniqueIdCounts,
    gains: new Int32Array(gains.slice().buffer),
  };
  return Object.fromEntries(Object.entries(lists).map(([key, list]) => [key, [...list]]));
}

/** Two features of so many ids on each core that digits are wide, some of them twice in a sample. */
function largeRequest(seed: number): CsrRequest {
  const random = new Random(seed);
  const machine = { cores: 2, shards: random.pick([1, 8]), samples: 0 };
  const isWeighted = seed % 2 === 1;
  const sizes = [
    { rows: 30_000_000, hot: 60 },
    { rows: random.pick([5, 3000]), hot: 50 },
  ];
  const samples = 400;
  const features = sizes.map(({ rows, hot }, i): CsrFeature => {
    const values = Int32Array.from({ length: samples * hot }, () => Math.floor(rows * random.next() ** 3));
    for (let at = 1; at < values.length; at++)
      if (random.chance(0.1)) values[at] = values[at - random.pick([1, 1, 2, 7])] ?? 0;
    return {
      values,
      rowSplits: Int32Array.from({ length: samples + 1 }, (_, row) => row * hot),
      weights: isWeighted && i === 0 ? random.floats(values.length) : null,
      combiner: random.pick(WEIGHING),
      rows,
      // The second table comes first in the stack.
      columnOffset: i === 0 ? 4096 : 0,
      rotation: random.whole(0, machine.shards),
      sampleOffset: i * samples,
    };
  });
  return { ...machine, features, samples: 2 * samples, capacity: 2 ** 20 };
}

function outcome(run: () => CsrParts): unknown {
  try {
    return bits(run());
  } catch (error) {
    if (!(error instanceof CsrIdOutOfRange)) throw error;
    return { feature: error.feature, id: error.id, position: error.position, rows: error.rows };
  }
}

for (const name of ['native', 'wasm'] as const) {
  describe(`the ${name} kernel for CSR`, () => {
    let kernels: (KernelSet & Pick<ModelKernels, 'partitionCsr'>) | undefined;
    beforeAll(async () => {
      await emb.ready();
      kernels = namedKernelSet(name) as typeof kernels;
    });
    afterAll(() => kernels?.setThreads(1));

    it('equals the reference to the bit, for one thread and for several', () => {
      if (kernels === undefined) return skipOrFail(`no ${name} kernels`);
      for (let seed = 0; seed < CASES; seed++) {
        const request = generatedRequest(seed);
        kernels.setThreads(1 + (seed % 3));
        const expected = outcome(() => partitionCsr(request));
        expect(outcome(() => kernels!.partitionCsr(request)))
          .withContext(`seed ${seed}`)
          .toEqual(expected);
      }
    });

    it('equals the reference to the bit for tens of thousands of ids on a core', () => {
      if (kernels === undefined) return skipOrFail(`no ${name} kernels`);
      for (let seed = 0; seed < 6; seed++) {
        const request = largeRequest(seed);
        kernels.setThreads(1 + (seed % 3));
        const [expected, made] = [partitionCsr(request), kernels.partitionCsr(request)];
        expect(bits(made)).withContext(`seed ${seed}`).toEqual(bits(expected));
      }
    });

    it('finds the first id out of range of the first feature, as the reference does', () => {
      if (kernels === undefined) return skipOrFail(`no ${name} kernels`);
      let found = 0;
      for (let seed = 0; seed < CASES; seed++) {
        const random = new Random(seed);
        const request = generatedRequest(seed);
        for (const { values, rows } of request.features) {
          if (random.chance(0.5) && values.length > 0) {
            values[random.whole(0, values.length)] = random.pick([-1, rows, 2 ** 31 - 1, -(2 ** 31)]);
          }
        }
        const expected = outcome(() => partitionCsr(request));
        found += 'position' in (expected as object) ? 1 : 0;
        expect(outcome(() => kernels!.partitionCsr(request)))
          .withContext(`seed ${seed}`)
          .toEqual(expected);
      }
      expect(found).toBeGreaterThan(CASES / 4);
    });
  });
}

describe('countCsr', () => {
  const request = generatedRequest(3);
  const { cores, shards } = request;
  const parts = partitionCsr({ ...request, capacity: 2 ** 30 });
  const csr = { ...parts, cores, shards, samples: request.samples / cores };
  const rows = Math.max(...parts.tokenIds.filter((token) => token < 2 ** 31 - 1)) + 1;

  it('counts ids and runs as the kernels do', () => {
    expect(countCsr(csr, rows)).toEqual({ ids: parts.idCounts, runs: parts.uniqueIdCounts });
  });

  it('gives null for what would lead outside of the arrays', () => {
    const first = parts.tokenIds.findIndex((token) => token < 2 ** 31 - 1);
    const changed = (list: Int32Array, place: number, value: number): Int32Array => {
      const copy = list.slice();
      copy[place] = value;
      return copy;
    };
    const wrong: object[] = [
      { rowPointers: parts.rowPointers.subarray(1) },
      { rowPointers: changed(parts.rowPointers, parts.rowPointers.length - 1, parts.tokenIds.length + 1) },
      { rowPointers: changed(parts.rowPointers, 0, -1) },
      { gains: parts.gains.subarray(1) },
      { sampleIds: parts.sampleIds.subarray(1) },
      { tokenIds: changed(parts.tokenIds, first, rows) },
      { tokenIds: changed(parts.tokenIds, first, -1) },
      { sampleIds: changed(parts.sampleIds, first, csr.samples) },
      { sampleIds: changed(parts.sampleIds, first, -1) },
    ];
    wrong.forEach((change, i) =>
      expect(countCsr({ ...csr, ...change }, rows))
        .withContext(`${i}`)
        .toBeNull(),
    );
    expect(countCsr(csr, rows - 1)).toBeNull();
  });
});
