/** Classes of users, which may have the names of Keras's own: what a file says of whose a class is. */
import type * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, describe } from '../../../../base/errors.js';
import { isRecord } from '../../../../base/options.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * A class that a user gives for one of a file: a layer, a model, an initializer, a regularizer or a constraint.
 *
 * @param args - What its config makes of it.
 */
export type CustomObject = new (...args: never[]) => tf.serialization.Serializable | tf.LayersModel;

/** Classes by the names that a file has for them: `my>Dense`, or `Dense` alone for one that was not registered. */
export type CustomObjects = ReadonlyMap<string, CustomObject>;

/** Libraries whose classes are those that are known by their names. */
const LIBRARIES = ['keras', 'keras_core', 'tf_keras', 'tensorflow'];
/** Libraries around Keras, and the classes of theirs that are known. */
const NEIGHBOURS: Readonly<Record<string, readonly string[]>> = {
  keras_rs: ['DistributedEmbedding', 'DotInteraction', 'EmbedReduce', 'FeatureCross'],
  keras_hub: ['PositionEmbedding', 'TokenAndPositionEmbedding'],
  keras_nlp: ['PositionEmbedding', 'TokenAndPositionEmbedding'],
  distributed_embeddings: ['ConcatOneHotEmbedding', 'DistributedEmbedding', 'Embedding', 'IntegerLookup'],
};

/** Of a class of a file: how it is called in Python, and under which names users give it; null: it is of a library. */
export interface ClassNames {
  readonly plain: string;
  readonly given: readonly string[] | null;
}

const isKnown = (library: string, plain: string): boolean =>
  LIBRARIES.includes(library) || (Object.hasOwn(NEIGHBOURS, library) && NEIGHBOURS[library]!.includes(plain));

/**
 * Whose a class is: the package under which it was registered tells it, and the module, which Keras writes as null for a
 * class of the program itself. Old files and converters tell neither; such a class is a library's.
 */
export function classNames(value: Json): ClassNames {
  const className = String(value['class_name']);
  const { module } = value;
  const registered = value['registered_name'];
  const full = typeof registered === 'string' && registered.includes('>') ? registered : className;
  const at = full.lastIndexOf('>');
  const plain = className.slice(className.lastIndexOf('>') + 1);
  // NVIDIA's have the package of a program, and a field that none of Keras's has.
  const isNvidia = full === 'Custom>Embedding' && isRecord(value['config']) && 'combiner' in value['config'];
  const isForeign =
    (at >= 0 && !isKnown(full.slice(0, at), full.slice(at + 1))) ||
    ('module' in value && !(typeof module === 'string' && isKnown(module.split('.')[0]!, plain)));
  if (!isForeign || isNvidia) return { plain, given: null };
  // One that was not registered has no package: its module stands for it, so that it is none of Keras's names.
  const named = at >= 0 ? full : `${typeof module === 'string' ? module : '__main__'}>${plain}`;
  return { plain, given: [...new Set([named, full, plain])] };
}

/** Whether the file says at all whose the class is. */
export function tellsOwner(value: Json): boolean {
  return 'module' in value || String(value['class_name']).includes('>');
}

/** Reads what a user gives. Throws TypeError for what is no class. */
export function readCustomObjects(value: unknown): CustomObjects {
  if (value === undefined || value === null) return new Map();
  if (!isRecord(value)) throw new ArgumentTypeError('customObjects', 'an object of classes by name', value);
  const entries = Object.entries(value);
  for (const [name, cls] of entries) {
    const isClass = typeof cls === 'function' && isRecord((cls as { prototype?: unknown }).prototype);
    if (!isClass) throw new ArgumentTypeError(`customObjects[${describe(name)}]`, 'a class', cls);
  }
  return new Map(entries as [string, CustomObject][]);
}

/** The class that a user gives for one of a file; undefined where there is none. */
export function customObject(value: Json, objects: CustomObjects): CustomObject | undefined {
  const { plain, given } = classNames(value);
  const names = given ?? (tellsOwner(value) ? [] : [plain]);
  const name = names.find((each) => objects.has(each));
  return name === undefined ? undefined : objects.get(name);
}

/** An object of a user's class, of the config in the file. */
export function makeCustom(cls: CustomObject, config: Json): tf.serialization.Serializable {
  const { fromConfig } = cls as unknown as {
    fromConfig?: (cls: unknown, config: unknown) => tf.serialization.Serializable;
  };
  if (typeof fromConfig === 'function') return fromConfig.call(cls, cls, config);
  return new cls(config as never) as tf.serialization.Serializable;
}

/** A class in a config that is a user's and was not given, with the fields that lead to it; null where there is none. */
export function unknownWithin(config: Json, objects: CustomObjects): { path: string; name: string } | null {
  const visit = (value: unknown, path: string): { path: string; name: string } | null => {
    if (Array.isArray(value)) {
      for (const [i, each] of value.entries()) {
        const found = visit(each, `${path}[${i}]`);
        if (found !== null) return found;
      }
      return null;
    }
    if (!isRecord(value)) return null;
    if (typeof value['class_name'] === 'string') {
      const { given } = classNames(value);
      if (given !== null && customObject(value, objects) === undefined) {
        const isFunction = value['class_name'] === 'function' && typeof value['config'] === 'string';
        return { path, name: isFunction ? String(value['config']) : given[0]! };
      }
    }
    for (const [key, each] of Object.entries(value)) {
      const found = visit(each, path === '' ? key : `${path}.${key}`);
      if (found !== null) return found;
    }
    return null;
  };
  return visit(config, '');
}
