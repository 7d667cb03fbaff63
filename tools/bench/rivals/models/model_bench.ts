/** Whole models: what `fit` takes for a step, beside the rivals. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkOf, writeModel, type ModelSpec } from './model_specs.js';
import type { Peer } from '../peer.js';
import { OURS, type Contestant } from '../peers.js';
import { lineOf, startAll, type Line, type Options } from '../report.js';
import { takeTurns } from '../rounds.js';

/** Of losses in float32, computed in another order. */
const TOLERANCE = 2e-4;
const THREADS = 2;

type Losses = readonly number[] | { readonly why: string };

async function lossesOf(peer: Peer, folder: string): Promise<Losses> {
  const opened = await peer.ask({ do: 'open', folder });
  const { losses, error, lacks } = opened.error || opened.lacks ? opened : await peer.ask({ do: 'losses' });
  if (peer.isAlive && lacks === undefined) await peer.ask({ do: 'close' });
  return losses ?? { why: lacks ?? error ?? 'no losses' };
}

function distance(a: readonly number[], b: readonly number[]): number {
  return Math.max(...a.map((loss, i) => Math.abs(loss - b[i]!)));
}

/** Peers whose losses over the first steps are ours. */
async function agreeing(
  peers: readonly Peer[],
  spec: ModelSpec,
  options: Options,
  others: Map<string, string>,
  differing: Set<string>,
) {
  const { folder, report } = options;
  const checks = [spec.everyRow, true].map((everyRow, i) => {
    const at = join(folder, `check_${i}`);
    mkdirSync(at, { recursive: true });
    writeModel(at, checkOf({ ...spec, everyRow }));
    return at;
  });
  const ours = peers.find(({ name }) => name === OURS)!;
  const wanted: Losses[] = [];
  for (const at of checks) wanted.push(await lossesOf(ours, at));
  const [same, everyRow] = wanted;
  if ('why' in same! || 'why' in everyRow!) throw new Error(`${spec.name}: ours failed: ${JSON.stringify(wanted)}`);
  const found: Peer[] = [ours];
  for (const peer of peers) {
    if (peer === ours) continue;
    const losses = await lossesOf(peer, checks[0]!);
    if ('why' in losses) {
      others.set(peer.name, losses.why);
      continue;
    }
    const difference = distance(losses, same!);
    if (difference <= TOLERANCE) found.push(peer);
    else if (distance(losses, everyRow!) <= TOLERANCE) {
      found.push(peer);
      report.notes.add(`${peer.name}: ${spec.name}: steps every row of the tables, ours those of the batch`);
    } else {
      found.push(peer);
      differing.add(peer.name);
      report.notes.add(
        `${peer.name}: ${spec.name}: computes something else, losses differ by ${difference.toPrecision(2)}`,
      );
    }
  }
  return found;
}

async function benchModel(peers: readonly Peer[], spec: ModelSpec, options: Options): Promise<Line> {
  const { folder, report, rounds } = options;
  const others = new Map<string, string>(report.missing);
  const differing = new Set<string>();
  const ready = await agreeing(peers, spec, options, others, differing);
  const at = join(folder, 'model');
  mkdirSync(at, { recursive: true });
  writeModel(at, spec);
  try {
    for (const peer of ready) {
      const { error } = await peer.ask({ do: 'open', folder: at });
      if (error !== undefined) others.set(peer.name, error);
    }
    // A turn is an epoch of seconds or less.
    const times = await takeTurns(
      ready.filter(({ name }) => !others.has(name)),
      { rounds, turnMs: 1, warmUps: 2 },
    );
    for (const [peer, why] of [...times, ...others]) {
      if (typeof why === 'string' && !report.missing.has(peer)) report.notes.add(`${peer}: ${spec.name}: ${why}`);
    }
    return { ...lineOf(spec.name, OURS, times, others), threads: THREADS, differing };
  } finally {
    for (const peer of ready) {
      if (!peer.isAlive) continue;
      const { eager } = await peer.ask({ do: 'close' });
      if (eager !== undefined) report.notes.add(`${peer.name}: ${spec.name}: ${eager}`);
    }
    rmSync(at, { recursive: true });
  }
}

/** Lines of the table, in the order of the specs. */
export async function benchModels(
  specs: readonly ModelSpec[],
  contestants: readonly Contestant[],
  options: Options,
): Promise<Line[]> {
  const { progress } = options;
  const peers = await startAll(contestants, THREADS, options);
  const lines: Line[] = [];
  try {
    for (const [done, spec] of specs.entries()) {
      progress(done, spec.name);
      lines.push(await benchModel(peers, spec, options));
    }
    return lines;
  } finally {
    for (const peer of peers) peer.stop();
  }
}
