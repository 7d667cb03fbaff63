/** Models in files whose weights are read as they are asked for. */
import type * as tf from '@tensorflow/tfjs';
import type { KerasVersion } from '../../tfjs/models/keras_rules.js';

/** An array in a file. */
export interface StoredArray {
  /** As the model calls it. */
  readonly name: string;
  readonly dtype: tf.DataType;
  readonly shape: readonly number[];
  /** Whether it was frozen when it was saved. */
  readonly isFrozen?: boolean;
  /** The bytes of its numbers, in pieces of whole numbers, each of use until the next is asked for; null: `read` alone. */
  readonly pieces: (() => AsyncIterable<Uint8Array>) | null;
  /** All of it, where its bytes are no numbers: strings, quantized weights. */
  read?(): Promise<tf.Tensor>;
}

/** A model in files. */
export interface StoredModel {
  /** Everything but the weights. */
  readonly artifacts: Pick<tf.io.ModelArtifacts, 'modelTopology' | 'trainingConfig' | 'userDefinedMetadata'>;
  /** The Keras whose rules it follows; null: it follows tfjs. */
  readonly kerasRules: KerasVersion | null;
  readonly weights: readonly StoredArray[];
  /** State of the optimizer. */
  readonly state: readonly StoredArray[];
  /** The error for what does not fit; it names the file. */
  refuse(found: string, note?: string): Error;
}
