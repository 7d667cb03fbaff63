/** Users and the items that each of them chose, from files as NGCF and LightGCN use them. */
import { readFileSync } from 'node:fs';
import type { Random } from '../../../../test/helpers/random.js';

export interface Pairs {
  readonly users: Int32Array;
  readonly items: Int32Array;
  /** One more than the highest numbers. */
  readonly userCount: number;
  readonly itemCount: number;
}

/** Reads a file of one line per user: the user's number and then those of the items. */
export function readPairs(path: string): Pairs {
  const [users, items]: [number[], number[]] = [[], []];
  let [userCount, itemCount] = [0, 0];
  for (const [i, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    const numbers = line.split(/\s+/).filter(Boolean).map(Number);
    if (numbers.some((each) => !Number.isInteger(each) || each < 0 || each >= 2 ** 31)) {
      throw new Error(`${path}, line ${i + 1}: numbers of a user and of items are expected`);
    }
    const [user = -1, ...chosen] = numbers;
    userCount = Math.max(userCount, user + 1);
    for (const item of chosen) {
      users.push(user);
      items.push(item);
      itemCount = Math.max(itemCount, item + 1);
    }
  }
  if (users.length === 0) throw new Error(`${path}: no pairs of users and items`);
  return { users: Int32Array.from(users), items: Int32Array.from(items), userCount, itemCount };
}

/** Each pair as one number, user * itemCount + item. */
export function chosenItems({ users, items, itemCount }: Pairs): Set<number> {
  return new Set(Array.from(users, (user, i) => user * itemCount + items[i]!));
}

/** Samples of BPR: users, an item that each chose, and one that the user did not choose; pairs in random order. */
export function drawTriples(pairs: Pairs, count: number, random: Random): [Int32Array, Int32Array, Int32Array] {
  const { users, items, itemCount } = pairs;
  const chosen = chosenItems(pairs);
  const drawn = Int32Array.from({ length: count }, () => random.whole(0, users.length));
  const worse = drawn.map((pair) => {
    // Somebody may have chosen everything.
    for (let tries = 0; tries < 1000; tries++) {
      const item = random.whole(0, itemCount);
      if (!chosen.has(users[pair]! * itemCount + item)) return item;
    }
    throw new Error(`user ${users[pair]} chose nearly every item`);
  });
  return [drawn.map((pair) => users[pair]!), drawn.map((pair) => items[pair]!), worse];
}
