/** What a run found, and what a run needs. */
import { median } from '../stopwatch.js';
import type { Peer } from './peer.js';
import { BASE, OURS, start, type Contestant } from './peers.js';
import { ratioOf, type RoundOptions, type Rounds } from './rounds.js';

/** One line of the table. */
export interface Line {
  readonly name: string;
  readonly threads: number;
  /** Median milliseconds of ours. */
  readonly ms: number;
  /** By peer: how many times as long as ours, or why there is no number. */
  readonly ratios: ReadonlyMap<string, number | string>;
  /** Peers that compute something else, as the notes tell. */
  readonly differing: ReadonlySet<string>;
}

export interface Report {
  readonly lines: Line[];
  readonly versions: Map<string, string>;
  /** By peer: why it could not start. */
  readonly missing: Map<string, string>;
  /** What differed from the reference, and what was refused. */
  readonly notes: Set<string>;
}

export const newReport = (): Report => ({
  lines: [],
  versions: new Map(),
  missing: new Map(),
  notes: new Set(),
});

export interface Options extends RoundOptions {
  readonly pythons: readonly string[];
  /** Peers to measure beside ours; none named: all. */
  readonly only: readonly string[];
  readonly folder: string;
  readonly report: Report;
  readonly progress: (done: number, what: string) => void;
}

/** `base`: by whose times the others are divided. */
export function lineOf(
  name: string,
  base: string,
  times: Rounds,
  others: ReadonlyMap<string, string>,
): Omit<Line, 'threads' | 'differing'> {
  const ours = times.get(base);
  if (ours === undefined || typeof ours === 'string') throw new Error(`${name}: ours failed: ${ours}`);
  const ratios = new Map<string, number | string>(others);
  for (const [peer, found] of times) {
    if (peer !== base) ratios.set(peer, typeof found === 'string' ? found : ratioOf(found, ours));
  }
  return { name, ms: median(ours), ratios };
}

/** Whether somebody is measured. */
export const isWanted = ({ only }: Options, name: string): boolean =>
  name === BASE || name === OURS || only.length === 0 || only.includes(name);

/** Peers that are wanted and could start. */
export async function startAll(contestants: readonly Contestant[], threads: number, options: Options): Promise<Peer[]> {
  const { report } = options;
  const started: Peer[] = [];
  for (const contestant of contestants) {
    if (!isWanted(options, contestant.name)) continue;
    const peer = await start(contestant, threads);
    if (typeof peer === 'string') report.missing.set(contestant.name, peer);
    else {
      report.versions.set(peer.name, peer.version);
      started.push(peer);
    }
  }
  return started;
}
