/** A made-up stream of clicks on items that come and go, the same for the same seed. */
import { drawnRank, Random, zipfSums } from '../../../../test/helpers/random.js';

export interface StreamOptions {
  readonly days: number;
  readonly events: number;
  /** Items at a time, and the share of them that each day brings in place of others. */
  readonly items: number;
  readonly fresh: number;
  readonly users: number;
  readonly exponent: number;
  readonly seed: number;
}

export const STREAM: StreamOptions = {
  days: 30,
  events: 60_000,
  items: 20_000,
  fresh: 0.3,
  users: 1000,
  exponent: 1.05,
  seed: 1,
};

/** The events of a day, one after the other. */
export interface Day {
  /** A number of each item that no other item ever has. */
  readonly items: Int32Array;
  readonly users: Int32Array;
  readonly labels: Float32Array;
  /** The probability of each label: what nobody can rank better by. */
  readonly truth: Float32Array;
}

const LATENT = 8;

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

/** What users like and what items are: the latent numbers of both, and how much an item is liked by all. */
function latent(random: Random): Float32Array {
  return Float32Array.from({ length: LATENT + 1 }, () => normal(random));
}

/**
 * Days of events. Each rank of popularity has an item; each morning a share of the ranks gets new ones. A label is drawn
 * by the logistic function of what user and item have in common.
 */
export function streamOf(options: StreamOptions): { days: Day[]; items: number } {
  const random = new Random(options.seed);
  const sums = zipfSums(options.items, options.exponent);
  const users = Array.from({ length: options.users }, () => latent(random));
  const items: Float32Array[] = [];
  const atRank = new Int32Array(options.items);
  const renew = (rank: number): void => {
    atRank[rank] = items.push(latent(random)) - 1;
  };
  const days = Array.from({ length: options.days }, (_, day) => {
    for (let rank = 0; rank < options.items; rank++) if (day === 0 || random.chance(options.fresh)) renew(rank);
    const { events } = options;
    const made: Day = {
      items: new Int32Array(events),
      users: new Int32Array(events),
      labels: new Float32Array(events),
      truth: new Float32Array(events),
    };
    for (let i = 0; i < events; i++) {
      const item = (made.items[i] = atRank[drawnRank(sums, random)]!);
      const user = (made.users[i] = random.whole(0, options.users));
      const [a, b] = [users[user]!, items[item]!];
      let logit = b[LATENT]! - 1;
      for (let k = 0; k < LATENT; k++) logit += (2 * a[k]! * b[k]!) / Math.sqrt(LATENT);
      const truth = (made.truth[i] = 1 / (1 + Math.exp(-logit)));
      made.labels[i] = random.chance(truth) ? 1 : 0;
    }
    return made;
  });
  return { days, items: items.length };
}
