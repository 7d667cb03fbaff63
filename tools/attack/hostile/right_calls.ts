/** Right calls of every function of the addon, small. A spec compares their names with what the addon exports. */
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { fillInputs, type Fill } from '../../../src/backends/fill.js';
import { CODECS } from '../../../src/codecs/codecs.js';
import { HYPER_FIELDS } from '../../../src/rules/hyper.js';
import { KeyIndex } from '../../../src/tables/keys/key_index.js';
import { UPDATE_NAMES, slotArguments, slotShapes } from '../../../src/rules/rules.js';
import type { Random } from '../../../test/helpers/random.js';
import type { HostileArrays } from './arrays.js';
import type { Spoiler } from './spoiled_calls.js';

/** Fills by what the core calls them, less one. */
const FILLS: readonly Fill[] = [
  { kind: 'uniform', min: -1, max: 1, seed: 1 },
  { kind: 'normal', mean: 0, deviation: 1, seed: 1 },
  { kind: 'truncatedNormal', mean: 0, deviation: 1, seed: 1 },
];

/** Functions that attacks leave out, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  registerTensorFlow: 'takes no argument, and cannot be undone in the process',
  startServer: 'a server listens until the process ends',
};

/** The arguments of a right call, drawn anew, for each function. */
export type RightCalls = Readonly<Record<string, () => unknown[]>>;

