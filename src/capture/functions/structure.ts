/** Arguments or results of a call as a flat list of tensors, and what holds them: lists and objects of any depth. */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';

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

export class Structure {
  readonly tensors: tf.Tensor[] = [];
  /** Why it cannot be part of a captured call; null: it can. */
  problem: string | null = null;
  /** All but the tensors, as a text: the same for two structures that differ by their tensors alone. */
  readonly kind: string;
  readonly #rebuild: Rebuild;
  readonly #texts: string[] = [];

  private constructor(value: unknown) {
    this.#rebuild = this.#visit(value);
    this.kind = this.#texts.join('');
  }

  static of(value: unknown): Structure {
    return new Structure(value);
  }

  /** The same with these tensors in their places. */
  rebuilt(tensors: Tensors): unknown {
    return this.#rebuild(tensors);
  }

  #visit(value: unknown): Rebuild {
    if (value instanceof tf.Tensor && !(value instanceof tf.Variable)) return this.#visitTensor(value);
    if (Array.isArray(value)) {
      this.#texts.push('[');
      const elements = (value as unknown[]).map((each) => this.#visit(each));
      this.#texts.push(']');
      return (tensors) => elements.map((each) => each(tensors));
    }
    if (value !== null && typeof value === 'object' && isPlainObject(value)) return this.#visitFields(value);
    this.#texts.push(this.#textOf(value), ',');
    return () => value;
  }

  #visitTensor(tensor: tf.Tensor): Rebuild {
    const place = this.tensors.push(tensor) - 1;
    this.#texts.push('t,');
    return (tensors) => tensors[place];
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

  #textOf(value: unknown): string {
    if (value instanceof RaggedTensor) {
      this.problem ??= 'holds a RaggedTensor, whose rows are read in JavaScript: pad them';
    } else if (value instanceof Promise) {
      this.problem ??= 'is a promise';
    }
    if ((typeof value === 'object' && value !== null) || typeof value === 'function') return `#${numberOf(value)}`;
    if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
    return typeof value === 'string' ? JSON.stringify(value) : String(value as boolean);
  }
}
