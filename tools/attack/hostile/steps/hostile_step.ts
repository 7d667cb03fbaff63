/** What somebody does to a model while it is trained, and the tools for it. */
import * as tf from '@tensorflow/tfjs';
import type * as emb from 'tfjs-embeddings/node';
import type { ModelName } from './models.js';

export type Fields = Record<PropertyKey, unknown>;

/** A training in progress. */
export interface Training {
  readonly model: tf.LayersModel;
  readonly optimizer: emb.SparseOptimizer;
  /** 1 in the first half of the steps, 0.25 in the second. */
  readonly factor: () => number;
  /** What puts things back when the training is over. */
  readonly ends: (() => void)[];
  /** The number of the step. */
  readonly step: number;
  /** Numbers that must be the same op by op. */
  readonly notes: number[];
}

export interface HostileStep {
  readonly name: string;
  readonly model: ModelName;
  /** How often `act` runs: before the first step, in the middle, before every step. */
  readonly when: 'first' | 'later' | 'always';
  act(training: Training): void | Promise<void>;
  readonly compile?: (factor: () => number) => Partial<tf.ModelCompileArgs>;
  /** The batch in place of the one that was drawn. */
  readonly batch?: (training: Training, x: tf.Tensor, y: tf.Tensor) => [tf.Tensor, tf.Tensor];
}

/** All layers of a model, those within models and wrappers included. */
export function layersOf(model: tf.LayersModel): tf.layers.Layer[] {
  const found: tf.layers.Layer[] = [];
  const visit = (layer: unknown): void => {
    if (!(layer instanceof tf.layers.Layer) || found.includes(layer)) return;
    found.push(layer);
    const fields = layer as unknown as Fields;
    for (const name of ['layers', 'model', 'layer', 'forwardLayer', 'backwardLayer', 'cell', 'cells'])
      [fields[name]].flat().forEach(visit);
  };
  model.layers.forEach(visit);
  return found;
}

/** The first layer of a kind, by the beginning of its name. */
export function layer(model: tf.LayersModel, kind: string): Fields {
  const found = layersOf(model).find(({ name }) => name.startsWith(kind));
  if (found === undefined) throw new Error(`The model has no layer ${kind}.`);
  return found as unknown as Fields;
}

/** Sets a property until the training is over. */
export function put({ ends }: Training, holder: object, name: PropertyKey, descriptor: PropertyDescriptor): void {
  const former = Object.getOwnPropertyDescriptor(holder, name);
  Object.defineProperty(holder, name, { configurable: true, ...descriptor });
  ends.push(() => {
    if (former === undefined) Reflect.deleteProperty(holder, name);
    else Object.defineProperty(holder, name, former);
  });
}

type Method = (this: unknown, ...args: never[]) => unknown;

/** Tensors times the changing number, in whatever structure; other values as they are. */
function scaled(result: unknown, factor: number): unknown {
  if (result instanceof tf.Tensor) return result.dtype === 'float32' ? tf.mul(result, factor) : result;
  return Array.isArray(result) ? result.map((each) => scaled(each, factor)) : result;
}

/** Replaces a method by one that scales what it gives. */
export function scale(training: Training, holder: object, name: string, isHidden = false): void {
  const method = (holder as Fields)[name] as Method;
  if (typeof method !== 'function') throw new Error(`There is no method ${name}.`);
  const value = function (this: unknown, ...args: never[]): unknown {
    return scaled(method.apply(this, args), training.factor());
  };
  put(training, holder, name, { value, writable: true, enumerable: !isHidden });
}

/** The prototype of an object, `depth` classes up. */
export function prototypeOf(object: object, depth = 1): object {
  return depth === 0 ? object : prototypeOf(Object.getPrototypeOf(object) as object, depth - 1);
}
