/**
 * Classes whose objects do in every step what they did before, with their methods as they were when this package was
 * loaded: where one was replaced, the class is not what it was.
 */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { isOwn } from '../../tfjs/engine/own_functions.js';
import { ownPrototype } from '../../tfjs/models/own_models.js';
import { sameProperties } from './same_properties.js';

export interface Class {
  readonly prototype: object;
}

type Holder = Record<PropertyKey, unknown>;

/** What no step calls, and what this package may wrap when it is first needed: saving, loading, showing, disposing. */
const IGNORED_FIELDS: ReadonlySet<PropertyKey> = new Set([
  ...['setWeights', 'getWeights', 'loadWeights', 'save', 'summary', 'dispose', 'disposeWeights', 'disposeInternal'],
  ...['getConfig', 'toJSON', 'updatedConfig', 'fromConfig', 'countParams', 'print', 'toString', 'addWeight'],
  ...['fit', 'fitDataset', 'fitLoop', 'evaluate', 'evaluateDataset', 'predict', 'predictOnBatch', 'trainOnBatch'],
  ...['constructor', 'prototype', 'name', 'length', 'className', 'arguments', 'caller'],
]);

const { getOwnPropertyDescriptor: descriptorOf, hasOwn } = Object;

/** An accessor, and the objects that would hide it, from the one that inherits it on. */
interface Getter {
  readonly key: PropertyKey;
  readonly get: unknown;
  readonly before: readonly object[];
}

/**
 * An object from which others inherit, and all that they find there, by way of what it inherits from itself. Looked at
 * before each step: no accessor is looked up twice.
 */
interface Inherited {
  readonly holder: object;
  readonly keys: readonly PropertyKey[];
  readonly values: unknown[];
  readonly getters: readonly Getter[];
  /** Whether all values are as they were; null: made when it is first asked. */
  isSame: ((holder: object) => boolean) | null;
  readonly ofClass: object;
}

/** `isOfFunctions`: other values are counters and the like. */
function inherited(holder: object, end: object, ofClass: object, isOfFunctions = false): Inherited {
  const seen = new Set<PropertyKey>(IGNORED_FIELDS);
  const [keys, values, getters]: [PropertyKey[], unknown[], Getter[]] = [[], [], []];
  const chain = chainOf(holder, end);
  chain.forEach((owner, depth) => {
    for (const key of Reflect.ownKeys(owner)) {
      if (seen.has(key)) continue;
      seen.add(key);
      const { value, get } = descriptorOf(owner, key)!;
      if (get !== undefined) getters.push({ key, get, before: chain.slice(0, depth) });
      else if (!isOfFunctions || typeof value === 'function') {
        keys.push(key);
        values.push(value);
      }
    }
  });
  return { holder, keys, values, getters, isSame: null, ofClass };
}

/** The first value that neither is as it was nor was put there by this package, which is noted; null: none. */
function strangeValue(part: Inherited): PropertyKey | null {
  const { keys, values } = part;
  const holder = part.holder as Holder;
  const changed = keys.flatMap((key, i) => (holder[key] === values[i] ? [] : [i]));
  const strange = changed.find((i) => typeof holder[keys[i]!] !== 'function' || !isOwn(holder[keys[i]!] as object));
  if (strange !== undefined) return keys[strange]!;
  // What this package puts there later is no change of what it does.
  for (const i of changed) values[i] = holder[keys[i]!];
  part.isSame = sameProperties(keys, values);
  return null;
}

/** A method, accessor or static field that is not as it was. */
export interface Replaced {
  readonly className: string;
  readonly field: string;
}

const replaced = ({ ofClass }: Inherited, key: PropertyKey): Replaced => ({
  className: ofClass.constructor.name,
  field: String(key),
});

/** Classes as they were, with those that they derive from, whose methods their own may call though they hide them. */
export class KnownClasses {
  readonly #known = new Set<KnownClass>();
  readonly #parts: Inherited[] = [];

  /** Adds that of objects of this prototype, unless there is no snapshot of it. */
  add(prototype: object): this {
    for (const each of chainOf(prototype, Object.prototype)) {
      const known = knownClass(each);
      if (known === undefined || this.#known.has(known)) continue;
      this.#known.add(known);
      this.#parts.push(known.methods, known.statics);
    }
    return this;
  }

  /** The first that is not as it was; null: none. */
  changed(): Replaced | null {
    for (const part of this.#parts) {
      const { holder, getters } = part;
      if (part.isSame?.(holder) !== true) {
        const key = strangeValue(part);
        if (key !== null) return replaced(part, key);
      }
      for (const { key, get, before } of getters) {
        // One that it inherits is looked at where it stands: its bases are watched as well.
        if (before.length === 0 && descriptorOf(holder, key)?.get !== get) return replaced(part, key);
        for (const each of before) if (hasOwn(each, key)) return replaced(part, key);
      }
    }
    return null;
  }
}

/** A class as it was. */
interface KnownClass {
  readonly methods: Inherited;
  readonly statics: Inherited;
}

interface Known {
  readonly classes: Map<object, KnownClass>;
  readonly functions: Set<unknown>;
}

const known = (): Known => perProcess('known classes', () => ({ classes: new Map(), functions: new Set() }));

/** An object and all that it inherits from, up to `end`. */
function chainOf(first: object, end: object): object[] {
  const chain: object[] = [];
  for (let each: object | null = first; each !== null && each !== end;) {
    chain.push(each);
    each = Object.getPrototypeOf(each) as object | null;
  }
  return chain;
}

/** Snapshots the methods of these classes and of their bases, so that replaced ones are noticed; known classes stay. */
export function takeClasses(classes: Iterable<Class>): void {
  const { classes: taken, functions } = known();
  for (const { prototype } of classes) {
    // Layers of our models have a prototype of ours before their class.
    const first = prototype instanceof tf.layers.Layer ? ownPrototype(prototype) : prototype;
    for (const each of chainOf(first, Object.prototype)) {
      if (taken.has(each)) continue;
      const methods = inherited(each, Object.prototype, each);
      taken.set(each, { methods, statics: inherited(each.constructor, Function.prototype, each, true) });
      for (const value of methods.values) if (typeof value === 'function') functions.add(value);
    }
  }
}

/** Snapshots the classes that tfjs knows by name. */
export function takeNamed(): void {
  const { classNameMap } = tf.serialization.SerializationMap.getMap();
  takeClasses(Object.values(classNameMap).map(([each]) => each as unknown as Class));
}

function knownClass(prototype: object): KnownClass | undefined {
  return known().classes.get(prototype);
}

/** Whether there is a snapshot of the class of objects of this prototype. */
export function isKnownClass(prototype: object): boolean {
  return knownClass(prototype) !== undefined;
}

/** Whether a function is a method of a known class as it was. */
export function isKnownMethod(f: unknown): boolean {
  return known().functions.has(f);
}
