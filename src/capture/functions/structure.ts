/** Arguments or results of a call as a flat list of tensors, and what holds them: lists and objects of any depth. */
import { types } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';
import { isGivenKeys, type GivenKeys } from './given_keys.js';

type Tensors = readonly (tf.Tensor | null | undefined)[];
type Rebuild = (tensors: Tensors) => unknown;

const numbers = (): { next: number; readonly of: WeakMap<object, number> } =>
  perProcess('numbers of objects', () => ({ next: 0, of: new WeakMap() }));

/** A number that tells an object from all others. */
function numberOf(value: object): number {
  const known = numbers();
  const given = known.of.get(value) ?? known.next++;
  known.of.set(value, given);
  return given;
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Objects that change as they are used, and tell steps by themselves what of it matters. */
const OF_TFJS = [tf.Tensor, tf.Optimizer, tf.layers.Layer, tf.LayerVariable];

function isOfTfjs(value: object): boolean {
  return OF_TFJS.some((each) => value instanceof (each as unknown as new () => object));
}

/** Objects of the language whose contents may change and are no fields. */
function isContainer(value: object): boolean {
  const isKeyed = types.isMap(value) || types.isSet(value) || types.isDate(value);
  return isKeyed || types.isProxy(value) || ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value);
}

/** Values that are no tensors, among the fields of objects: so many are looked at in each call. */
const MOST_FIELDS = 4096;

function classOf(value: object): string {
  return (value.constructor as { name?: string } | undefined)?.name ?? 'no known class';
}

/** What of a call it is: results may hold nothing but tensors, as whatever else they hold is not known to stay. */
type Part = 'arguments' | 'results';

export class Structure {
  readonly tensors: tf.Tensor[] = [];
  /** Arrays of keys among arguments: of such a kind is their length alone. */
  readonly keys: GivenKeys[] = [];
  /** Why it cannot be part of a captured call; null: it can. */
  problem: string | null = null;
  /** All but the tensors, as a text: the same for two structures that differ by their tensors alone. */
  readonly kind: string;
  readonly #rebuild: Rebuild;
  readonly #texts: string[] = [];
  readonly #around: object[] = [];
  readonly #seen = new Set<object>();
  #fields = 0;

  private constructor(
    private readonly value: unknown,
    private readonly part: Part,
  ) {
    this.#rebuild = this.#visit(value);
    this.kind = this.#texts.join('');
  }

  /** What a call is given: of objects of a class all fields are looked at, which make another kind of call where they change. */
  static ofArguments(value: unknown): Structure {
    return new Structure(value, 'arguments');
  }

  static ofResults(value: unknown): Structure {
    return new Structure(value, 'results');
  }

  /** The same with these tensors in their places; itself where they are its own. */
  rebuilt(tensors: Tensors): unknown {
    return this.#hasTensors(tensors) ? this.value : this.#rebuild(tensors);
  }

  /** Whether a value, by default its own, is still of its kind and holds these tensors, by default its own too. */
  isStill(value: unknown = this.value, tensors: Tensors = this.tensors): boolean {
    const now = new Structure(value, this.part);
    return now.kind === this.kind && now.#hasTensors(tensors);
  }

  #hasTensors(tensors: Tensors): boolean {
    return tensors.length === this.tensors.length && this.tensors.every((tensor, i) => tensor === tensors[i]);
  }

  #visit(value: unknown): Rebuild {
    if (value instanceof tf.Tensor && !(value instanceof tf.Variable)) return this.#visitTensor(value);
    if (value === null || typeof value !== 'object' || types.isProxy(value)) return this.#visitLeaf(value);
    if (this.#around.includes(value)) {
      // And is never rebuilt.
      this.problem ??= 'holds itself';
      return () => undefined;
    }
    this.#around.push(value);
    try {
      if (Array.isArray(value)) return this.#visitList(value as unknown[]);
      return isPlainObject(value) ? this.#visitFields(value) : this.#visitLeaf(value);
    } finally {
      this.#around.pop();
    }
  }

  #visitTensor(tensor: tf.Tensor): Rebuild {
    const place = this.tensors.push(tensor) - 1;
    this.#texts.push('t,');
    return (tensors) => tensors[place];
  }

  #visitList(list: unknown[]): Rebuild {
    this.#texts.push('[');
    const elements = list.map((each) => this.#visit(each));
    this.#texts.push(']');
    return (tensors) => elements.map((each) => each(tensors));
  }

  #visitFields(value: object): Rebuild {
    this.#texts.push('{');
    const fields = Object.entries(value).map(([name, each]) => {
      this.#texts.push(JSON.stringify(name), ':');
      return [name, this.#visit(each)] as const;
    });
    this.#texts.push('}');
    return (tensors) => Object.fromEntries(fields.map(([name, each]) => [name, each(tensors)]));
  }

  #visitLeaf(value: unknown): Rebuild {
    if (this.part === 'arguments' && isGivenKeys(value)) {
      this.keys.push(value);
      this.#texts.push(`${classOf(value)} of ${value.length},`);
      return () => value;
    }
    if (value instanceof RaggedTensor) {
      this.problem ??= 'holds a RaggedTensor, whose rows are read in JavaScript: pad them';
    } else if (value instanceof Promise) {
      this.problem ??= 'is a promise';
    } else if (this.part === 'results') this.#checkResult(value);
    this.#note(value);
    return () => value;
  }

  #checkResult(value: unknown): void {
    if (value === null || value === undefined || value instanceof tf.Variable) return;
    const what = typeof value === 'object' ? `an object of class ${classOf(value)}` : `a ${typeof value}`;
    this.problem ??= `holds ${what}, which may be another one in each call: return tensors, in lists and objects`;
  }

  /** Writes down a value that is no tensor of the call. */
  #note(value: unknown): void {
    if ((typeof value !== 'object' || value === null) && typeof value !== 'function') {
      this.#texts.push(textOf(value), ',');
      return;
    }
    this.#texts.push(`#${numberOf(value)},`);
    if (this.part === 'results' || typeof value === 'function' || isOfTfjs(value) || this.#seen.has(value)) return;
    this.#seen.add(value);
    if (isContainer(value)) {
      this.problem ??= `holds an object of class ${classOf(value)}, whose contents may change: give tensors, or lists`;
    } else {
      this.#noteFields(value);
    }
  }

  #noteFields(value: object): void {
    this.#texts.push('(');
    for (const name of Object.keys(value)) {
      const { value: field, get } = Object.getOwnPropertyDescriptor(value, name)!;
      if (++this.#fields > MOST_FIELDS) {
        this.problem ??= `holds an object of class ${classOf(value)} with more than ${MOST_FIELDS} values`;
        break;
      }
      this.#texts.push(JSON.stringify(name), ':');
      this.#note(get ?? field);
    }
    this.#texts.push(')');
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value === 'bigint') return `${value}n`;
  return typeof value === 'string' ? JSON.stringify(value) : String(value as boolean);
}
