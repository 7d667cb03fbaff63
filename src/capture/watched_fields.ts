/**
 * Fields on which a recorded step may depend though no op shows them: those of all objects that it reaches, and the
 * methods of their classes. A step is repeated only while all of them are as they were.
 */
import type { KnownClass } from './known/known_classes.js';
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

/** What is asked for anew each time. */
interface WatchedAnswer {
  readonly name: string;
  readonly ask: () => unknown;
  readonly value: unknown;
}

const { getOwnPropertyNames: namesOf, getOwnPropertyDescriptor: descriptorOf } = Object;

export class WatchedFields {
  readonly #objects: WatchedObject[] = [];
  readonly #lists: WatchedList[] = [];
  readonly #answers: WatchedAnswer[] = [];
  readonly #classes = new Set<KnownClass>();

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

  /** What `ask` gives. */
  addAnswer(name: string, ask: () => unknown): void {
    this.#answers.push({ name, ask, value: ask() });
  }

  /** A class with those that it derives from. */
  addClass(known: KnownClass): void {
    if (this.#classes.has(known)) return;
    for (const each of known.withBases()) this.#classes.add(each);
  }

  /** The name of the first field that is not as it was; null: none. */
  changed(): string | null {
    for (const { name, ask, value } of this.#answers) if (!Object.is(ask(), value)) return name;
    for (const each of this.#objects) {
      const field = changedField(each);
      if (field !== null) return field;
    }
    for (const each of this.#lists) if (isChanged(each)) return each.name;
    for (const each of this.#classes) {
      const method = each.changed();
      if (method !== null) return `${method} of class ${each.name}`;
    }
    return null;
  }
}

function changedField(watched: WatchedObject): string | null {
  const { holder, prototype, fields, values, getters, what } = watched;
  if (Object.getPrototypeOf(holder) !== prototype) return `the class of ${what ?? 'an object'}`;
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]!;
    // A user's getter must not run: it may have side effects.
    const now = descriptorOf(holder, field);
    if (now === undefined || !Object.is(now.value, values[i]) || now.get !== getters[i])
      return what === null ? field : `the ${field} of ${what}`;
  }
  return hasItsFields(watched) ? null : `the fields of ${what ?? 'an object'}`;
}

/** One more, even a hidden one, may stand before a method of its class. */
function hasItsFields(watched: WatchedObject): boolean {
  const { holder, names, isAside } = watched;
  if (names === null || isAside === null) return true;
  const now = namesOf(holder);
  if (areSame(now, names)) return true;
  const counting = (all: readonly string[]): string[] => all.filter((name) => !isAside(name)).sort();
  if (!areSame(counting(now), counting(names))) return false;
  watched.names = now;
  return true;
}

function areSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function isChanged({ holder, values, isOpen }: WatchedList): boolean {
  if (isOpen ? holder.length < values.length : holder.length !== values.length) return true;
  if (!isPlainList(holder)) return true;
  for (let i = 0; i < values.length; i++) {
    const now = descriptorOf(holder, i);
    if (now === undefined || !Object.is(now.value, values[i])) return true;
  }
  return false;
}

const OF_LISTS = Reflect.ownKeys(Array.prototype).filter((key) => key !== 'length');
const hasMethodsOfLists = sameProperties(
  OF_LISTS,
  OF_LISTS.map((key) => Array.prototype[key as never]),
);

/** Whether a list has the methods of all lists, and none of its own. */
export function isPlainList(list: readonly unknown[]): boolean {
  return Object.getPrototypeOf(list) === Array.prototype && hasMethodsOfLists(list);
}
