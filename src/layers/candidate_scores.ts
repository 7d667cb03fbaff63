/** The layer `CandidateScores`: how well users go with items that rows of a batch share. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import type { SymbolicShape } from '../base/layer_arguments.js';
import { readLayerConfig } from '../base/layer_config.js';
import { brand } from '../base/per_process.js';
import { refusePositional } from '../base/positional.js';
import { FLOAT_LAYER_FIELDS, readFloatInputs, readFloatLayerArgs, type FloatLayerArgs } from './float_inputs.js';
import type { AnyTensors, Kwargs } from './layer_calls.js';

/** Which items a user is compared with: all of the batch, or its own positive and all negatives of the batch. */
export type SharedCandidates = 'batch' | 'negatives';

export interface CandidateScoresArgs extends FloatLayerArgs {
  /** 'batch' (default) for `losses.inBatchSoftmax`, 'negatives' for `bpr`, `sampledSoftmax` and `cosineContrastive`. */
  candidates?: SharedCandidates | undefined;
}

const FIELDS = ['candidates'] as const;
const SHARED: readonly SharedCandidates[] = ['batch', 'negatives'];
const EXPECTED = 'vectors of users [batch, dim] and of items [batch, dim] or [batch, items, dim], float32';

function checkCandidates(value: unknown): SharedCandidates {
  if (value === undefined) return 'batch';
  if (typeof value !== 'string') throw new ArgumentTypeError('candidates', `'batch' or 'negatives'`, value);
  if (SHARED.includes(value as SharedCandidates)) return value as SharedCandidates;
  throw new ValueError('candidates', `'batch' or 'negatives'`, value);
}

/** Throws ValueError for what are no users and items; null is any size. */
function checkShapes(shapes: readonly SymbolicShape[], candidates: SharedCandidates): void {
  const [users, items] = shapes;
  const isPair = shapes.length === 2 && users!.length === 2 && (items!.length === 2 || items!.length === 3);
  const fits = (a: number | null | undefined, b: number | null | undefined): boolean =>
    (a ?? null) === null || (b ?? null) === null || a === b;
  if (!isPair || !fits(users![0], items![0]) || !fits(users![1], items!.at(-1))) {
    const text = shapes.map((shape) => `[${shape.map(String).join(', ')}]`).join(' and ');
    throw new ValueError('inputs', EXPECTED, described(text));
  }
  const each = items!.length === 3 ? items![1] : 1;
  if (candidates === 'negatives' && each !== null && each! < 2) {
    throw new ValueError('inputs', 'a positive and a negative at least for each user', described(`${each} items`));
  }
}

/**
 * A layer that multiplies vectors of users with those of items that all rows of a batch share, as one product of matrices.
 *
 * Takes users [batch, dim] and the items of each row, [batch, dim] or [batch, 1 + n, dim], the positive first. Returns
 * scores, float32: with `candidates: 'batch'` [batch, batch * (1 + n)], of the positives of all rows and then of all
 * negatives; with `'negatives'` [batch, 1 + batch * n], of the row's positive and then of all negatives. It has no weights.
 * Source: tensorflow_recommenders.tasks.Retrieval (0.7.7), which has the product of a batch.
 *
 * @throws TypeError for inputs that are no float32 tensors; ValueError for shapes that do not fit each other and for
 * candidates that are not known.
 *
 * @example
 * const [users, items] = [tf.tensor2d([[1, 0], [0, 1]]), tf.tensor2d([[1, 2], [3, 4]])];
 * emb.layers.candidateScores().apply([users, items]).print(); // [[1, 3], [2, 4]]
 */
export class CandidateScores extends tf.layers.Layer {
  static {
    brand(this, 'CandidateScores');
  }
  static readonly className: string = 'TfjsEmbeddings>CandidateScores';
  readonly candidates: SharedCandidates;

  /** @param args - See `CandidateScoresArgs`. */
  constructor(args?: CandidateScoresArgs);
  constructor(...all: [CandidateScoresArgs?]) {
    refusePositional('emb.layers.candidateScores', FIELDS, all);
    const { given, base } = readFloatLayerArgs<CandidateScoresArgs>(all[0] ?? {}, FIELDS, 'candidate_scores');
    super(base as never);
    this.candidates = checkCandidates(given.candidates);
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    const shapes = (Array.isArray(inputShape[0]) ? inputShape : [inputShape]) as SymbolicShape[];
    checkShapes(shapes, this.candidates);
    // As many columns as there are items in a batch.
    return [shapes[0]![0]!, null];
  }

  override apply(inputs: tf.SymbolicTensor[], kwargs?: Kwargs): tf.SymbolicTensor;
  override apply(inputs: tf.Tensor[], kwargs?: Kwargs): tf.Tensor;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors {
    checkShapes(
      readFloatInputs(inputs, EXPECTED).map(({ shape }) => shape),
      this.candidates,
    );
    return super.apply(inputs, kwargs as never);
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Kwargs): tf.Tensor {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      const [users, items] = inputs as [tf.Tensor2D, tf.Tensor];
      const dim = users.shape[1];
      const scoresOf = (vectors: tf.Tensor): tf.Tensor2D =>
        tf.matMul(users, vectors.reshape<tf.Tensor2D>([-1, dim]), false, true);
      if (items.rank === 2) return scoresOf(items);
      const positives = items.slice([0, 0, 0], [-1, 1, -1]).reshape([-1, dim]);
      const negatives = items.slice([0, 1, 0], [-1, -1, -1]).reshape([-1, dim]);
      if (this.candidates === 'batch') return scoresOf(tf.concat([positives, negatives]));
      return tf.concat([users.mul(positives).sum(1, true), scoresOf(negatives)], 1);
    });
  }

  override getConfig(): tf.serialization.ConfigDict {
    return { ...super.getConfig(), candidates: this.candidates };
  }

  /** Makes the layer from its own config, with snake_case or camelCase keys. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readLayerConfig(config, [...FIELDS, ...FLOAT_LAYER_FIELDS]) as tf.serialization.ConfigDict);
  }
}
