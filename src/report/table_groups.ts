/** Tables that are alike, so that a model with hundreds of them is told in a few lines. */
import { numbersText, shortName, whereText, type ReportTable } from './report_data.js';
import { counted } from '../base/units.js';

/** Tables of one size that are cut alike, in the order in which they were made. */
export interface TableGroup {
  /** Their numbers among all tables. */
  readonly numbers: readonly number[];
  readonly tables: readonly ReportTable[];
  readonly bytes: number;
  readonly slotBytes: number;
  readonly ids: number;
  readonly linkBytes: number;
}

function likeness({ kind, rows, columns, slots, shards }: ReportTable): string {
  const [first] = shards;
  const inHost = shards.some((shard) => shard.inHost);
  return [kind, rows, columns, slots.map((slot) => slot.columns), shards.length, first?.rows.step, inHost].join('|');
}

/** Groups in the order of their first tables; with `fold` false each table by itself. */
export function tableGroups(tables: readonly ReportTable[], fold: boolean): TableGroup[] {
  const groups = new Map<string, number[]>();
  tables.forEach((table, number) => {
    const key = fold ? likeness(table) : String(number);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [number]);
    else known.push(number);
  });
  return [...groups.values()].map((numbers) => {
    const own = numbers.map((number) => tables[number]!);
    const sumOf = (of: (table: ReportTable) => number): number => own.reduce((sum, table) => sum + of(table), 0);
    return {
      numbers,
      tables: own,
      bytes: sumOf(({ bytes }) => bytes),
      slotBytes: sumOf(({ slotBytes }) => slotBytes),
      ids: sumOf(({ ids }) => ids),
      linkBytes: sumOf(({ linkBytes }) => linkBytes),
    };
  });
}

/**
 * What they are called: `layer/table_0-4, 7` where names differ in a last number only, else the first and the last.
 * `path`: what all names begin with, and what is left out.
 */
export function groupName({ tables }: TableGroup, path = ''): string {
  const names = tables.map(({ name }) => shortName(name).slice(path.length));
  const [first, last] = [names[0]!, names.at(-1)!];
  if (names.length === 1) return first;
  const stem = first.replace(/\d+$/, '');
  const ends = names.map((name) => name.slice(stem.length));
  const areNumbered = names.every((name, i) => name.startsWith(stem) && /^(0|[1-9]\d{0,8})$/.test(ends[i]!));
  return areNumbered ? stem + numbersText(ends.map(Number)) : `${first} .. ${last}`;
}

/** How many of the group's pieces lie on a device, the fewest and the most. */
function spreadText(tables: readonly ReportTable[]): string {
  const pieces = new Map<number, number>();
  for (const { shards } of tables) {
    for (const { device } of shards) pieces.set(device, (pieces.get(device) ?? 0) + 1);
  }
  const [least, most] = [Math.min(...pieces.values()), Math.max(...pieces.values())];
  return `on ${numbersText([...pieces.keys()])}, ${least === most ? least : `${least} to ${most}`} on each`;
}

/** Where the tables of a group lie, in a few words; at most `most` shards of a single table are told one by one. */
export function groupWhereText({ tables }: TableGroup, most: number): string {
  const [first] = tables;
  if (tables.length === 1 || first!.shards.length === 0) return whereText(first!, most);
  const { kind, shards } = first!;
  if (kind === 'replicated' || kind === 'rows') return `each ${whereText(first!, 1)}`;
  const host = shards.some(({ inHost }) => inHost) ? ', host memory' : '';
  const cut = shards.length === 1 ? 'each whole' : `each in ${counted(shards.length, 'column slice')}`;
  return `${cut}, ${spreadText(tables)}${host}`;
}
