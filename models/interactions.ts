/**
 * Who had which item, from the files that recommenders are compared on:
 * - lists, as LightGCN has them: a line for each user, `user item item …`, whole numbers;
 * - ratings, as NCF has them: `user item rating time` with tabs between, and negatives `(user,item) item item …`;
 * - atomic files of RecBole (`.inter`): a header `user_id:token item_id:token … timestamp:float` with tabs between.
 * Ratings are not looked at. Where there are times, the items of a user stand in their order.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import * as emb from 'tfjs-embeddings/node';
import { InputError, mistakeAt } from './input_error.mjs';

/** The items of each user. */
export type ItemsOfUsers = readonly Int32Array[];

export interface Interactions {
  readonly numUsers: number;
  readonly numItems: number;
  /** Numbers by name; empty where files hold numbers. */
  readonly userNames: ReadonlyMap<string, number>;
  readonly itemNames: ReadonlyMap<string, number>;
  /** In the order of the files; null where there is none. */
  readonly parts: readonly (ItemsOfUsers | null)[];
}

interface Pairs {
  readonly users: number[];
  readonly items: number[];
  /** Empty: there are none. */
  readonly times: number[];
}

type Place = readonly [path: string, line: number];

function wholeNumber(text: string, place: Place): number {
  const value = Number(text);
  if (text !== '' && Number.isSafeInteger(value) && value >= 0 && value < 2 ** 31) return value;
  throw mistakeAt(...place, 'whole numbers from 0 to 2147483647', text);
}

function linesOf(path: string): string[] {
  const lines = readFileSync(path, 'utf8').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  if (lines.length === 0) throw new InputError(`${path} is empty`);
  return lines;
}

/** Names get numbers in the order in which they are seen. */
export class Names {
  readonly numbers = new Map<string, number>();

  numberOf(name: string): number {
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    this.numbers.set(name, this.numbers.size);
    return this.numbers.size - 1;
  }
}

/** A line for each user. */
function readLists(path: string, lines: readonly string[]): Pairs {
  const [users, items]: number[][] = [[], []];
  lines.forEach((line, i) => {
    const [user, ...own] = line.trim().split(/\s+/);
    const number = wholeNumber(user!, [path, i + 1]);
    for (const item of own) {
      users!.push(number);
      items!.push(wholeNumber(item, [path, i + 1]));
    }
  });
  return { users: users!, items: items!, times: [] };
}

/** A line for each pair, where `columns` say. */
function readColumns(
  path: string,
  lines: readonly string[],
  first: number,
  columns: { user: number; item: number; time: number; userId: IdOf; itemId: IdOf },
): Pairs {
  const pairs: Pairs = { users: [], items: [], times: [] };
  const least = Math.max(columns.user, columns.item, columns.time) + 1;
  for (let i = first; i < lines.length; i++) {
    const place: Place = [path, i + 1];
    const cells = lines[i]!.split('\t');
    if (cells.length < least) throw mistakeAt(...place, `${least} columns with tabs between`, lines[i]!.slice(0, 60));
    pairs.users.push(columns.userId(cells[columns.user]!, place));
    pairs.items.push(columns.itemId(cells[columns.item]!, place));
    if (columns.time < 0) continue;
    const time = Number(cells[columns.time]);
    if (!Number.isFinite(time)) throw mistakeAt(...place, 'a time', cells[columns.time]!);
    pairs.times.push(time);
  }
  return pairs;
}

type IdOf = (text: string, place: Place) => number;

function readPairs(path: string, names: { readonly users: Names; readonly items: Names }): Pairs & { layout: string } {
  const lines = linesOf(path);
  const head = lines[0]!.split('\t');
  if (head.some((name) => name.includes(':'))) {
    const [user, item, time] = ['user_id', 'item_id', 'timestamp'].map((name) =>
      head.findIndex((column) => column.split(':')[0] === name),
    ) as [number, number, number];
    if (user < 0 || item < 0) throw mistakeAt(path, 1, 'columns user_id and item_id', lines[0]!);
    const [userId, itemId] = [names.users, names.items].map((each) => (text: string) => each.numberOf(text));
    const columns = { user, item, time, userId: userId!, itemId: itemId! };
    return { ...readColumns(path, lines, 1, columns), layout: 'an atomic file' };
  }
  if (head.length === 1) return { ...readLists(path, lines), layout: 'lists' };
  const columns = { user: 0, item: 1, time: head.length > 3 ? 3 : -1, userId: wholeNumber, itemId: wholeNumber };
  return { ...readColumns(path, lines, 0, columns), layout: 'ratings' };
}

