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
class Inherited {
  readonly #keys: PropertyKey[] = [];
  readonly #values: unknown[] = [];
  readonly #getters: Getter[] = [];
  #isSame: ((holder: object) => boolean) | null = null;

  /** `isOfFunctions`: other values are counters and the like. */
  constructor(
    private readonly holder: object,
    end: object,
    isOfFunctions = false,
  ) {
    const seen = new Set<PropertyKey>(IGNORED_FIELDS);
    const chain = chainOf(holder, end);
    chain.forEach((owner, depth) => {
      for (const key of Reflect.ownKeys(owner)) {
        if (seen.has(key)) continue;
        seen.add(key);
        const { value, get } = descriptorOf(owner, key)!;
        if (get !== undefined) this.#getters.push({ key, get, before: chain.slice(0, depth) });
        else if (!isOfFunctions || typeof value === 'function') {
          this.#keys.push(key);
          this.#values.push(value);
        }
      }
    });
  }

  get values(): readonly unknown[] {
    return this.#values;
  }

  /** The first of its properties that is not as it was; null: none. */
  changed(): string | null {
    const holder = this.holder as Holder;
    const [keys, values] = [this.#keys, this.#values];
    this.#isSame ??= sameProperties(keys, values);
    if (!this.#isSame(holder)) {
      const changed = keys.flatMap((key, i) => (holder[key] === values[i] ? [] : [i]));
      const strange = changed.find((i) => typeof holder[keys[i]!] !== 'function' || !isOwn(holder[keys[i]!] as object));
      if (strange !== undefined) return String(keys[strange]);
      // What this package puts there later is no change of what it does.
      for (const i of changed) values[i] = holder[keys[i]!];
      this.#isSame = null;
    }
    for (const { key, get, before } of this.#getters) {
      // One that it inherits is looked at where it stands: its bases are watched as well.
      if (before.length === 0 && descriptorOf(holder, key)?.get !== get) return String(key);
      for (const each of before) if (hasOwn(each, key)) return String(key);
    }
    return null;
  }
}

/** A class as it was. */
export class KnownClass {
  readonly #methods: Inherited;
  readonly #statics: Inherited;

  constructor(readonly prototype: object) {
    this.#methods = new Inherited(prototype, Object.prototype);
    this.#statics = new Inherited(prototype.constructor, Function.prototype, true);
  }

  get name(): string {
    return this.prototype.constructor.name;
  }

  functions(): readonly unknown[] {
    return this.#methods.values;
  }

  /** It and the classes that it derives from, whose methods its own may call though it hides them. */
  withBases(): KnownClass[] {
    return chainOf(this.prototype, Object.prototype).flatMap((each) => knownClass(each) ?? []);
  }

  /** The first method, accessor or static field that is not as it was; null: none. */
  changed(): string | null {
    return this.#methods.changed() ?? this.#statics.changed();
  }
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
      const made = new KnownClass(each);
      taken.set(each, made);
      for (const value of made.functions()) if (typeof value === 'function') functions.add(value);
    }
  }
}

/** Snapshots the classes that tfjs knows by name. */
export function takeNamed(): void {
  const { classNameMap } = tf.serialization.SerializationMap.getMap();
  takeClasses(Object.values(classNameMap).map(([each]) => each as unknown as Class));
}

/** The class of objects of this prototype; undefined: there is no snapshot. */
export function knownClass(prototype: object | null): KnownClass | undefined {
  return prototype === null ? undefined : known().classes.get(prototype);
}

/** Whether a function is a method of a known class as it was. */
export function isKnownMethod(f: unknown): boolean {
  return known().functions.has(f);
}