/** `folder`: where folders may be exchanged. */
export function rightCalls(random: Random, arrays: HostileArrays, { spoil }: Spoiler, folder: string): RightCalls {
  const paths = ['a', 'b', 'nothing', 'x'.repeat(300), 'ä\u{1f600}', 'a\0b'].map((name) => join(folder, name));
  const none = (): unknown[] => [];
  const small = (): unknown[] => [random.whole(-2, 70)];

  const [FLOAT32, FLOAT16, INT8] = [0, 1, 2];
  /** Half of all tables are of words. */
  const anyCodec = (): number => (random.chance(0.5) ? FLOAT32 : random.pick([FLOAT16, INT8]));

  /** A file of 40,000 bytes, opened once: its descriptor, and what the addon reads it by. */
  const opened: { descriptor: number; file: object }[] = [];
  function rowFile(): { descriptor: number; file: object } {
    if (opened.length > 0) return opened[0]!;
    mkdirSync(folder, { recursive: true });
    const path = join(folder, 'rows');
    writeFileSync(path, new Uint8Array(40_000));
    const descriptor = openSync(path, 'r');
    opened.push({ descriptor, file: loadAddon().openRowFile(descriptor, path, 2, 1, 4096) });
    return opened[0]!;
  }
  /** Offsets of pieces, some of them beyond the file, and their bytes. */
  function readCall(): [offsets: Float64Array, bytes: number] {
    const bytes = random.whole(1, 300);
    const offsets = Float64Array.from({ length: random.whole(0, 20) }, () => random.whole(0, 41_000));
    return [offsets.sort(), bytes];
  }
  function jobCall(): unknown[] {
    const { file } = rowFile();
    const [offsets, bytes] = readCall();
    const job = loadAddon().startReads(file, offsets, bytes);
    return [file, job, random.chance(0.2) ? null : arrays.bytes(new Uint8Array(offsets.length * bytes))];
  }

  /** A table of a codec; words of any bits. */
  function tableOf(codec: number, rows: number, dim: number): unknown[] {
    if (codec === FLOAT32) return [arrays.floats(rows * dim), codec, rows, dim];
    const count = rows * CODECS[codec]!.words(dim);
    return [arrays.ints(Array.from({ length: count }, () => random.whole(-(2 ** 31), 2 ** 31))), codec, rows, dim];
  }

  /** Sizes and ids that the arguments of one call share. */
  function batch(codec: number) {
    const [rows, dim, bags] = [random.whole(1, 9), random.pick([1, 2, 3, 5, 16, 17, 40, 130]), random.whole(0, 6)];
    const splits = [0];
    for (let b = 0; b < bags; b++) splits.push(splits[b]! + random.whole(0, 5));
    const nnz = splits[bags]!;
    const id = (): number => (random.chance(0.03) ? random.pick([-1, rows, 2 ** 31 - 1]) : random.whole(0, rows));
    const values = arrays.ints(Array.from({ length: nnz }, id));
    const how = [random.whole(0, 3), random.whole(0, 2), random.chance(0.3) ? 0.5 : 0];
    const ids = (weights = random.chance(0.5) ? arrays.floats(nnz) : null): unknown[] => [
      ...[values, arrays.ints(splits), weights],
      ...how,
    ];
    const [table, gradient] = [tableOf(codec, rows, dim), arrays.floats(bags * dim)];
    return { codec, rows, dim, bags, nnz, ids, table, gradient };
  }

  /** Bytes, and offsets of texts in them. */
  function texts(count = random.whole(0, 9)): [bytes: Uint8Array, offsets: Int32Array] {
    const offsets = [random.whole(0, 3)];
    for (let i = 0; i < count; i++) offsets.push(offsets[i]! + random.whole(0, 20));
    const bytes = Array.from({ length: offsets[count]! }, () => random.whole(97, 100));
    return [arrays.bytes(bytes), arrays.ints(offsets)];
  }

  /** Slots that hold anything; often with room for `count`. */
  const slots = (count: number): Int32Array => {
    const capacity = random.chance(0.9) ? 2 ** Math.ceil(Math.log2(2 * count + 2)) : random.whole(0, 9);
    return arrays.ints(Array.from({ length: 4 * capacity }, () => random.whole(-3, 20)));
  };
  const numbers = (count: number): BigInt64Array =>
    BigInt64Array.from({ length: count }, () => BigInt(random.whole(-5, 5)));
  const key = (): BigInt64Array | null => (random.chance(0.5) ? null : numbers(2));

  function columnCall(name: string): unknown[] {
    const count = random.whole(0, 9);
    const found = new Int32Array(count);
    const [bytes, offsets] = texts(count);
    switch (name) {
      case 'indexTexts':
        return [bytes, offsets, slots(count)];
      case 'findTexts':
        return [texts()[0], slots(count), bytes, offsets, 0, found];
      case 'indexNumbers':
        return [numbers(count), numbers(2 * 2 ** Math.ceil(Math.log2(2 * count + 2)))];
      case 'findNumbers':
        return [numbers(2 * 2 ** random.whole(0, 5)), numbers(count), found];
      case 'hashTexts':
        return [bytes, offsets, 0, random.whole(1, 100), key(), found];
      case 'hashNumbers':
        return [numbers(count), random.whole(1, 100), key(), found];
      default:
        return [bytes, random.whole(97, 100), offsets];
    }
  }

  /** An index of a few keys, often with words that no index has, and keys that are sought in it. */
  function keyIndex(): [index: unknown[], keys: Int32Array] {
    const index = new KeyIndex(random.pick([1, 5, 40]));
    const words = (): number[] => [random.whole(0, 8), random.chance(0.1) ? -1 : 0];
    for (let n = random.whole(0, index.capacity); n > 0; n--) {
      const [low, high] = words() as [number, number];
      if (index.find(low, high) < 0) index.take(low, high);
    }
    const spoilt = (from: Int32Array): Int32Array => {
      const copy = arrays.ints(from);
      if (random.chance(0.3)) copy[random.whole(0, copy.length)] = random.whole(-(2 ** 31), 2 ** 31);
      return copy;
    };
    const keys = arrays.ints(Array.from({ length: random.whole(0, 150) }, words).flat());
    return [[spoilt(index.groups), spoilt(index.entries), index.shardCount], keys];
  }

  /** A table of any codec, and its width. */
  function tableOfAny(): [table: unknown[], dim: number] {
    const [rows, dim] = [random.whole(0, 12), random.pick([1, 2, 3, 8, 17, 40])];
    return [tableOf(anyCodec(), rows, dim), dim];
  }

  /** Ascending ids of each of `n` lists, with their splits. */
  function idLists(n: number, rows: number): unknown[] {
    const splits = [0];
    const values: number[] = [];
    for (let i = 0; i < n; i++) {
      for (let id = 0; id < rows; id++) if (random.chance(0.3)) values.push(id);
      splits.push(values.length);
    }
    return [arrays.ints(values), arrays.ints(splits)];
  }

  /** The optimizer, its slots, the gradient and the settings. */
  function stepOf({ codec, rows, dim, gradient }: ReturnType<typeof batch>): unknown[] {
    const optimizer = random.whole(0, UPDATE_NAMES.length);
    const update = UPDATE_NAMES[optimizer]!;
    const slots = slotArguments(
      slotShapes(update, [rows, dim]).map((shape) => arrays.floats(shape.reduce((a, b) => a * b, 1))),
      null,
    );
    const hyper = arrays.floats(HYPER_FIELDS.length);
    // The last four settings are keys of 16 bits.
    const keys = Array.from({ length: 4 }, () => (random.chance(0.02) ? 2 ** 16 : random.whole(0, 2 ** 16)));
    if (codec !== FLOAT32) hyper.set(keys, HYPER_FIELDS.length - keys.length);
    return [optimizer, ...slots, gradient, hyper];
  }

  function lookup(): unknown[] {
    const { table, ids, bags, dim } = batch(anyCodec());
    return [...table, ...ids(), arrays.floats(bags * dim)];
  }

  function step(): unknown[] {
    const drawn = batch(random.chance(0.03) ? INT8 : random.pick([FLOAT32, FLOAT16]));
    const starts = Array.from({ length: random.whole(0, 4) }, () => random.whole(0, drawn.bags + 1));
    const uses = random.chance(0.5) ? [arrays.ints(starts.sort((a, b) => a - b))] : [];
    return [...drawn.table, ...drawn.ids(), ...stepOf(drawn), ...uses];
  }

  /** Calls of one function, most of them right and of one optimizer. */
  function many(one: () => unknown[], isStep: boolean): unknown[] {
    const calls = Array.from({ length: random.whole(0, 4) }, one);
    const optimizer = calls[0]?.[10];
    const alike = isStep ? calls.filter((each) => each[10] === optimizer || random.chance(0.1)) : calls;
    for (const each of alike) {
      if (random.chance(0.15)) spoil(each);
      // Ids of a table may be those of another, as those of features often are.
      if (random.chance(0.2)) [each[4], each[5], each[6]] = [alike[0]![4], alike[0]![5], alike[0]![6]];
    }
    if (random.chance(0.05)) spoil(alike);
    return [alike];
  }

  /** Two matrices, or batches of them. */
  function product(): unknown[] {
    const [m, n, k] = [random.whole(0, 9), random.whole(0, 40), random.whole(0, 9)];
    const count = random.whole(0, 4);
    const [batchA, batchB] = [random.pick([1, count]), random.pick([1, count])];
    const bias = random.chance(0.5) ? arrays.floats(n) : null;
    const factors = [arrays.floats(batchA * m * k), arrays.floats(batchB * k * n), bias, arrays.floats(count * m * n)];
    return [...factors, count, batchA, batchB, m, n, k, random.whole(0, 2), random.whole(0, 2), random.whole(0, 2)];
  }

  /** Ids of one or two features on one or two tables. */
  function csr(): unknown[] {
    const [cores, shards] = [random.whole(1, 4), 2 ** random.whole(0, 5)];
    const features: number[] = [];
    const [values, splits, weights]: [unknown[], unknown[], unknown[]] = [[], [], []];
    let [nnz, samples, offset] = [0, 0, 0];
    for (let count = random.whole(0, 3); count > 0; count--) {
      const own = cores * random.whole(0, 3);
      const ends = [0];
      for (let sample = 0; sample < own; sample++) ends.push(ends[sample]! + random.whole(0, 5));
      const ids = Array.from({ length: ends[own]! }, () => random.whole(0, random.chance(0.03) ? 12 : 9));
      values.push(arrays.ints(ids));
      splits.push(arrays.ints(ends));
      weights.push(random.chance(0.5) ? arrays.floats(ids.length) : null);
      nnz += ids.length;
      features.push(own, random.whole(0, 3), 9, offset, random.whole(0, shards), samples);
      samples += own;
      offset += Math.ceil(9 / shards) * shards;
    }
    const most = Math.ceil((nnz + 7 * cores * shards) / 8) * 8;
    const capacity = random.chance(0.5) ? most : 8 * random.whole(0, 9);
    const slots = Math.min(most, capacity);
    const ints = (length: number): Int32Array => arrays.ints(new Array<number>(length).fill(0));
    // A list is now and then as hostile as any other argument.
    for (const list of [values, splits, weights]) if (random.chance(0.1)) spoil(list);
    const room = [ints(cores * Math.ceil(shards / 8) * 8), ints(slots), ints(slots), arrays.floats(slots)];
    const counts = [ints(cores * shards), ints(cores * shards)];
    return [values, splits, weights, arrays.ints(features), cores, shards, samples, capacity, ...room, ...counts];
  }

  /** A GraphDef of two nodes, mostly whole. */
  function graph(): unknown[] {
    const node = (name: string, op: string): number[] => {
      const text = (tag: number, of: string): number[] => [tag, of.length, ...Buffer.from(of)];
      // attr: {key: "dtype" and "shape", value: {type: DT_FLOAT}}
      const attr = [0x2a, 11, ...text(0x0a, 'dtype'), 0x12, 2, 0x30, 1];
      const body = [...text(0x0a, name), ...text(0x12, op), ...(op === 'Placeholder' ? attr : [])];
      return [0x0a, body.length, ...body];
    };
    const ops = ['Placeholder', 'NoOp', 'NotAnOp'];
    const bytes = [...node('x', 'Placeholder'), ...node('y', random.pick(ops))];
    if (random.chance(0.3)) bytes[random.whole(0, bytes.length)] = random.whole(0, 256);
    if (random.chance(0.1)) bytes.length = random.whole(0, bytes.length);
    const names = (): string =>
      random.pick(['', 'x:0\n', 'y\n', 'x:0\nx:0\n', 'z:0\n', 'x:7\n', 'x:-1\n', 'x', '\n\n']);
    return [arrays.bytes(bytes), names(), names(), random.pick(['', 'y\n', 'x\n', 'q\n'])];
  }

  /** Two runs, of feeds that nothing is there for: without a session they are read and no more. */
  function runs(): unknown[] {
    const run = (): unknown[] => {
      const fed = [arrays.floats(random.whole(0, 9)), arrays.ints([1, 2, 3]), ['a', 'b']].slice(random.whole(0, 4));
      const shapes = fed.flatMap((value) => [1, value.length]);
      const halves = fed.map((value) => (value instanceof Float32Array ? random.whole(0, 2) : 0));
      const [options, names] = [arrays.bytes([16, random.whole(0, 100)]), fed.map((_, i) => `x${i}:0\n`).join('')];
      return [options, names, fed, arrays.ints(shapes), arrays.bytes(halves), 'y\n', random.pick(['', 'z\n'])];
    };
    const list = [run(), run()];
    for (const each of list) if (random.chance(0.3)) spoil(each);
    return [random.whole(0, 3), list];
  }

  function session(): unknown[] {
    const [definition] = graph();
    const config = arrays.bytes(random.pick([[], [88, 100], [255]]));
    return [random.pick(['grpc://127.0.0.1:1', 'grpc://', '']), config, definition, '127.0.0.1', random.whole(0, 4)];
  }

  function shared(): unknown[] {
    const { rows, dim, table } = batch(FLOAT32);
    return [random.whole(0, 4), random.whole(0, 3), dim, rows, dim, table[0]];
  }

  return {
    embeddingBag: lookup,
    embeddingBagGrad: () => {
      const { gradient, table, ids } = batch(random.chance(0.05) ? FLOAT16 : FLOAT32);
      return [gradient, ...table, ...ids()];
    },
    embeddingBagWeightsGrad: () => {
      const { gradient, table, ids, nnz } = batch(anyCodec());
      return [...table, ...ids(arrays.floats(nnz)), gradient, arrays.floats(nnz)];
    },
    sparseApply: step,
    embeddingBags: () => many(lookup, false),
    sparseApplyMany: () => many(step, true),
    matMul: product,
    topK: () => {
      const [table, dim] = tableOfAny();
      const [n, k] = [random.whole(0, 5), random.whole(1, 7)];
      const lists = (): unknown[] => (random.chance(0.5) ? [null, null] : idLists(n, table[2] as number));
      const found = [arrays.floats(n * k), arrays.ints(Array.from({ length: n * k }, () => -1))];
      return [...table, random.whole(0, 3), arrays.floats(n * dim), n, k, ...lists(), ...lists(), ...found];
    },
    scanLists: () => {
      const [table, dim] = tableOfAny();
      const [rows, n, k, lists] = [table[2] as number, random.whole(0, 5), random.whole(1, 7), random.whole(0, 4)];
      const starts = Array.from({ length: lists }, () => random.whole(0, rows + 1));
      const ends = starts.map((start) => random.whole(start, rows + 1));
      const exclude = random.chance(0.5) ? [null, null] : idLists(n, rows);
      const found = [arrays.floats(n * k), arrays.ints(Array.from({ length: n * k }, () => -1))];
      const ids = arrays.ints(Array.from({ length: rows }, (_, row) => 3 * row));
      const looked = [arrays.ints(starts), arrays.ints(ends), ...idLists(lists, n)];
      return [...table, ids, ...looked, arrays.floats(n * dim), n, k, ...exclude, ...found];
    },
    rankRows: () => {
      const [rows, dim] = [random.whole(1, 12), random.pick([1, 3, 8, 17, 40])];
      const [n, m, k] = [random.whole(0, 5), random.whole(0, 6), random.whole(1, 7)];
      const ids = random.chance(0.5) ? null : arrays.ints(Array.from({ length: rows }, (_, row) => 3 * row));
      const candidates = arrays.ints(Array.from({ length: n * m }, () => random.whole(-1, rows)));
      const found = [arrays.floats(n * k), arrays.ints(new Array<number>(n * k).fill(0))];
      const table = tableOf(random.pick([FLOAT32, INT8]), rows, dim);
      return [...table, ids, arrays.floats(n * dim), n, candidates, m, k, ...found];
    },
    foldIn: () => {
      const [table, dim] = tableOfAny();
      const users = random.whole(0, 5);
      const [values, splits] = idLists(users, table[2] as number) as [Int32Array, Int32Array];
      const weights = random.chance(0.5) ? null : arrays.floats(values.length);
      const gram = random.chance(0.5) ? null : arrays.floats(dim * dim);
      return [...table, values, splits, weights, random.pick([0.1, 1]), gram, arrays.floats(users * dim)];
    },
    partitionCsr: csr,
    indexTexts: () => columnCall('indexTexts'),
    findTexts: () => columnCall('findTexts'),
    indexNumbers: () => columnCall('indexNumbers'),
    findNumbers: () => columnCall('findNumbers'),
    hashTexts: () => columnCall('hashTexts'),
    hashNumbers: () => columnCall('hashNumbers'),
    splitTexts: () => columnCall('splitTexts'),
    fingerprintTexts: () => {
      const [bytes, offsets] = texts();
      return [bytes, offsets, new Int32Array(2 * (offsets.length - 1))];
    },
    findKeys: () => {
      const [index, keys] = keyIndex();
      return [...index, keys, random.whole(-2, 3), new Int32Array(keys.length / 2)];
    },
    touchKeys: () => {
      const [index, keys] = keyIndex();
      const [found, before] = [new Int32Array(keys.length / 2), new Int32Array((keys.length / 2) * 3)];
      return [...index, keys, random.whole(0, 3), random.whole(-2, 3), found, before];
    },
    lowestRows: () => {
      const [[, entries]] = keyIndex() as [[unknown, Int32Array], unknown];
      const used = random.whole(0, entries.length / 4 + 1);
      const rows = new Int32Array(random.whole(0, 50));
      return [entries, 1, 0, used, random.whole(0, 3), random.pick([2, 3]), rows, new Int32Array(3 * used)];
    },
    fillKeyedRows: () => {
      const [kind, count, columns] = [random.whole(1, 4), random.whole(0, 5), random.whole(1, 40)];
      const { numbers, quantiles } = fillInputs(FILLS[kind - 1]!);
      const words = (length: number): Int32Array => Int32Array.from({ length }, () => random.whole(-5, 5));
      return [kind, numbers, quantiles, words(2), words(2 * count), columns, new Float32Array(count * columns)];
    },
    extendCrc32c: () => {
      const bytes = arrays.bytes(Array.from({ length: random.whole(0, 300) }, () => random.whole(0, 256)));
      const before = random.pick([0, 1, 2 ** 31, 2 ** 32 - 1, random.whole(0, 2 ** 30)]);
      return [before, bytes.subarray(random.whole(0, bytes.length + 1))];
    },
    exchangeFolders: () => {
      for (const path of paths.slice(0, 2)) mkdirSync(path, { recursive: true });
      return [random.pick(paths), random.pick(paths)];
    },
    openRowFile: () => {
      const { descriptor } = rowFile();
      return [descriptor, join(folder, 'rows'), random.whole(1, 4), random.whole(0, 2), random.whole(1, 5000)];
    },
    rowFileIsDirect: () => [rowFile().file],
    startReads: () => [rowFile().file, ...readCall()],
    finishReads: jobCall,
    // The one that others are given stays open.
    closeRowFile: () => [loadAddon().openRowFile(rowFile().descriptor, join(folder, 'rows'), 1, 0, 1)],
    findSlots: () => {
      const [size, count, capacity] = [2 ** random.whole(1, 7), random.whole(0, 90), random.whole(1, 40)];
      const words = (length: number, most: number): Int32Array =>
        arrays.ints(Array.from({ length }, () => random.whole(-1, most)));
      const used = 4 * random.whole(1, 9);
      return [words(2 * size, capacity + 3), words(capacity, 40), used, words(count, 60), words(count, 1), words(2, 1)];
    },
    buildGraph: graph,
    unsizedPlace: () => [graph()[0], random.pick(['', 'x:0\n', 'x:9\n', '\n'])],
    releaseGraph: small,
    graphCount: none,
    openSession: session,
    extendSession: () => [random.whole(0, 3), graph()[0], random.pick(['', 'x:0\n', 'x:9\n', '\n'])],
    closeSession: small,
    sessionInfo: none,
    kernelsAtWork: none,
    startRuns: runs,
    runsAreDone: small,
    finishRuns: () => [random.whole(0, 3), random.pick([null, [[arrays.floats(3), null]], [[arrays.ints([1])], []]])],
    finishRunsAsync: small,
    forgetRuns: small,
    readSharedTensor: shared,
    writeSharedTensor: shared,
    releaseSharedTensor: small,
    newSharedTensorKey: none,
    sharedTensorRegistry: none,
    tableOffset: () => [new ArrayBuffer(random.pick([0, 64, 2 ** 16, 2 ** 22])), random.whole(0, 2 ** 17)],
    setThreads: small,
    getThreads: none,
    setOwnThreads: small,
    watchExit: () => [new Int32Array(new SharedArrayBuffer(16)), random.whole(0, 5)],
    instructionSet: none,
    hyperFields: none,
  };
}
