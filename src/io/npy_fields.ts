/** The fields of an `.npy` header, which is the literal of a Python dictionary with exactly three keys. */

export interface NpyFields {
  /** As written, quotes and all. */
  readonly descr: string;
  readonly isColumnMajor: boolean;
  readonly shape: readonly number[];
}

/** A header that is none: `message` says where it goes wrong. */
export class NpyHeaderError extends Error {}

const SPACE = /[ \t\r\n\f]*/y;
const STRING = /'[^'\\]*'|"[^"\\]*"/y;
const ORDER = /True|False/y;
/** Python 2 wrote long integers with an L. */
const SIZE = /(\d+)L?/y;

/** Reads a text once, from its start to its end; nothing is read twice, whatever the text holds. */
class Reader {
  #at = 0;

  constructor(private readonly text: string) {}

  fail(expected: string): never {
    throw new NpyHeaderError(`At character ${this.#at} of the header: expected ${expected}.`);
  }

  /** The next character that is no space; undefined at the end. */
  #next(): string | undefined {
    SPACE.lastIndex = this.#at;
    SPACE.exec(this.text);
    this.#at = SPACE.lastIndex;
    return this.text[this.#at];
  }

  /** What a sticky pattern finds here, or null. */
  find(pattern: RegExp): RegExpExecArray | null {
    this.#next();
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  /** Whether this character comes next; it is passed over. */
  skips(character: string): boolean {
    if (this.#next() !== character) return false;
    this.#at++;
    return true;
  }

  expect(character: string): void {
    if (!this.skips(character)) this.fail(character);
  }

  expectEnd(): void {
    if (this.#next() !== undefined) this.fail('the end');
  }

  /** A string, or anything between brackets that close. */
  descr(): string {
    const string = this.find(STRING);
    if (string !== null) return string[0];
    const start = this.#at;
    if (!this.skips('[') && !this.skips('(')) this.fail('a string or a list');
    for (let depth = 1; depth > 0;) {
      if (this.find(STRING) !== null) continue;
      const character = this.#next();
      if (character === undefined || `'"`.includes(character)) this.fail('the end of a list');
      if ('[('.includes(character)) depth++;
      if ('])'.includes(character)) depth--;
      this.#at++;
    }
    return this.text.slice(start, this.#at);
  }

  isColumnMajor(): boolean {
    const order = this.find(ORDER) ?? this.fail('True or False');
    return order[0] === 'True';
  }

  /** A tuple of sizes. */
  shape(): number[] {
    this.expect('(');
    const sizes: number[] = [];
    while (!this.skips(')')) {
      const size = this.find(SIZE) ?? this.fail('a whole number that is not negative');
      sizes.push(Number(size[1]));
      // One size without a comma is a number in brackets.
      if (this.skips(',')) continue;
      if (sizes.length === 1) this.fail('a comma');
      this.expect(')');
      break;
    }
    return sizes;
  }
}

/** Reads a header in time linear in its length. Throws NpyHeaderError where it is not one that NumPy writes. */
export function readNpyFields(text: string): NpyFields {
  const reader = new Reader(text);
  const fields: { -readonly [Name in keyof NpyFields]?: NpyFields[Name] } = {};
  const once = (name: keyof NpyFields, key: string): void => {
    if (fields[name] !== undefined) reader.fail(`${key} once`);
  };
  reader.expect('{');
  while (!reader.skips('}')) {
    const key = (reader.find(STRING) ?? reader.fail('a key'))[0].slice(1, -1);
    reader.expect(':');
    if (key === 'descr') {
      once('descr', key);
      fields.descr = reader.descr();
    } else if (key === 'fortran_order') {
      once('isColumnMajor', key);
      fields.isColumnMajor = reader.isColumnMajor();
    } else if (key === 'shape') {
      once('shape', key);
      fields.shape = reader.shape();
    } else reader.fail('descr, fortran_order or shape before it');
    if (reader.skips(',')) continue;
    reader.expect('}');
    break;
  }
  reader.expectEnd();
  const { descr, isColumnMajor, shape } = fields;
  if (descr === undefined || isColumnMajor === undefined || shape === undefined) {
    return reader.fail('descr, fortran_order and shape before it');
  }
  return { descr, isColumnMajor, shape };
}
