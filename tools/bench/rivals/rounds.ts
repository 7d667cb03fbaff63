/** Measuring side by side: peers take turns, so that what else runs on the machine hits all of them alike. */
import { setTimeout as pause } from 'node:timers/promises';
import { median } from '../stopwatch.js';
import type { Measured } from './peer.js';

export interface RoundOptions {
  readonly rounds: number;
  /** A turn lasts about so long, and one step at least. */
  readonly turnMs: number;
  /** Steps before the first that counts, at least. */
  readonly warmUps?: number;
}

const MOST_STEPS = 200;
/** Of those that are faster than a turn: the median of fewer is what one of them happened to take. */
const LEAST_STEPS = 3;
const MOST_WARM_UPS = 4000;
/** Engines compile, which takes thousands of steps of few microseconds of JavaScript, and tables move to huge pages. */
const WARM_UP_MS = 600;
/** Threads of a peer that just ran may spin for a while before they sleep. */
const REST_MS = 10;

/** Median milliseconds of a step in each round, by name; a text for a peer that failed. */
export type Rounds = ReadonlyMap<string, readonly number[] | string>;

async function stepsOf(peer: Measured, { turnMs, warmUps = 3 }: RoundOptions): Promise<number> {
  const stepsIn = (time: number, ms: number, most = MOST_STEPS): number =>
    Math.max(1, Math.min(most, Math.ceil(time / Math.max(1e-3, ms))));
  // The first steps may take many times as long as those that follow.
  const first = await peer.run(warmUps);
  const warm = await peer.run(stepsIn(WARM_UP_MS, first, MOST_WARM_UPS));
  const ms = await peer.run(stepsIn(turnMs, warm));
  return ms < turnMs ? Math.max(LEAST_STEPS, stepsIn(turnMs, ms)) : 1;
}

export async function takeTurns(peers: readonly Measured[], options: RoundOptions): Promise<Rounds> {
  const { rounds } = options;
  const found = new Map<string, number[] | string>();
  const steps = new Map<string, number>();
  const attempt = async (peer: Measured, what: () => Promise<void>): Promise<void> => {
    if (typeof found.get(peer.name) === 'string') return;
    await pause(REST_MS);
    await what().catch((error: Error) => found.set(peer.name, error.message));
  };
  for (const peer of peers) await attempt(peer, async () => void steps.set(peer.name, await stepsOf(peer, options)));
  for (let round = 0; round < rounds; round++) {
    for (let k = 0; k < peers.length; k++) {
      const peer = peers[(k + round) % peers.length]!;
      await attempt(peer, async () => {
        const count = steps.get(peer.name)!;
        // The first one finds the caches as the others left them.
        if (count > 1) await peer.run(1);
        const ms = await peer.run(count);
        const times = (found.get(peer.name) as number[] | undefined) ?? [];
        found.set(peer.name, [...times, ms]);
      });
    }
  }
  return found;
}

/** How many times as long as `base`: the median over the rounds of what each round shows. */
export function ratioOf(times: readonly number[], base: readonly number[]): number {
  return median(times.map((ms, round) => ms / base[round]!));
}
