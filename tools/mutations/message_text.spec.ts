/** Only prose of messages is spared from mutation; what decides anything is not. */
import { messagesOf } from './message_text.js';

/** The strings of a source that are texts of messages. */
function texts(source: string): string[] {
  const isMessage = messagesOf(source);
  const found: string[] = [];
  for (let from = 0; from < source.length; from++) {
    for (let to = from + 1; to <= source.length; to++) if (isMessage(from, to)) found.push(source.slice(from, to));
  }
  return found;
}

describe('messagesOf', () => {
  it('finds prose in errors, in descriptions, in warnings and in constants for them', () => {
    expect(texts("throw new ValueError('dim', 'a number above 0', dim);")).toEqual(["'a number above 0'"]);
    expect(texts("const received = described('one that throws');")).toEqual(["'one that throws'"]);
    expect(texts('warn(`table ${name} is large`);')).toEqual(['`table ${name} is large`']);
    expect(texts("const expected = isWhole ? 'whole numbers' : 'any numbers';")).toEqual([
      "'whole numbers'",
      "'any numbers'",
    ]);
    expect(texts("const EXPECTED = `one of ${names.join(', ')}`;")).toEqual(["`one of ${names.join(', ')}`", "', '"]);
  });

  it('leaves names, shown values and decisions', () => {
    expect(
      texts("throw new ValueError(`${name}.values`, kind === 'two words' ? 'dense' : 'ragged', `[${shape}]`);"),
    ).toEqual([]);
    expect(texts("if (text === 'two words') run('of a step');")).toEqual([]);
    expect(texts('lines.push(`device ${device} holds none`);')).toEqual([]);
    expect(texts("throw new ValueError('ids', make((x) => x === 'two words'), ids);")).toEqual([]);
  });
});
