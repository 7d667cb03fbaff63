/**
 * One table in several layers counts once in a model, and two tables of a model never have one name.
 *
 * tfjs models list the weights of their layers one layer after the other, and know nothing of a weight in two of them:
 * a stock optimizer would step it twice, a file would hold it twice and could not be loaded. A layer cannot tell
 * which model asks, and the answer differs: of two towers that share a table each alone must list it, their union only
 * once. So the base class of all models opens a scope around such sweeps, and layers consult it. Nor does tfjs notice
 * two weights of one name before it saves or even loads them, so a model is swept when it is made.
 */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../base/errors.js';
import { perProcess } from '../base/per_process.js';

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

const ACCESSORS = ['weights', 'trainableWeights', 'nonTrainableWeights'] as const;
const METHODS = ['loadWeights', 'calculateLosses'] as const;
const MARK = Symbol.for('tfjs-embeddings.oneModel');

/** Sweeps a model once it is made: its layers then compare the names of their tables. */
function sweepWhenBuilt(container: object): void {
  const accessor = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(container), 'built');
  const write = accessor?.set;
  if (write === undefined) throw new Error('This version of TensorFlow.js has no accessor built on its layers.');
  Object.defineProperty(container, 'built', {
    ...accessor,
    set(this: { readonly weights: unknown }, isBuilt: boolean) {
      write.call(this, isBuilt);
      if (isBuilt) void this.weights;
    },
  });
}

/** Makes the models of tfjs open the scope; once per copy of tfjs. */
export function listSharedWeightsOnce(): void {
  const container = Object.getPrototypeOf(tf.LayersModel.prototype) as Record<string | symbol, unknown>;
  if (container[MARK] === true) return;
  for (const name of ACCESSORS) {
    const accessor = Object.getOwnPropertyDescriptor(container, name);
    const read = accessor?.get;
    if (read === undefined) throw new Error(`This version of TensorFlow.js has no accessor ${name} on its models.`);
    const get = function (this: unknown): unknown {
      return asOneModel(() => read.call(this) as unknown);
    };
    Object.defineProperty(container, name, { ...accessor, get });
  }
  for (const name of METHODS) {
    const method = container[name] as (...args: unknown[]) => unknown;
    Object.defineProperty(container, name, {
      configurable: true,
      writable: true,
      value(this: unknown, ...args: unknown[]): unknown {
        return asOneModel(() => method.apply(this, args));
      },
    });
  }
  sweepWhenBuilt(container);
  Object.defineProperty(container, MARK, { value: true });
}
