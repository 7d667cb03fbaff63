/**
 * Lookups and hashes of columns: one JSON line per case, in millions of values a second of one core.
 *   node --import tsx tools/bench/preprocessing.ts [--vocabulary 1000000] [--rows 1000000] [--repeats 7]
 * Strings of JavaScript run beside a loop over a Map, in turns; every round has strings of its own, as parsers make them.
 */
import '../../src/node.js';
import { utf8ColumnOf } from '../../src/preprocessing/columns/utf8_column.js';
import { Hashing, IntegerLookup, StringLookup } from '../../src/preprocessing/index.js';
import { Random } from '../../test/helpers/random.js';
import { Load, median, printLine } from './stopwatch.js';

function option(name: string, byDefault: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? byDefault : Number(process.argv[at + 1]);
}
const [vocabularySize, rows, repeats] = [option('vocabulary', 1e6), option('rows', 1e6), option('repeats', 7)];

const random = new Random(7);
const word = (i: number): string => `user_${((i * 7919) % 1e7).toString(36)}_${i % 10}`;
const words = Array.from({ length: vocabularySize }, (_, i) => word(i));
const numbers = Array.from({ length: vocabularySize }, (_, i) => i * 1_000_003);
/** Nine of ten are known. */
const drawn = (): number => random.whole(0, Math.round(vocabularySize * 1.1));
const draw = <T>(make: (i: number) => T): T[] => Array.from({ length: rows }, () => make(drawn()));
/** Strings that nothing has hashed before. */
const fresh = (): string[] => draw((i) => Buffer.from(word(i)).toString('latin1'));

const strings = new StringLookup({ vocabulary: words });
const integers = new IntegerLookup({ vocabulary: numbers });
const hashing = new Hashing({ numBins: 2 ** 20 });
const salted = new Hashing({ numBins: 2 ** 20, salt: [1, 2] });
const places = new Map(words.map((text, i) => [text, i + 1]));

function byMap(texts: readonly string[]): Int32Array {
  const ids = new Int32Array(texts.length);
  for (let i = 0; i < texts.length; i++) ids[i] = places.get(texts[i]!) ?? 0;
  return ids;
}

/** Seconds of processors that this process has used: other programs do not count. */
function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Times several ways in turns; each round makes data anew. */
function compare<T>(what: string, make: () => T, ways: Readonly<Record<string, (data: T) => Int32Array>>): void {
  const rates = new Map(Object.keys(ways).map((name) => [name, [] as number[]]));
  const load = new Load();
  for (let round = -1; round < repeats; round++) {
    for (const [name, run] of Object.entries(ways)) {
      const data = make();
      const from = processorSeconds();
      run(data);
      if (round >= 0) rates.get(name)!.push(rows / (processorSeconds() - from) / 1e6);
    }
  }
  const otherCpu = load.ofOthers();
  const of = (pick: (all: readonly number[]) => number): Record<string, number> =>
    Object.fromEntries([...rates].map(([name, all]) => [name, pick(all)]));
  const { ours, map } = of(median);
  const best = of((all) => Math.max(...all));
  const millionsASecond = { ours, ...(map === undefined ? {} : { map, timesMap: ours! / map }) };
  printLine({ what, vocabulary: vocabularySize, rows, millionsASecond, best, otherCpu });
}

const column = utf8ColumnOf(fresh())!;
const int64 = BigInt64Array.from(draw((i) => BigInt(i * 1_000_003)));
compare('StringLookup, UTF-8 column', () => column, { ours: (data) => strings.apply(data) });
compare('IntegerLookup, int64 column', () => int64, { ours: (data) => integers.apply(data) });
compare('Hashing, UTF-8 column', () => column, { ours: (data) => hashing.apply(data) });
compare('Hashing with a salt, UTF-8 column', () => column, { ours: (data) => salted.apply(data) });
compare('Hashing, int64 column', () => int64, { ours: (data) => hashing.apply(data) });
compare('StringLookup, strings of JavaScript', fresh, {
  ours: (data) => Int32Array.from(strings.apply(data)),
  map: byMap,
});
