/** Generated ids and weights in the forms in which people give them, and as the bags that they stand for. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import type { HostBags } from '../../../src/backends/kernel_set.js';
import { isDense, type BatchCase, type DistributedCase, type InputCase } from './generated_case.js';

type Bags = readonly (readonly number[])[];

export interface GivenInput {
  readonly ids: unknown;
  readonly weights: unknown;
}

function splitsOf(bags: Bags): Int32Array {
  const splits = new Int32Array(bags.length + 1);
  bags.forEach((bag, i) => (splits[i + 1] = splits[i]! + bag.length));
  return splits;
}

/** The shape of a dense batch. */
function shapeOf({ form, inner }: InputCase, bags: Bags): number[] {
  const valence = bags[0]?.length ?? 2;
  if (form === 'vector') return [bags.length];
  return form === 'cube' ? [bags.length / inner, inner, valence] : [bags.length, valence];
}

/** Arrays in arrays, which have no shape where a batch is empty. */
const hasArrays = (bags: Bags): boolean => bags.length > 0 && bags.some((bag) => bag.length > 0);

/** Numbers, one per id, in the form of the input. */
function inForm(input: InputCase, bags: Bags, flat: Int32Array | Float32Array): unknown {
  const isWeight = flat instanceof Float32Array;
  const { form, inner } = input;
  const splits = splitsOf(bags);
  switch (form) {
    case 'array':
      return hasArrays(bags) ? bags.map((bag) => [...bag]) : tf.tensor(flat, shapeOf(input, bags));
    case 'uneven':
      return hasArrays(bags) ? bags.map((bag) => [...bag]) : emb.RaggedTensor.fromRowSplits(flat, splits);
    case 'ragged':
      return emb.RaggedTensor.fromRowSplits(flat, splits);
    case 'nested': {
      const outer = Int32Array.from({ length: bags.length / inner + 1 }, (_, i) => i * inner);
      return emb.RaggedTensor.fromNestedRowSplits(flat, [outer, splits]);
    }
    case 'pair':
      return { values: flat, rowSplits: splits };
    case 'tensorPair':
      return [tf.tensor1d(flat), tf.tensor1d(splits, 'int32')];
    case 'sparse': {
      const longest = bags.reduce((most, bag) => Math.max(most, bag.length), 1);
      const indices = bags.flatMap((bag, row) => bag.flatMap((_, column) => [row, column]));
      return { indices: Int32Array.from(indices), values: flat, denseShape: [bags.length, longest] };
    }
    default:
      return tf.tensor(flat, shapeOf(input, bags), form === 'float' || isWeight ? 'float32' : 'int32');
  }
}

/** The ids and weights of one call. Tensors among them belong to the tidy that runs. */
export function givenInput(input: InputCase, { bags, weights }: BatchCase): GivenInput {
  const ids = inForm(input, bags, Int32Array.from(bags.flat()));
  if (weights === null) return { ids, weights: null };
  const flat = Float32Array.from(weights.flat());
  return { ids, weights: input.hasFlatWeights ? flat : inForm(input, weights, flat) };
}

/** What a batch amounts to for the kernels. */
export interface PooledBags {
  readonly bags: HostBags;
  readonly combiner: emb.Combiner;
}

/** Bags without absent ids; one for each id where nothing is pooled. */
export function pooledBags(example: DistributedCase, input: InputCase, { bags, weights }: BatchCase): PooledBags {
  const { isConfig } = example;
  const { combiner, maskZero, ragged } = example.items[input.item]!;
  const isSingle = combiner === null || input.form === 'vector';
  const skipsZero = maskZero && combiner !== null && !isConfig;
  const skipsNegative = isDense(input.form) && (isConfig || ragged);
  const isPresent = (id: number): boolean => !(skipsZero && id === 0) && !(skipsNegative && id < 0);
  const pairs = bags.map((bag, b) => bag.map((id, i) => [id, weights?.[b]![i] ?? 1] as const));
  const apart = isSingle ? pairs.flatMap((bag) => bag.map((pair) => [pair])) : pairs;
  const kept = apart.map((bag) => bag.filter(([id]) => isPresent(id)));
  const isWeighted = weights !== null && (!isSingle || combiner === 'sum');
  return {
    combiner: isSingle ? 'sum' : combiner,
    bags: {
      values: Int32Array.from(kept.flatMap((bag) => bag.map(([id]) => id))),
      rowSplits: splitsOf(kept.map((bag) => bag.map(([id]) => id))),
      weights: isWeighted ? Float32Array.from(kept.flatMap((bag) => bag.map(([, weight]) => weight))) : null,
    },
  };
}
