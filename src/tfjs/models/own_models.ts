/**
 * Models of ours: those that hold a layer or an input of this package, within models within them too, or that its loaders
 * made. Between such a model, its layers and their classes lie prototypes with the methods of this package. The classes of
 * tfjs, and with them all other models, stay as they are; `emb.mendTfjs` alone changes those.
 */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { asOwn } from '../engine/own_functions.js';
import { notePenalties } from '../layers/penalties.js';

type Holder = Record<PropertyKey, unknown>;
type AnyMethod = (this: never, ...args: never[]) => unknown;
type Run = (this: unknown, ...args: unknown[]) => unknown;

/** Another method, what an accessor gives, or a method that mends tfjs whatever the model holds. */
type Kind = 'method' | 'getter' | 'mend';

/** How a member of a class gives way to another one. */
interface Member {
  readonly of: object;
  readonly name: string;
  readonly make: (stock: Run) => Run;
  readonly kind: Kind;
}

const { getOwnPropertyDescriptor: descriptorOf, getPrototypeOf: prototypeOf, hasOwn } = Object;

const state = () =>
  perProcess('models of ours', () => ({
    members: [] as Member[],
    /** By the prototype of a class, that of ours which inherits from it. */
    prototypes: new Map<object, object>(),
    ours: new WeakSet<object>(),
    models: new WeakSet<object>(),
    inputs: new WeakSet<object>(),
    /** While this is above 0 all models that are made are ours. */
    adopting: 0,
    isMended: false,
    /** What has been done once, by whichever copy of the package came first. */
    done: new Set<string>(),
  }));

/** Runs `add`, which gives methods to models, for the first copy of this package in the process. */
export function addOnce(purpose: string, add: () => void): void {
  const { done } = state();
  if (done.has(purpose)) return;
  done.add(purpose);
  add();
}

const SEQUENTIALS: object = tf.Sequential.prototype;

/** The classes that models are of: what tfjs calls containers, models, and sequential ones. */
export const MODELS = {
  containers: prototypeOf(tf.LayersModel.prototype) as object,
  graphs: tf.LayersModel.prototype as object,
  sequentials: SEQUENTIALS,
};

/**
 * Has objects of a class (`of`: its prototype) that belong to models of ours run another method, which `make` makes of the
 * one that they would run. Sequential models hand most calls on to the one within, which gets the method.
 */
export function override<M extends AnyMethod>(
  of: object,
  name: string,
  make: (stock: M) => M,
  kind: Kind = 'method',
): void {
  const { members, prototypes, isMended } = state();
  const member: Member = { of, name, make: make as never, kind };
  members.push(member);
  if (kind === 'mend' && isMended) mendClass(member);
  for (const [prototype, made] of prototypes) addTo(made, prototype, [member]);
}

function define(holder: object, name: string, value: Run): void {
  Object.defineProperty(holder, name, { configurable: true, writable: true, value: asOwn(value) });
}

function mendClass({ of, name, make }: Member): void {
  define(of, name, make((of as Holder)[name] as Run));
}

function isWithin(of: object, prototype: object): boolean {
  return of === prototype || Object.prototype.isPrototypeOf.call(of, prototype);
}

function isOf({ of, name, kind }: Member, prototype: object): boolean {
  if (!isWithin(of, prototype) || (kind === 'mend' && state().isMended)) return false;
  // A class that derives from it may have masks of its own.
  for (let each = prototype; name === 'computeMask' && each !== of; each = prototypeOf(each) as object)
    if (hasOwn(each, name)) return false;
  return of === SEQUENTIALS || !isWithin(SEQUENTIALS, prototype) || !hasOwn(SEQUENTIALS, name);
}

function addTo(made: object, prototype: object, members: readonly Member[]): void {
  const done = new Set<unknown>();
  for (const member of members.filter((each) => isOf(each, prototype))) {
    const { of, name, make, kind } = member;
    // Of classes that derive from each other one call is enough.
    if (kind === 'mend' && done.has(make)) continue;
    done.add(make);
    const own = descriptorOf(made, name);
    if (kind === 'getter') {
      const { get, ...accessor } = own ?? descriptorOf(of, name)!;
      Object.defineProperty(made, name, { ...accessor, get: asOwn(make(get as Run)) });
      continue;
    }
    // Looked up anew: users may put others into classes.
    const inherited: Run = function (...args) {
      return ((prototype as Holder)[name] as Run).apply(this, args);
    };
    define(made, name, make((own?.value as Run | undefined) ?? inherited));
  }
}

