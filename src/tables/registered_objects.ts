/**
 * Initializers, regularizers and constraints given by name, by config or as objects.
 *
 * tfjs does not export its own helpers for this, so the registered classes are looked up in its public map.
 */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../base/errors.js';

/** What all three kinds share. */
export interface Registered {
  getClassName(): string;
  getConfig(): tf.serialization.ConfigDict;
}

/** How an object is written into a layer's config. */
export interface SerializedObject {
  className: string;
  config: tf.serialization.ConfigDict;
}

/** One kind of object: the argument that takes it, its stock classes, and other spellings of their names. */
export interface Family {
  readonly argument: string;
  readonly classes: readonly string[];
  /** A stock class directly below the base class of this kind. */
  readonly sample: string;
  readonly aliases: Readonly<Record<string, string>>;
  /** Adapts a config written by Keras to the class of tfjs. */
  readonly adapt?: (className: string, config: Record<string, unknown>) => [string, Record<string, unknown>];
}

type Entry = [unknown, (cls: unknown, config: object) => Registered];

/** The registered class of this name, and what makes one from a config. */
function registered(className: string): Entry | undefined {
  const map = tf.serialization.SerializationMap.getMap().classNameMap as unknown as Record<string, Entry>;
  return Object.hasOwn(map, className) ? map[className] : undefined;
}

/** `random_uniform`, `randomUniform` and `RandomUniform` are one name. */
function plain(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

function expectedOf(family: Family): string {
  return `an object of this kind, its config, or one of ${family.classes.join(', ')}`;
}

function canonicalName(name: string, family: Family): string | null {
  const wanted = plain(name);
  if (Object.hasOwn(family.aliases, wanted)) return family.aliases[wanted]!;
  return family.classes.find((each) => plain(each) === wanted) ?? null;
}

/** Stock classes directly below the base classes of what can be applied; tfjs does not export the bases. */
const SAMPLES = ['Zeros', 'L1L2', 'NonNeg', 'relu', 'Dense'];

function baseOf(className: string): object {
  const [cls] = registered(className) as [{ prototype: object }, unknown];
  return Object.getPrototypeOf(cls.prototype) as object;
}

/** Whether an object (or a prototype) can be applied and is not of another kind; users' own classes are of none. */
function isOfKind(object: object, family: Family): boolean {
  if (typeof (object as { apply?: unknown }).apply !== 'function') return false;
  const foreign = SAMPLES.filter((sample) => sample !== family.sample).map(baseOf);
  return !foreign.some((base) => Object.prototype.isPrototypeOf.call(base, object));
}

function isRegistered(name: string, family: Family): boolean {
  const { prototype } = (registered(name)?.[0] ?? {}) as { prototype?: object };
  return prototype !== undefined && isOfKind(prototype, family);
}

function instantiate(name: string, config: Record<string, unknown>, family: Family, received: unknown): Registered {
  const canonical = canonicalName(name, family);
  if (canonical === null && !isRegistered(name, family))
    throw new ValueError(family.argument, expectedOf(family), received);
  const [className, adapted] = family.adapt?.(canonical ?? name, config) ?? [canonical ?? name, config];
  const [cls, fromConfig] = registered(className)!;
  try {
    return fromConfig(cls, adapted);
  } catch (error) {
    throw new ValueError(
      family.argument,
      `a config that ${className} accepts`,
      received,
      (error as Error).message.replace('[object Object]', () => JSON.stringify(adapted)),
    );
  }
}

/**
 * Returns the object itself, or a new one from its name or its config ({className, config}, or Keras's class_name).
 *
 * @throws TypeError for anything else; ValueError for an unknown name.
 */
export function readRegistered(
  identifier: unknown,
  family: Family,
  defaults: Record<string, unknown> = {},
): Registered {
  if (typeof identifier === 'string') return instantiate(identifier, defaults, family, identifier);
  return readStructured(identifier, family);
}

function readStructured(identifier: unknown, family: Family): Registered {
  if (identifier === null || typeof identifier !== 'object') {
    throw new ArgumentTypeError(family.argument, expectedOf(family), identifier);
  }
  const record = identifier as Record<string, unknown>;
  if (typeof record['apply'] === 'function') return readObject(record, family);
  const className = record['className'] ?? record['class_name'];
  if (typeof className !== 'string') throw new ArgumentTypeError(family.argument, expectedOf(family), identifier);
  return instantiate(className, { ...(record['config'] as object | null) }, family, className);
}

function readObject(record: Record<string, unknown>, family: Family): Registered {
  const object = record as unknown as Registered;
  if (typeof object.getClassName !== 'function' || typeof object.getConfig !== 'function') {
    const expected = 'an object with apply, getClassName and getConfig, so that it can be saved';
    throw new ArgumentTypeError(family.argument, expected, record);
  }
  if (!isOfKind(record, family)) throw new ValueError(family.argument, expectedOf(family), object.getClassName());
  return object;
}

/** The config of an object, or null. */
export function serializeRegistered(object: Registered | null): SerializedObject | null {
  return object === null ? null : { className: object.getClassName(), config: object.getConfig() };
}
