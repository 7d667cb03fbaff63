/** The table that set-up ends with. */

/** Lines of a table with the columns part, state and why, from rows {name, state, why}; `seconds`: what a part took. */
export function tableOf(made) {
  const rows = made.map(({ name, state, why, seconds }) => {
    return { name, state, why: seconds === undefined ? why : `${why} (${seconds.toFixed(1)} s)` };
  });
  const all = [{ name: 'part', state: 'state', why: 'why' }, ...rows];
  const width = (key) => Math.max(...all.map((row) => row[key].length));
  const [first, second] = [width('name'), width('state')];
  const line = (row) => `${row.name.padEnd(first)}  ${row.state.padEnd(second)}  ${row.why}`.trimEnd();
  const rule = `${'-'.repeat(first)}  ${'-'.repeat(second)}  ${'-'.repeat(3)}`;
  return [line(all[0]), rule, ...rows.map(line)].join('\n');
}
