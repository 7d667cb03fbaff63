/**
 * Whether an op of ours gives the bits that TensorFlow gives on this machine. Both add up in some order, and
 * TensorFlow's depends on the processor: it is looked at once for each size, before ours takes its place.
 */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { asNodeBackend, type OpAttribute } from '../../backends/tensorflow/node_backend.js';

/** The part of tfjs-node that runs ops on tensors which nobody else sees: a step may be recorded meanwhile. */
interface RawBinding {
  createTensor(shape: readonly number[], dtype: number, values: ArrayBufferView): number;
  deleteTensor(id: number): void;
  tensorDataSync(id: number): Float32Array;
  executeOp(
    name: string,
    attributes: readonly OpAttribute[],
    inputs: readonly number[],
    outputs: number,
  ): { id: number }[];
}

export interface Op {
  readonly name: string;
  readonly attributes: readonly OpAttribute[];
}

export interface Input {
  readonly shape: readonly number[];
  readonly values: Float32Array | Int32Array;
}

/** Runs an op that gives one tensor of floats; returns the bits of its numbers. */
export type Run = (op: Op, inputs: readonly Input[]) => Int32Array;

/** A result that TensorFlow gives in its way, and we in ours, of factors of these shapes. */
export interface TwoWays {
  /** What tells it from all others. */
  readonly key: string;
  readonly shapes: readonly (readonly number[])[];
  /** Numbers of the result, and terms of the sum that each of them is. */
  readonly size: number;
  readonly terms: number;
  stock(run: Run, factors: readonly Input[]): Int32Array;
  own(run: Run, factors: readonly Input[]): Int32Array;
}

/** So many numbers are compared at least, as a few may be the same by chance. Long sums nearly never are. */
const FEWEST = 64;
const FEWEST_OF_LONG = 24;
const LONG = 256;

const known = (): Map<string, boolean> => perProcess('exact ops', () => new Map());

/** Numbers of both signs, so that sums lose digits, and other orders lose others: those of Park and Miller. */
class Draws {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  floats(length: number): Float32Array {
    const values = new Float32Array(length);
    for (let i = 0; i < length; i++) {
      this.#state = (this.#state * 48271) % 2147483647;
      values[i] = this.#state / 1073741824 - 1;
    }
    return values;
  }
}

const sizeOf = (shape: readonly number[]): number => tf.util.sizeFromShape([...shape]);

function bitsBy(run: (given: Run) => Int32Array): Int32Array {
  const { binding } = asNodeBackend(tf.backend());
  const raw = binding as unknown as RawBinding;
  const made: number[] = [];
  try {
    return run(({ name, attributes }, inputs) => {
      const given = inputs.map(({ shape, values }) => {
        const type = values instanceof Int32Array ? binding.TF_INT32 : binding.TF_FLOAT;
        return raw.createTensor(shape, type, values);
      });
      made.push(...given);
      const [output] = raw.executeOp(name, attributes, given, 1);
      made.push(output!.id);
      const { buffer, byteOffset, length } = raw.tensorDataSync(output!.id);
      return new Int32Array(buffer, byteOffset, length);
    });
  } finally {
    made.forEach((id) => raw.deleteTensor(id));
  }
}

function agree(ways: TwoWays, values: readonly Float32Array[]): boolean {
  const factors = ways.shapes.map((shape, i) => ({ shape, values: values[i]! }));
  const [stock, own] = [bitsBy((run) => ways.stock(run, factors)), bitsBy((run) => ways.own(run, factors))];
  return stock.length === own.length && stock.every((bits, i) => bits === own[i]);
}

function found(ways: TwoWays): boolean {
  const { size, terms, shapes } = ways;
  if (size === 0 || terms === 0) return true;
  // Sums of negative zeros: their sign tells what a sum begins with.
  const zeros = shapes.map((shape, i) => new Float32Array(sizeOf(shape)).fill(i === 0 ? 0 : -1));
  if (!agree(ways, zeros)) return false;
  const draws = new Draws(1 + size + 7 * terms);
  const rounds = Math.ceil((terms < LONG ? FEWEST : FEWEST_OF_LONG) / size);
  for (let round = 0; round < rounds; round++) {
    if (!agree(ways, shapes.map((shape) => draws.floats(sizeOf(shape))))) return false; // prettier-ignore
  }
  return true;
}

/** Whether ours has the bits of TensorFlow's. */
export function isExact(ways: TwoWays): boolean {
  const answer = known().get(ways.key) ?? found(ways);
  known().set(ways.key, answer);
  return answer;
}
