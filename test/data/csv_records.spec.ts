/** Records of CSV, whatever the pieces that the text comes in. */
import { CsvRecords } from '../../src/data/csv_records.js';
import { Random } from '../helpers/random.js';

const ENDS = ['\n', '\r\n', '\r'];
const PARTS = ['a', '1.5', ' ', '"', '""', '\n', '\r\n', '\r', ',', ';;', 'é𝄞', '[1', "'", '\t', '#'];

/** Fields of characters that mean something, one at least in the last field, so that no line is empty. */
function fieldsOf(random: Random, width: number): string[] {
  return Array.from({ length: width }, (_, i) =>
    Array.from({ length: random.whole(i === 0 ? 1 : 0, 4) }, () => PARTS[random.whole(0, PARTS.length - 1)]!).join(''),
  );
}

/** The records of a text that comes in these pieces. */
function recordsOf(pieces: readonly string[], delimiter: string, hasQuotes = true): string[][] {
  const records = new CsvRecords({ delimiter, hasQuotes });
  const all = pieces.flatMap((piece) => records.take(piece, false));
  all.push(...records.take('', true));
  expect(records.waiting).toBe(0);
  return all;
}

function cut(text: string, random: Random, longest: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const length = random.whole(1, longest);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

describe('records of CSV', () => {
  it('are the fields that were written, however lines end and pieces are cut', () => {
    for (let seed = 0; seed < 60; seed++) {
      const random = new Random(seed);
      const delimiter = [',', ';', '\t', ';;', ' | '][seed % 5]!;
      const width = random.whole(1, 4);
      const written = Array.from({ length: random.whole(0, 12) }, () => fieldsOf(random, width));
      let text = '';
      written.forEach((fields, row) => {
        const isSpecial = (field: string): boolean => /["\r\n]/.test(field) || field.includes(delimiter[0]!);
        const line = fields.map((field) => {
          const isQuoted = isSpecial(field) || random.chance(0.2);
          return isQuoted ? `"${field.replaceAll('"', '""')}"` : field;
        });
        // The ends of one text differ, and the last line may have none.
        const hasEnd = row + 1 < written.length || random.chance(0.5);
        text += line.join(delimiter) + (hasEnd ? ENDS[random.whole(0, 2)]! : '');
      });
      for (const longest of [1, 2, 7, 1000]) {
        expect(recordsOf(cut(text, random, longest), delimiter))
          .withContext(JSON.stringify(text))
          .toEqual(written);
      }
    }
  });

  it('have quotes as characters within a field, and everywhere without quoting', () => {
    expect(recordsOf(['a 5" pipe,b\n'], ',')).toEqual([['a 5" pipe', 'b']]);
    const text = '"a,"b""\n"';
    for (const pieces of [[text], [...text]]) expect(recordsOf(pieces, ',', false)).toEqual([['"a', '"b""'], ['"']]);
    expect(recordsOf(['\n\r\n\r'], ',')).toEqual([[''], [''], ['']]);
    expect(recordsOf([''], ',')).toEqual([]);
    expect(recordsOf(['""'], ',')).toEqual([['']]);
  });

  it('are refused where a quote is not closed, or closed before the end of its field', () => {
    for (const text of ['a,"b', '"', '"a""', '"a\nb,c\n']) {
      expect(() => recordsOf([...text], ','))
        .withContext(text)
        .toThrowError(/not closed/);
    }
    for (const text of ['"a"b,c', '"a" ,b', 'x,"a"""b"\n', '"a";b']) {
      expect(() => recordsOf([...text], ','))
        .withContext(text)
        .toThrowError(/closed before/);
      expect(() => recordsOf([text], ','))
        .withContext(text)
        .toThrowError(/closed before/);
    }
  });
});
