/**
 * GRU as Keras has it by default: the gate `reset` is applied after the product with the recurrent kernel, and that
 * product has a bias of its own. That of TensorFlow.js knows the other form alone; the loop over the steps is its.
 */
import * as tf from '@tensorflow/tfjs';
import { nextName } from '../../base/layer_names.js';
import { dropped } from '../dropped.js';

type Args = Readonly<Record<string, unknown>>;
type Activation = { apply(x: tf.Tensor): tf.Tensor };

/** What a cell of tfjs holds. */
interface StockCell extends tf.layers.Layer {
  readonly units: number;
  useBias: boolean;
  readonly activation: Activation;
  readonly recurrentActivation: Activation;
  readonly kernel: tf.LayerVariable;
  readonly recurrentKernel: tf.LayerVariable;
  bias: tf.LayerVariable | null;
  readonly biasInitializer: ReturnType<typeof tf.initializers.zeros>;
  readonly biasRegularizer: ReturnType<typeof tf.regularizers.l2>;
  readonly biasConstraint: ReturnType<typeof tf.constraints.nonNeg>;
  readonly dropout: number;
  readonly recurrentDropout: number;
  /** Kept from step to step; the layer frees them before the next sequence. */
  dropoutMask: tf.Tensor | null;
  recurrentDropoutMask: tf.Tensor | null;
}

interface StockGru extends tf.layers.Layer {
  cell: StockCell;
}

type ClassOf<T> = { new (args: Args): T; readonly prototype: T };

const SAMPLE = { name: 'stock', units: 1 } as const;
// Classes of tfjs that it does not export; a user may have registered others under their names.
const StockGruCell = tf.layers.gruCell(SAMPLE).constructor as ClassOf<StockCell>;
const StockGru = tf.layers.gru(SAMPLE).constructor as ClassOf<StockGru>;

/** Inverted-dropout mask. */
function keptMask(like: tf.Tensor, rate: () => number, isTraining: boolean): tf.Tensor {
  return tf.keep(isTraining ? dropped(tf.ones(like.shape), rate) : tf.onesLike(like));
}

/** One step. */
export class GRUCell extends StockGruCell {
  static readonly className: string = 'TfjsEmbeddings>GRUCell';

  constructor(args: Args) {
    // The stock cell refuses true.
    super({ ...args, resetAfter: false });
  }

  override build(inputShape: tf.Shape | tf.Shape[]): void {
    const { useBias, units } = this;
    this.useBias = false;
    super.build(inputShape);
    this.useBias = useBias;
    if (!useBias) return;
    const { biasInitializer, biasRegularizer, biasConstraint } = this;
    const shape = [2, 3 * units];
    this.bias = this.addWeight('bias', shape, undefined, biasInitializer, biasRegularizer, true, biasConstraint);
  }

  /** Takes an input [batch, features] and a state [batch, units]; gives the new state, as output and as state. */
  override call(inputs: tf.Tensor | tf.Tensor[], { training }: Args): tf.Tensor[] {
    return tf.tidy(() => {
      let [x, h] = inputs as [tf.Tensor2D, tf.Tensor2D];
      const { dropout, recurrentDropout, units } = this;
      if (dropout > 0 && dropout < 1) {
        this.dropoutMask ??= keptMask(x, () => this.dropout, training === true);
        x = x.mul(this.dropoutMask);
      }
      if (recurrentDropout > 0 && recurrentDropout < 1) {
        this.recurrentDropoutMask ??= keptMask(h, () => this.recurrentDropout, training === true);
        h = h.mul(this.recurrentDropoutMask);
      }
      const [biasX, biasH] = this.bias === null ? [null, null] : tf.unstack(this.bias.read());
      const product = (
        input: tf.Tensor2D,
        kernel: tf.LayerVariable,
        bias: tf.Tensor | null | undefined,
      ): tf.Tensor[] => {
        const values = input.matMul<tf.Tensor>(kernel.read());
        return tf.split(bias ? values.add(bias) : values, [units, units, units], 1);
      };
      const [xz, xr, xh] = product(x, this.kernel, biasX) as [tf.Tensor, tf.Tensor, tf.Tensor];
      const [hz, hr, hh] = product(h, this.recurrentKernel, biasH) as [tf.Tensor, tf.Tensor, tf.Tensor];
      const update = this.recurrentActivation.apply(xz.add(hz));
      const reset = this.recurrentActivation.apply(xr.add(hr));
      const candidate = this.activation.apply(xh.add(reset.mul(hh)));
      const state = update.mul(h).add(tf.sub(1, update).mul(candidate));
      return [state, state];
    });
  }

  override getConfig(): tf.serialization.ConfigDict {
    return { ...super.getConfig(), resetAfter: true };
  }
}

/**
 * The layer, for models of Keras: `loadKerasModel` makes it of a GRU with `reset_after`. It takes the arguments of
 * `tf.layers.gru`.
 * Source: keras.layers.GRU (Keras 3) with reset_after=True.
 */
export class GRU extends StockGru {
  static readonly className: string = 'TfjsEmbeddings>GRU';

  constructor(args: Args) {
    const named = { ...args, name: args['name'] ?? nextName('gru') };
    super({ ...named, resetAfter: false });
    this.cell = new GRUCell(named);
  }
}
