/** The rows of a table as points of a plane, near where they are alike. */
import * as tf from '@tensorflow/tfjs';
import { UMAP } from 'umap-js';
import { Random } from '../../random.js';
import type { Progress, Projection } from '../protocol.js';
import { shelfOf } from '../../bookshop.js';
import type { Network } from './network.js';

/** Points of a map: the commonest values of larger tables. */
const MOST_POINTS = 2000;
const NEIGHBOURS = 15;
const LEAST_POINTS = 5;
const BREATH_MS = 40;

const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Moves and scales points so that they fill the square from -1 to 1. */
function fitted(points: readonly (readonly number[])[]): Float32Array {
  const places = new Float32Array(2 * points.length);
  for (const axis of [0, 1]) {
    const all = points.map((point) => point[axis]!);
    const [least, most] = [Math.min(...all), Math.max(...all)];
    const half = (most - least) / 2 || 1;
    all.forEach((value, i) => (places[2 * i + axis] = (0.95 * (value - (least + most) / 2)) / half));
  }
  return places;
}

export async function project(network: Network, column: string, say: Progress): Promise<Projection> {
  const all = network.names(column);
  // The first row stands for all unknown values; vocabularies have the commonest ones first.
  const count = Math.min(all.length - 1, MOST_POINTS);
  if (count < LEAST_POINTS) throw new Error(`A map needs at least ${LEAST_POINTS} values: ${column} has ${count}.`);
  const unit = network.unitRows(column);
  const rows = tf.tidy(() => unit.slice([1, 0], [count, -1]).arraySync()) as number[][];
  unit.dispose();
  const random = new Random(1);
  const umap = new UMAP({
    nNeighbors: Math.min(NEIGHBOURS, count - 1),
    minDist: 0.4,
    spread: 1.5,
    random: () => random.next(),
  });
  say('Looking for neighbours', null);
  await breathe();
  const epochs = umap.initializeFit(rows);
  let breath = performance.now();
  for (let epoch = 0; epoch < epochs; epoch++) {
    umap.step();
    if (performance.now() - breath < BREATH_MS) continue;
    say('Drawing the map', epoch / epochs);
    await breathe();
    breath = performance.now();
  }
  const names = all.slice(1, 1 + count);
  const groups = names.map(shelfOf);
  return {
    column,
    ids: names.map((_, i) => i + 1),
    names,
    groups: groups.every((group) => group !== '') ? groups : [],
    places: fitted(umap.getEmbedding()),
    total: all.length - 1,
  };
}
