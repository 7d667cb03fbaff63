/**
 * One table in several layers counts once in a model, and two tables of a model never have one name.
 *
 * tfjs models list the weights of their layers one layer after the other, and know nothing of a weight in two of them:
 * a stock optimizer would step it twice, a file would hold it twice and could not be loaded. A layer cannot tell
 * which model asks, and the answer differs: of two towers that share a table each alone must list it, their union only
 * once. So models open a scope around such sweeps, and layers consult it. Nor does tfjs notice
 * two weights of one name before it saves or even loads them, so a model is swept when it is made.
 */
import type * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../base/errors.js';
import { perProcess } from '../base/per_process.js';
import { MODELS, override } from './models/own_models.js';

/** Open while a model is made, lists its weights, loads them or sums its penalties. */
interface ModelScope {
  /** Weights listed so far, by the name under which they are saved. */
  readonly listed: Map<string, tf.LayerVariable>;
  /** Layer that listed a weight: it may list it again. */
  readonly listedBy: Map<tf.LayerVariable, { readonly id: number; readonly name: string }>;
  /** Tables whose penalty was taken. */
  readonly penalized: Set<object>;
}

const sweeps = (): { scope: ModelScope | null } => perProcess('sweeps of models', () => ({ scope: null }));

/** Runs one sweep over the layers of a model; nested models belong to the outer sweep. */
function asOneModel<T>(sweep: () => T): T {
  const shared = sweeps();
  if (shared.scope !== null) return sweep();
  shared.scope = { listed: new Map(), listedBy: new Map(), penalized: new Set() };
  try {
    return sweep();
  } finally {
    shared.scope = null;
  }
}

/**
 * The weights of tables that a layer lists: within a model only those that no other layer has listed.
 * Throws ValueError where two tables would be saved under one name.
 */
export function listOnce({ id, name }: tf.layers.Layer, weights: tf.LayerVariable[]): tf.LayerVariable[] {
  const { scope } = sweeps();
  if (scope === null) return weights;
  return weights.filter((weight) => {
    const { originalName } = weight;
    const known = scope.listed.get(originalName);
    if (known === undefined) {
      scope.listed.set(originalName, weight);
      scope.listedBy.set(weight, { id, name });
      return true;
    }
    const first = scope.listedBy.get(known)!;
    if (known === weight) return first.id === id;
    throw new ValueError(
      'name',
      'a name of its own for each table of a model',
      described(`two tables saved as ${originalName}, of the layers ${first.name} and ${name}`),
      'Give one of them another name, or one emb.embeddingTable to both layers.',
    );
  });
}

/** Those of the tables of a layer whose penalty no other layer of the same model has given. */
export function notYetPenalized<Table extends object>(tables: readonly Table[]): Table[] {
  const { scope } = sweeps();
  if (scope === null) return [...tables];
  const left = tables.filter((table) => !scope.penalized.has(table));
  for (const table of left) scope.penalized.add(table);
  return left;
}

/** Makes models open the scope. */
export function listSharedWeightsOnce(): void {
  const { containers } = MODELS;
  const within = (method: (...args: unknown[]) => unknown) =>
    function (this: unknown, ...args: unknown[]): unknown {
      return asOneModel(() => method.apply(this, args));
    };
  for (const name of ['weights', 'trainableWeights', 'nonTrainableWeights'])
    override(containers, name, within, 'getter');
  for (const name of ['loadWeights', 'calculateLosses']) override(containers, name, within);
}