function byUser({ users, items, times }: Pairs, numUsers: number): ItemsOfUsers {
  const order = Uint32Array.from(users.keys());
  if (times.length > 0) order.sort((a, b) => times[a]! - times[b]! || a - b);
  const rows = Array.from({ length: numUsers }, (): number[] => []);
  for (const at of order) rows[users[at]!]!.push(items[at]!);
  return rows.map((row) => Int32Array.from(row));
}

/** Reads files of one layout. Throws InputError, with the line, for anything that is none. */
export function readInteractions(paths: readonly (string | null)[]): Interactions {
  const names = { users: new Names(), items: new Names() };
  const read = paths.map((path) => (path === null ? null : readPairs(path, names)));
  const given = read.filter((each) => each !== null);
  const other = read.findIndex((each) => each !== null && each.layout !== given[0]!.layout);
  if (other >= 0) {
    throw new InputError(`${paths[other]}: expected ${given[0]!.layout}, as before, found ${read[other]!.layout}`);
  }
  const most = (numbers: readonly number[], least: number): number =>
    numbers.reduce((sum, each) => Math.max(sum, each + 1), least);
  const numUsers = given.reduce((sum, { users }) => most(users, sum), 0);
  const numItems = given.reduce((sum, { items }) => most(items, sum), 0);
  const parts = read.map((each) => (each === null ? null : byUser(each, numUsers)));
  return { numUsers, numItems, userNames: names.users.numbers, itemNames: names.items.numbers, parts };
}

/** Reads NCF's negatives: for each user the items that are ranked together with the one that was held back. */
export function readNegatives(path: string, { numUsers, numItems }: Interactions): ItemsOfUsers {
  const rows = Array.from({ length: numUsers }, () => new Int32Array(0));
  linesOf(path).forEach((line, i) => {
    const place: Place = [path, i + 1];
    const [pair, ...items] = line.split('\t');
    const user = /^\((\d+),\s*\d+\)$/.exec(pair!)?.[1];
    if (user === undefined)
      throw mistakeAt(...place, '(user,item) and then items, with tabs between', pair!.slice(0, 60));
    if (Number(user) >= numUsers) throw mistakeAt(...place, `users below ${numUsers}, as in the other files`, user);
    rows[Number(user)] = Int32Array.from(items, (item) => {
      const id = wholeNumber(item, place);
      if (id >= numItems) throw mistakeAt(...place, `items below ${numItems}, as in the other files`, item);
      return id;
    });
  });
  return rows;
}

/** Writes ratings as NCF has them; the place of an item in its row is its time. */
export function writeRatings(path: string, rows: ItemsOfUsers): void {
  const lines = rows.flatMap((row, user) => Array.from(row, (item, at) => `${user}\t${item}\t1\t${at}\n`));
  writeFileSync(path, lines.join(''));
}

/** Writes negatives as NCF has them, beside the item of each user that was held back. */
export function writeNegatives(path: string, held: ItemsOfUsers, negatives: ItemsOfUsers): void {
  const lines = negatives.map((row, user) => `${[`(${user},${held[user]![0]})`, ...row].join('\t')}\n`);
  writeFileSync(path, lines.join(''));
}

export function raggedOf(rows: ItemsOfUsers): emb.RaggedTensor {
  const values = new Int32Array(rows.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const row of rows) {
    values.set(row, at);
    at += row.length;
  }
  return emb.RaggedTensor.fromRowLengths(
    values,
    Int32Array.from(rows, ({ length }) => length),
  );
}

/** The items of both, by user. */
export function joined(a: ItemsOfUsers, b: ItemsOfUsers | null): ItemsOfUsers {
  if (b === null) return a;
  return a.map((row, user) => Int32Array.of(...row, ...b[user]!));
}
