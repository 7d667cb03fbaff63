/** Lines of text: where they end, and how columns stand. */
import { TABLE_WIDTH, TEXT_WIDTH, textTable, wrapped } from '../../src/report/text_lines.js';

const x = (count: number): string => 'x'.repeat(count);

describe('Lines of text', () => {
  it('hold as many words as fit', () => {
    const [first, rest] = [x(TEXT_WIDTH - 5), x(4)];
    expect(wrapped(`${first} ${rest}`)).toEqual([`${first} ${rest}`]);
    expect(wrapped(`${first}x ${rest}`)).toEqual([`${first}x`, `  ${rest}`]);
    expect(wrapped(`${first}x ${rest} a`, '- ')).toEqual([`${first}x`, `- ${rest} a`]);
    expect(wrapped('')).toEqual(['']);
  });

  it('cut words that are longer than a line', () => {
    const most = TEXT_WIDTH - 2;
    expect(wrapped(x(most))).toEqual([x(most)]);
    expect(wrapped(x(most + 2))).toEqual([x(most), '  xx']);
    expect(wrapped(x(TEXT_WIDTH + 3), '')).toEqual([x(TEXT_WIDTH), 'xxx']);
    // Behind the last mark that fits.
    expect(wrapped(`${x(60)}/${x(40)}/${x(40)}`)).toEqual([`${x(60)}/${x(40)}/`, `  ${x(40)}`]);
    expect(wrapped(`${x(most - 1)}/${x(9)}`)).toEqual([`${x(most - 1)}/`, `  ${x(9)}`]);
    // A mark in the first half would leave too much empty.
    expect(wrapped(`${x(56)}/${x(90)}`)).toEqual([`${x(56)}/${x(57)}`, `  ${x(33)}`]);
    expect(wrapped(`${x(57)}/${x(90)}`)).toEqual([`${x(57)}/`, `  ${x(90)}`]);
  });

  it('hold no marks that would spoil them', () => {
    expect(wrapped('a\nb\u2028c\u202ed')).toEqual(['a b c d']);
  });
});

describe('Tables of text', () => {
  it('have columns as wide as their longest cell, to the right unless told otherwise', () => {
    const lines = textTable([['a', 'name', 'n'], ['1', 'x', '100'], ['20', 'yyyyy', '3']], { left: [1] }); // prettier-ignore
    expect(lines).toEqual([' a  name     n', ' 1  x      100', '20  yyyyy    3']);
  });

  it('let cells go on below', () => {
    const lines = textTable([['a', 'b'], ['one_two_three', '1']], { left: [0], most: { 0: 8 } }); // prettier-ignore
    expect(lines).toEqual(['a         b', 'one_two_  1', 'three']);
  });

  it('give a column without a limit what the others leave', () => {
    const cell = x(200);
    const [, first, second] = textTable([['a', 'b'], [x(30), cell]], { left: [0, 1], most: { 1: Infinity } }); // prettier-ignore
    expect(first).toBe(`${x(30)}  ${x(TABLE_WIDTH - 32)}`);
    expect(second!.trimStart().length).toBe(TABLE_WIDTH - 32);
    // At least 20.
    const narrow = textTable([['a', 'b'], [x(115), x(25)]], { left: [0, 1], most: { 1: Infinity } }); // prettier-ignore
    expect(narrow[1]).toBe(`${x(115)}  ${x(20)}`);
    expect(textTable([['a', 'b'], ['c', x(30)]], { left: [0], most: { 1: Infinity } })[1]).toBe(`c  ${x(30)}`); // prettier-ignore
  });
});
