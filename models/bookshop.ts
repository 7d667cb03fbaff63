/** A made-up bookshop: who finished which book, drawn from tastes that a model can find. */
import type * as emb from 'tfjs-embeddings';
import { Random } from './random.js';

const SHELVES = ['Crime', 'Travel', 'Poetry', 'Science', 'Cooking', 'History', 'Fantasy', 'Gardening'] as const;
const FIRST = [
  'Silent',
  'Last',
  'Hidden',
  'Blue',
  'Distant',
  'Second',
  'Open',
  'Slow',
  'Golden',
  'Small',
  'Winter',
  'Lost',
];
const SECOND = [
  'Harbour',
  'Garden',
  'Letter',
  'River',
  'Kitchen',
  'Orbit',
  'Castle',
  'Map',
  'Season',
  'Voice',
  'Stone',
  'Light',
];
const READERS = 600;
const BOOKS_OF_SHELF = 40;
const ROWS = 40_000;
/** Share of rows whose book is from a shelf that the reader likes. */
const CHOSEN = 0.5;

export const MADE_UP = 'The made-up bookshop';

/** The shelf of a book, by its title: the groups of the map. */
export const shelfOf = (title: string): string => /\((\w+)\)$/.exec(title)?.[1] ?? '';

interface Reader {
  readonly name: string;
  readonly age: number;
  /** The two shelves that it likes. */
  readonly likes: readonly [number, number];
}

/** Older readers like shelves further along the wall. */
function readersOf(random: Random): Reader[] {
  return Array.from({ length: READERS }, (_, i) => {
    const age = 16 + random.below(65);
    const near = Math.floor(((age - 16) / 65) * SHELVES.length);
    const first = (near + random.below(3)) % SHELVES.length;
    return { name: `reader ${i + 1}`, age, likes: [first, random.below(SHELVES.length)] };
  });
}

function titlesOf(): string[] {
  return SHELVES.flatMap((shelf, s) =>
    Array.from({ length: BOOKS_OF_SHELF }, (_, i) => {
      const [first, second] = [FIRST[(i + s) % FIRST.length]!, SECOND[(5 * i + 7 * s) % SECOND.length]!];
      return `The ${first} ${second}${i < 12 ? '' : ` ${1 + Math.floor(i / 12)}`} (${shelf})`;
    }),
  );
}

/** Columns by name; a row is a book that a reader began. */
export interface MadeUpRows {
  readonly [column: string]: readonly (string | number | readonly string[])[];
}

/** The same rows for the same seed. */
export function makeUp(seed: number): MadeUpRows {
  const random = new Random(seed);
  const [readers, titles] = [readersOf(random), titlesOf()];
  // Some books are better than others of their shelf.
  const quality = titles.map(() => 0.7 * random.normal());
  const [reader, age, shelves, weekday, book, finished]: (string | number | string[])[][] = [[], [], [], [], [], []];
  const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
  for (let row = 0; row < ROWS; row++) {
    const who = readers[random.below(READERS)]!;
    const shelf = random.next() < CHOSEN ? who.likes[random.below(2)]! : random.below(SHELVES.length);
    const title = shelf * BOOKS_OF_SHELF + random.below(BOOKS_OF_SHELF);
    const logit = (who.likes.includes(shelf) ? 1.8 : -1.8) + quality[title]!;
    reader!.push(who.name);
    age!.push(who.age);
    // What a reader says of itself is right most of the time.
    shelves!.push(who.likes.filter(() => random.next() < 0.8).map((liked) => SHELVES[liked]!));
    weekday!.push(days[random.below(7)]!);
    book!.push(titles[title]!);
    finished!.push(random.next() < 1 / (1 + Math.exp(-logit)) ? 1 : 0);
  }
  return {
    reader: reader!,
    age: age!,
    shelves: shelves!,
    weekday: weekday!,
    book: book!,
    finished: finished!,
  } as MadeUpRows;
}

/** Types as a file would tell them. */
export const MADE_UP_TYPES: Readonly<Record<string, emb.data.ColumnType>> = {
  reader: 'string',
  age: 'int',
  shelves: { list: 'string' },
  weekday: 'string',
  book: 'string',
  finished: 'int',
};