/** The prototype that objects of a class get with which this package deals. */
export function ownPrototype(prototype: object): object {
  const { prototypes, ours, members } = state();
  let made = prototypes.get(prototype);
  if (made === undefined) {
    made = Object.create(prototype) as object;
    prototypes.set(prototype, made);
    ours.add(made);
    addTo(made, prototype, members);
  }
  return made;
}

const PARTS = ['layers', 'model', 'layer', 'forwardLayer', 'backwardLayer', 'cell', 'cells'];

/** Layers, cells and models within a layer or a model. */
function partsOf(layer: object): tf.layers.Layer[] {
  const parts = PARTS.flatMap((field) => (layer as Holder)[field] as tf.layers.Layer);
  return parts.filter((part) => part instanceof tf.layers.Layer);
}

const OWN_CLASS = /^TfjsEmbeddings>/;

/** Whether a class is one of this package, or derives from one. */
function isOwnClass(made: unknown): boolean {
  if (typeof made !== 'function') return false;
  return OWN_CLASS.test(String((made as { className?: unknown }).className)) || isOwnClass(prototypeOf(made));
}

function holdsOwn(layer: tf.layers.Layer): boolean {
  const { models, inputs } = state();
  return models.has(layer) || inputs.has(layer) || isOwnClass(layer.constructor) || partsOf(layer).some(holdsOwn);
}

/** Makes a layer, or a model with all layers and models in it, one of ours. */
export function adopt<L extends tf.layers.Layer>(layer: L): L {
  const prototype = prototypeOf(layer) as object;
  if (!state().ours.has(prototype)) Object.setPrototypeOf(layer, ownPrototype(prototype));
  notePenalties(layer);
  if (layer instanceof tf.LayersModel) state().models.add(layer);
  for (const part of partsOf(layer)) adopt(part);
  return layer;
}

export function isOwnModel(model: object): boolean {
  return state().models.has(model);
}

/** Notes the layer of an input: models that have it are ours. */
export function asOwnInput(layer: tf.layers.Layer): void {
  state().inputs.add(adopt(layer));
}

/** Runs `build`; the models that it makes are ours. */
export function adopting<T>(build: () => T): T {
  state().adopting++;
  try {
    return build();
  } finally {
    state().adopting--;
  }
}

/** Calls `tell(true)` as tfjs asks artifacts for a field, `tell(false)` when it has used that: nothing runs in between. */
export function whenAsked(
  artifacts: tf.io.ModelArtifacts,
  field: keyof tf.io.ModelArtifacts,
  tell: (isAsked: boolean) => void,
): tf.io.ModelArtifacts {
  const value = artifacts[field];
  const get = (): unknown => {
    tell(true);
    queueMicrotask(() => tell(false));
    return value;
  };
  return Object.defineProperty(artifacts, field, { configurable: true, enumerable: true, get });
}

/** Artifacts of which tfjs makes a model of ours. */
export function ofOurs(artifacts: tf.io.ModelArtifacts): tf.io.ModelArtifacts {
  return whenAsked(artifacts, 'modelTopology', (isAsked) => (state().adopting += isAsked ? 1 : -1));
}

/** Has all models that are made from now on looked at. */
export function watchModels(): void {
  // The last thing that tfjs does to a model that it makes, or that gets another layer, is to say whether it is built.
  const { prototype } = tf.layers.Layer;
  const { set: write, ...accessor } = descriptorOf(prototype, 'built')!;
  Object.defineProperty(prototype, 'built', {
    ...accessor,
    set(this: tf.layers.Layer, isBuilt: boolean) {
      write!.call(this, isBuilt);
      if (!(this instanceof tf.LayersModel) || !(state().adopting > 0 || holdsOwn(this))) return;
      adopt(this);
      // Layers compare the names of their tables as they are listed.
      if (isBuilt) void this.weights;
    },
  });
}

/** Gives what mends tfjs to all models and layers. */
export function mendClasses(): void {
  const shared = state();
  if (shared.isMended) return;
  shared.isMended = true;
  for (const member of shared.members) if (member.kind === 'mend') mendClass(member);
  for (const [prototype, made] of shared.prototypes) {
    for (const key of Reflect.ownKeys(made)) delete (made as Holder)[key];
    addTo(made, prototype, shared.members);
  }
}
