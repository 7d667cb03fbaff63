/**
 * Fields on which a recorded step may depend though no op shows them: those of all objects that it reaches, and the
 * methods of their classes. A step is repeated only while all of them are as they were.
 */
import type { KnownClass } from './known/known_classes.js';

type Holder = Record<PropertyKey, unknown>;

/** An object with the fields that it has and their values. */
interface WatchedObject {
  readonly holder: Holder;
  readonly prototype: object | null;
  /** How many fields it has, those that are not watched included. */
  readonly count: number;
  readonly fields: readonly string[];
  readonly values: readonly unknown[];
  /** What reads a field, where a function does. */
  readonly getters: readonly unknown[];
  /** Methods that it has of its class. */
  readonly methods: readonly string[];
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

/** Methods by which a step begins, and which an object would hide by one of its own that nobody enumerates. */
const METHODS = ['call', 'apply', 'computeMask', 'calculateLosses', 'read', 'write', 'losses', 'invokeCallHook'];
const { hasOwnProperty } = Object.prototype;
const descriptorOf = Object.getOwnPropertyDescriptor;

export class WatchedFields {
  readonly #objects: WatchedObject[] = [];
  readonly #lists: WatchedList[] = [];
  readonly #answers: WatchedAnswer[] = [];
  readonly #classes = new Set<KnownClass>();

  /** Fields of an object, each of which it has for itself, and how many others there are. */
  addObject(holder: object, fields: readonly string[]): void {
    const descriptors = fields.map((field) => descriptorOf(holder, field));
    this.#objects.push({
      holder: holder as Holder,
      prototype: Object.getPrototypeOf(holder) as object | null,
      count: Object.keys(holder).length,
      fields,
      values: descriptors.map((each) => each?.value as unknown),
      getters: descriptors.map((each) => each?.get),
      methods: METHODS.filter((method) => method in holder && !hasOwnProperty.call(holder, method)),
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

function changedField({ holder, prototype, count, fields, values, getters, methods }: WatchedObject): string | null {
  if (Object.getPrototypeOf(holder) !== prototype) return 'the class of an object';
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]!;
    // Somebody's getter must not run: it may count.
    const now = descriptorOf(holder, field);
    if (now === undefined || !Object.is(now.value, values[i]) || now.get !== getters[i]) return field;
  }
  if (Object.keys(holder).length !== count) return 'the fields of an object';
  for (let i = 0; i < methods.length; i++) if (hasOwnProperty.call(holder, methods[i]!)) return methods[i]!;
  return null;
}

function isChanged({ holder, values, isOpen }: WatchedList): boolean {
  if (isOpen ? holder.length < values.length : holder.length !== values.length) return true;
  for (let i = 0; i < values.length; i++) {
    const now = descriptorOf(holder, i);
    if (now === undefined || !Object.is(now.value, values[i])) return true;
  }
  return false;
}
