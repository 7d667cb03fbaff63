import { NUMBER } from '../../src/data/raw_column.js';

/** Every text of these characters up to a length. */
function* texts(characters: string, length: number, head = ''): Generator<string> {
  yield head;
  if (length > 0) for (const character of characters) yield* texts(characters, length - 1, head + character);
}

describe('numbers in cells of text', () => {
  it('are those that JavaScript reads of digits, signs, points and exponents', () => {
    const differing = [...texts('1+.e', 6)].filter(
      (text) => NUMBER.test(text) !== (text !== '' && !Number.isNaN(Number(text))),
    );
    expect(differing).toEqual([]);
    expect(['-1', '1E-5', '0x1', ' 1', '1 ', 'Infinity', '1_0', '1n'].filter((text) => NUMBER.test(text))).toEqual([
      '-1',
      '1E-5',
    ]);
  });
});
