/** What holds the weights of a table that no layer holds. */
import * as tf from '@tensorflow/tfjs';
import type { Initializer } from '../initializers.js';
import type { WeightForm } from '../storage.js';
import type { TableHolder } from '../table_holder.js';

/** Holds the weights of a table that no layer holds yet. */
export class WeightHolder extends tf.layers.Layer implements TableHolder {
  static readonly className = 'TfjsEmbeddings>OpenTableHolder';

  createWeight(initializer: Initializer): tf.LayerVariable {
    const { shape, dtype } = this.#form;
    return this.addWeight('embeddings', shape, dtype, initializer, undefined, true);
  }

  createState(name: string, shape: number[]): tf.LayerVariable {
    return this.addWeight(name, shape, 'int32', tf.initializers.zeros(), undefined, false);
  }

  readonly #form: WeightForm;

  constructor(name: string, form: WeightForm) {
    super({ name });
    this.#form = form;
  }
}
