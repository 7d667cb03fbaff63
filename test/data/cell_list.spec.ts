/** Lists within cells: literals of JSON and Python are read as such, all else is cut at separators. */
import { listOf, literalList } from '../../src/data/cell_list.js';
import { Random } from '../helpers/random.js';

const PARTS = ['a', ' ', ',', '|', ';', '"', "'", '\\', '\n', '\t', 'é', '𝄞', '[', ']', '(', ')', '{', '0', '\u0001'];

/** As Python prints a text: in the quotes that it does not hold. */
function repr(text: string, isAscii: boolean): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = Array.from(text, (each) => {
    const code = each.codePointAt(0)!;
    if (each === quote || each === '\\') return `\\${each}`;
    if (each === '\n' || each === '\t') return each === '\n' ? '\\n' : '\\t';
    if (code < 32) return `\\x${code.toString(16).padStart(2, '0')}`;
    if (!isAscii || code < 127) return each;
    if (code < 256) return `\\x${code.toString(16)}`;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
  return quote + inside.join('') + quote;
}

const escapedJson = (texts: readonly string[]): string =>
  JSON.stringify(texts).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

describe('lists in cells', () => {
  it('are the texts that JSON and Python printed', () => {
    for (let seed = 0; seed < 200; seed++) {
      const random = new Random(seed);
      const text = (): string =>
        Array.from({ length: random.whole(0, 5) }, () => PARTS[random.whole(0, PARTS.length - 1)]!).join('');
      const texts = Array.from({ length: random.whole(0, 4) }, text);
      const cells = [
        JSON.stringify(texts),
        JSON.stringify(texts, null, 1),
        escapedJson(texts),
        `[${texts.map((each) => repr(each, false)).join(', ')}]`,
        `[${texts.map((each) => repr(each, true)).join(',')}${texts.length > 0 ? ',' : ''}]`,
        ` [ ${texts.map((each) => repr(each, false)).join(' , ')} ] `,
      ];
      for (const cell of cells) {
        expect(literalList(cell)).withContext(cell).toEqual(texts);
        expect(listOf(cell, false, '/'))
          .withContext(cell)
          .toEqual(texts);
      }
    }
  });

  it('are numbers and words as they stand, and nothing for null and None', () => {
    expect(literalList('[1, -2.5, 1e-3, +7]')).toEqual(['1', '-2.5', '1e-3', '+7']);
    expect(literalList('[9007199254740993]')).toEqual(['9007199254740993']);
    expect(literalList('[null, None, true, False, NaN, -Infinity]')).toEqual([null, null, 'true', 'False', 'NaN', '-Infinity']); // prettier-ignore
    expect(literalList('[]')).toEqual([]);
    expect(literalList(' [ ] ')).toEqual([]);
    expect(
      literalList(String.raw`["a\/b", "a\
b"]`),
    ).toEqual(['a/b', 'ab']);
  });

  it('are texts of their own where a cell is no list', () => {
    const whole = [
      '(no genres listed)',
      '(500) Days of Summer (2009)',
      '[Deleted video]',
      "['a' 'b']",
      "['a'",
      "[u'a']",
    ];
    for (const cell of [
      ...whole,
      '[[1]]',
      '{"a"}',
      '"Weird Al"',
      "['a]",
      String.raw`['\q']`,
      String.raw`['\UFFFFFFFF']`,
      '[1 2]',
      '[a]',
      '[,]',
    ]) {
      expect(literalList(cell)).withContext(cell).toBeNull();
      expect(listOf(cell, false, null))
        .withContext(cell)
        .toEqual(cell === '[,]' ? ['[', ']'] : [cell]);
    }
    expect(listOf("['a'], ['b']", false, null)).toEqual(["['a']", "['b']"]);
    expect(listOf('Action|Sci-Fi; x , y', false, null)).toEqual(['Action', 'Sci-Fi', 'x', 'y']);
    expect(listOf('a b/c|d', false, '/')).toEqual(['a b', 'c|d']);
    expect(listOf('', false, null)).toEqual([]);
  });

  it('of numbers may lie in any brackets', () => {
    const plain = ['10 2 345', '[10 2 345]', '(10, 2, 345)', '{10;2|345}', '[10, 2, 345]', ' 10,2,,345 '];
    const quoted = ['["10", \'2\', 345]', '("10" \'2\' "345")', '"10"|2|345'];
    for (const cell of [...plain, ...quoted]) {
      expect(listOf(cell, true, null))
        .withContext(cell)
        .toEqual(['10', '2', '345']);
    }
    expect(listOf('1/2', true, '/')).toEqual(['1', '2']);
  });
});
