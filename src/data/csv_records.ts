/** Lines of CSV as lists of fields: a text that comes in pieces, cut at its lines and delimiters outside of quotes. */

/** How fields are parted and quoted. */
export interface CsvRules {
  readonly delimiter: string;
  /** Whether a field that begins with a quote ends with one; else quotes are characters like others. */
  readonly hasQuotes: boolean;
}

const QUOTE = '"';

/** Reads records of a text, which may still grow: what may go on in the next piece is left for later. */
export class CsvRecords {
  #text = '';
  #isLast = false;

  constructor(private readonly rules: CsvRules) {}

  /** Characters that wait for more. */
  get waiting(): number {
    return this.#text.length;
  }

  /**
   * The records that end within what has come so far; `isLast`: nothing more comes.
   *
   * @throws Error for a quote that is not closed, and for characters behind one that is.
   */
  take(piece: string, isLast: boolean): string[][] {
    this.#text += piece;
    this.#isLast = isLast;
    const { hasQuotes } = this.rules;
    const records: string[][] = [];
    let at = 0;
    let quote = hasQuotes ? this.#find(QUOTE, 0) : this.#text.length;
    while (at < this.#text.length) {
      const end = this.#lineEnd(at);
      if (quote < at) quote = this.#find(QUOTE, at);
      if (quote < end) {
        const record = this.#quotedRecord(at);
        if (record === null) break;
        records.push(record.fields);
        at = record.next;
        continue;
      }
      const next = this.#behindEnd(end);
      if (next === null) break;
      records.push(this.#text.slice(at, end).split(this.rules.delimiter));
      at = next;
    }
    this.#text = this.#text.slice(at);
    return records;
  }

  /** The place of a text from `from` on; the end of all where there is none. */
  #find(text: string, from: number): number {
    const found = this.#text.indexOf(text, from);
    return found < 0 ? this.#text.length : found;
  }

  /** Where the line ends that goes on at `from`. */
  #lineEnd(from: number): number {
    const ends = /[\r\n]/g;
    ends.lastIndex = from;
    return ends.exec(this.#text)?.index ?? this.#text.length;
  }

  /** Where the next line begins, behind \n, \r or both; null: that is known from the next piece. */
  #behindEnd(end: number): number | null {
    const { length } = this.#text;
    if (end === length) return this.#isLast ? end : null;
    if (this.#text[end] === '\n') return end + 1;
    if (end + 1 === length && !this.#isLast) return null;
    return this.#text[end + 1] === '\n' ? end + 2 : end + 1;
  }

  /** A record with a quote in it, from `start` on; null: it may go on in the next piece. */
  #quotedRecord(start: number): { fields: string[]; next: number } | null {
    const text = this.#text;
    const { delimiter } = this.rules;
    const fields: string[] = [];
    for (let at = start; ; at += delimiter.length) {
      if (text[at] === QUOTE) {
        const close = this.#closingQuote(at);
        if (close === null) return null;
        fields.push(text.slice(at + 1, close).replaceAll('""', QUOTE));
        at = close + 1;
      } else {
        const end = Math.min(this.#find(delimiter, at), this.#lineEnd(at));
        fields.push(text.slice(at, end));
        at = end;
      }
      if (text.startsWith(delimiter, at)) continue;
      const isEnd = at === text.length || text[at] === '\n' || text[at] === '\r';
      if (isEnd) {
        const next = this.#behindEnd(at);
        return next === null ? null : { fields, next };
      }
      // A delimiter of several characters may be cut.
      if (!this.#isLast && delimiter.startsWith(text.slice(at))) return null;
      throw new Error(`A quote is closed before ${JSON.stringify(text.slice(at, at + 10))}.`);
    }
  }

  /** The quote that ends a field whose first one lies at `open`; null: it may come with the next piece. */
  #closingQuote(open: number): number | null {
    const { length } = this.#text;
    for (let at = open + 1; ; at += 2) {
      at = this.#find(QUOTE, at);
      if (at === length) {
        if (this.#isLast) throw new Error('A quote is not closed.');
        return null;
      }
      // Two are one within the field.
      if (this.#text[at + 1] === QUOTE) continue;
      return at + 1 === length && !this.#isLast ? null : at;
    }
  }
}
