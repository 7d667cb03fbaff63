import { expressionOf } from '../../../src/formats/graph_models/regular_expressions.js';
import * as emb from '../../../src/node.js';

/** What RE2 makes of a text in which `_` takes the place of all that a pattern matches. */
const REPLACED: readonly [pattern: string, text: string, result: string][] = [
  ['[a-c]+', 'abzc', '_z_'],
  ['\\s', 'a\u00a0b c\vd', 'a\u00a0b_c\vd'],
  ['[\\s,]+', 'a, b', 'a_b'],
  ['\\S+', 'ab c', '_ _'],
  ['\\-\\!\\"', 'a-!"b', 'a_b'],
  ['[\\-\\!]', 'a-b!', 'a_b_'],
  ['\\\\s', 'a\\s s', 'a_ s'],
  ['^a|b$', 'aab', '_a_'],
];

describe('regular expressions of graphs', () => {
  for (const [pattern, text, result] of REPLACED) {
    it(`match what RE2 matches: ${pattern}`, () => {
      expect(text.replace(expressionOf(pattern, true), '_')).toBe(result);
    });
  }

  it('replace once where they are not global', () => {
    expect('aa'.replace(expressionOf('a', false), '_')).toBe('_a');
  });

  for (const pattern of ['[[:alpha:]]', '(?i)a', '(?P<x>a)', '\\pN', '\\Qa', '\\x{41}', 'a++', '[\\S]', '[]a]', '(']) {
    it(`are refused where JavaScript reads them otherwise: ${pattern}`, () => {
      expect(() => expressionOf(pattern, true)).toThrowError(emb.ValueError, /`pattern`/);
    });
  }
});
