/**
 * Tensors of a step whose first size the ids decide, or that are data sets of any number of rows: what is made of them
 * must not depend on it in JavaScript.
 */
import type { OpAttribute } from '../backends/tensorflow/node_backend.js';

/** An op, whether the first size of each input is open, and the ranks of the inputs. */
export interface SizedOp {
  readonly name: string;
  readonly attributes: readonly OpAttribute[];
  readonly isOpen: readonly boolean[];
  readonly ranks: readonly number[];
}

const NONE: readonly boolean[] = [];

/** Which outputs have an open first size; null: the op would be told that size by JavaScript. */
export function openOutputs({ name, isOpen, ranks }: SizedOp): readonly boolean[] | null {
  switch (name) {
    case 'EmbeddingPresentIds':
      return [true, isOpen[1]!];
    case 'EmbeddingTouchedRows':
    case 'EmbeddingPresentWeights':
      return [true];
    case 'EmbeddingSpreadWeights':
    case 'EmbeddingFeatureRows':
    case 'EmbeddingNormGrad':
    case 'EmbeddingWholeIds':
      return [isOpen[0]!];
    case 'EmbeddingCheckWeights':
      return NONE;
    case 'EmbeddingBagWeightsGrad':
    case 'EmbeddingPackedBagWeightsGrad':
      // One number for each id.
      return [isOpen[2]!];
    case 'EmbeddingBagGrad':
      return [true, true];
    case 'EmbeddingBag':
    case 'EmbeddingPackedBag':
      // One row for each bag, however many ids.
      return [isOpen[2]!];
    case 'EmbeddingBags': {
      const count = (isOpen.length - 2) / 4;
      return isOpen.slice(2 * count, 3 * count);
    }
    case 'EmbeddingTakeRows':
      // As many as there are numbers of rows, whatever they are taken from.
      return isOpen.slice(1).map(() => isOpen[0]!);
    case 'RaggedGather':
      // Splits of as many rows as there are numbers; how many values they have, the rows decide.
      return [false, true];
    case 'EmbeddingRowPenalty':
    case 'EmbeddingPackedRowPenalty':
      return [false];
    case 'EmbeddingRowPenaltyGrad':
    case 'EmbeddingPackedRowPenaltyGrad':
      return [isOpen[1]!];
    default:
  }
  if (!isOpen.includes(true)) return NONE;
  if (/^Embedding(Sparse|Packed)Apply/.test(name)) return NONE;
  if (name === 'EmbeddingSingleSplits' || name === 'ConcatV2' || name === 'Square') return [true];
  // By a number alone: sizes that must agree could agree by chance.
  if (name === 'Mul' && isOpen.some((each, i) => !each && ranks[i] === 0)) return [true];
  if (name === 'Sum') return [false];
  return null;
}
