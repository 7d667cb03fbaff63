/** Text for terminals: sentences and tables on lines of limited length, in which nothing is left out. */

/** Characters of a line of text; lines of tables may have a few more. */
export const TEXT_WIDTH = 116;
export const TABLE_WIDTH = 120;

/** Names may hold anything: line ends and marks that turn the direction of writing would spoil the lines. */
function plainText(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, ' ');
}

/** Pieces of at most `most` characters, which end behind a space or a mark between words where there is one. */
function pieces(text: string, most: number): string[] {
  const found: string[] = [];
  let rest = plainText(text);
  while (rest.length > most) {
    const end = rest.slice(0, most + 1).search(/[\s/_.,:-](?!.*[\s/_.,:-])/);
    // Half of the room is too much to leave empty.
    const length = end + 1 > most / 2 && end < most ? end + 1 : most;
    found.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return [...found, rest];
}

/** Words on lines, all but the first set in. */
export function wrapped(text: string, indent = '  '): string[] {
  const lines: string[] = [];
  let line = '';
  const words = plainText(text).split(' ');
  for (const word of words.flatMap((each) => pieces(each, TEXT_WIDTH - indent.length))) {
    if (line !== '' && line.length + 1 + word.length > TEXT_WIDTH) {
      lines.push(line);
      line = indent + word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

export interface TextColumns {
  /** Columns to the left; all others are to the right. */
  readonly left: readonly number[];
  /** Columns whose cells wrap, with their maximum width (Infinity: the remaining width). */
  readonly most?: Readonly<Record<number, number>>;
}

/** A table; the first line holds its titles. */
export function textTable(lines: readonly (readonly string[])[], { left, most = {} }: TextColumns): string[] {
  const longest = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const widths = longest.map((width, column) => Math.min(width, most[column] ?? Infinity));
  const used = widths.reduce((sum, width) => sum + width + 2, -2);
  widths.forEach((width, column) => {
    if (most[column] === Infinity) widths[column] = Math.min(width, Math.max(20, TABLE_WIDTH - (used - width)));
  });
  return lines.flatMap((line) => {
    const cells = line.map((cell, column) => pieces(cell, widths[column]!));
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, row) =>
      cells
        .map((cell, column) => {
          const text = (cell[row] ?? '').trimEnd();
          return left.includes(column) ? text.padEnd(widths[column]!) : text.padStart(widths[column]!);
        })
        .join('  ')
        .trimEnd(),
    );
  });
}
