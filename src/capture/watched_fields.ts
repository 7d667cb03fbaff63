/**
 * Fields on which a recorded step may depend though no op shows them: those of all objects that it reaches, and the
 * methods of their classes. A step is repeated only while all of them are as they were.
 */
import { KnownClasses } from './known/known_classes.js';
import { sameProperties } from './known/same_properties.js';

type Holder = Record<PropertyKey, unknown>;

/** Whether a field of an object is no matter of the step, though it is there. */
export type IsAside = (field: string) => boolean;

/** An object with the fields that it has and their values. */
interface WatchedObject {
  readonly holder: Holder;
  readonly prototype: object | null;
  /** All its fields, hidden ones too; null: others may come and go. */
  names: readonly string[] | null;
  readonly isAside: IsAside | null;
  readonly fields: readonly string[];
  readonly values: readonly unknown[];
  /** What reads a field, where a function does. */
  readonly getters: readonly unknown[];
  /** What it is called in reasons; null: its fields tell. */
  readonly what: string | null;
}

/** A list that may grow where `isOpen`. */
interface WatchedList {
  readonly holder: readonly unknown[];
  readonly values: readonly unknown[];
  readonly name: string;
  readonly isOpen: boolean;
}

/** A set of texts. */
interface WatchedSet {
  readonly holder: ReadonlySet<unknown>;
  readonly values: readonly unknown[];
  readonly name: string;
}

/** What is asked for anew each time. */
interface WatchedAnswer {
  readonly name: string;
  readonly ask: () => unknown;
  readonly value: unknown;
}

/** A field, or what an accessor of its class gives. */
interface WatchedField {
  readonly name: string;
  readonly holder: Holder;
  readonly key: string;
  readonly value: unknown;
}

const { getOwnPropertyNames: namesOf, getOwnPropertyDescriptor: descriptorOf } = Object;

const OF_LISTS = Reflect.ownKeys(Array.prototype).filter((key) => key !== 'length');
const hasMethodsOfLists = sameProperties(
  OF_LISTS,
  OF_LISTS.map((key) => Array.prototype[key as never]),
);

/** Whether a list has the methods of all lists, and none of its own. */
export function isPlainList(list: readonly unknown[]): boolean {
  return Object.getPrototypeOf(list) === Array.prototype && hasMethodsOfLists(list);
}

/** Looked at before each step, in plain loops: the calls of functions that would be named took most of the time. */
export class WatchedFields {
  readonly #objects: WatchedObject[] = [];
  readonly #lists: WatchedList[] = [];
  readonly #sets: WatchedSet[] = [];
  readonly #answers: WatchedAnswer[] = [];
  readonly #fields: WatchedField[] = [];
  readonly #classes = new KnownClasses();

  /** Fields of an object, each of which it has for itself. Others may come and go where they are aside; null: all may. */
  addObject(holder: object, fields: readonly string[], isAside: IsAside | null, what: string | null = null): void {
    const descriptors = fields.map((field) => descriptorOf(holder, field));
    this.#objects.push({
      holder: holder as Holder,
      prototype: Object.getPrototypeOf(holder) as object | null,
      names: isAside === null ? null : namesOf(holder),
      isAside,
      fields,
      values: descriptors.map((each) => each?.value as unknown),
      getters: descriptors.map((each) => each?.get),
      what,
    });
  }

  /** The elements of a list. */
  addList(holder: readonly unknown[], name: string, isOpen = false): void {
    this.#lists.push({ holder, values: [...holder], name, isOpen });
  }

  /** The elements of a set. */
  addSet(holder: ReadonlySet<unknown>, name: string): void {
    this.#sets.push({ holder, values: [...holder], name });
  }

  /** What `ask` gives. */
  addAnswer(name: string, ask: () => unknown): void {
    this.#answers.push({ name, ask, value: ask() });
  }

  /** What an object gives by a name, of itself or by its class. */
  addField(name: string, holder: object, key: string): void {
    this.#fields.push({ name, holder: holder as Holder, key, value: (holder as Holder)[key] });
  }

  /** The class of objects of a prototype, with those that it derives from. */
  addClass(prototype: object): void {
    this.#classes.add(prototype);
  }

  /** The name of the first field that is not as it was; null: none. */
  changed(): string | null {
    for (const { name, ask, value } of this.#answers) if (!Object.is(ask(), value)) return name;
    for (const { name, holder, key, value } of this.#fields) if (!Object.is(holder[key], value)) return name;
    for (const each of this.#objects) {
      const { holder, prototype, fields, values, getters, names, what } = each;
      if (Object.getPrototypeOf(holder) !== prototype) return `the class of ${what ?? 'an object'}`;
      for (let i = 0; i < fields.length; i++) {
        // A user's getter must not run: it may have side effects.
        const now = descriptorOf(holder, fields[i]!);
        if (now === undefined || !Object.is(now.value, values[i]) || now.get !== getters[i])
          return what === null ? fields[i]! : `the ${fields[i]} of ${what}`;
      }
      if (names === null) continue;
      const now = namesOf(holder);
      let i = now.length === names.length ? 0 : -1;
      while (i >= 0 && i < names.length && now[i] === names[i]) i++;
      if (i !== names.length && !hasItsFields(each)) return `the fields of ${what ?? 'an object'}`;
    }
    for (const { holder, values, name, isOpen } of this.#lists) {
      if (isOpen ? holder.length < values.length : holder.length !== values.length) return name;
      if (Object.getPrototypeOf(holder) !== Array.prototype || !hasMethodsOfLists(holder)) return name;
      for (let i = 0; i < values.length; i++) {
        const now = descriptorOf(holder, i);
        if (now === undefined || !Object.is(now.value, values[i])) return name;
      }
    }
    for (const { holder, values, name } of this.#sets) {
      if (holder.size !== values.length) return name;
      for (const value of values) if (!holder.has(value)) return name;
    }
    const replaced = this.#classes.changed();
    return replaced === null ? null : `${replaced.field} of class ${replaced.className}`;
  }
}

/** Whether an object whose fields are others than before, or in another order, has all that count. */
function hasItsFields(watched: WatchedObject): boolean {
  const { holder, names, isAside } = watched;
  const now = namesOf(holder);
  // One more, even a hidden one, may stand before a method of its class.
  const counting = (all: readonly string[]): string => JSON.stringify(all.filter((name) => !isAside!(name)).sort());
  if (counting(now) !== counting(names!)) return false;
  watched.names = now;
  return true;
}
