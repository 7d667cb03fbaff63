/** Tables of text, such as the one that set-up ends with. */

/** Lines of a table: rows of texts, whose first is the head. */
export function columnsOf(rows) {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)));
  const line = (row) =>
    row
      .map((text, i) => (i + 1 < row.length ? text.padEnd(widths[i]) : text))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width, i) => '-'.repeat(i + 1 < widths.length ? width : rows[0][i].length)).join('  ');
  return [line(rows[0]), rule, ...rows.slice(1).map(line)].join('\n');
}

/** Lines of a table with the columns part, state and why, from rows {name, state, why}; `seconds`: what a part took. */
export function tableOf(made) {
  const rows = made.map(({ name, state, why, seconds }) => {
    return [name, state, seconds === undefined ? why : `${why} (${seconds.toFixed(1)} s)`];
  });
  return columnsOf([['part', 'state', 'why'], ...rows]);
}
