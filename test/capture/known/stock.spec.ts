/** What is taken for a class, function or method of tfjs. */
import * as tf from '@tensorflow/tfjs';
// What the package wraps is snapshot with it, before anything else is.
import 'tfjs-embeddings/node';
import { KnownClasses, isKnownClass, takeClasses, takeNamed } from '../../../src/capture/known/known_classes.js';
import { isStock, isStockFunction } from '../../../src/capture/known/stock.js';

describe('Stock', () => {
  it('is what factories of tfjs make, of every kind', () => {
    const cell = tf.layers.lstmCell({ units: 2 });
    const made = [
      tf.layers.dense({ units: 2 }),
      tf.layers.conv3d({ filters: 1, kernelSize: 1 }),
      tf.layers.rnn({ cell }),
      tf.layers.stackedRNNCells({ cells: [cell] }),
      tf.layers.bidirectional({ layer: tf.layers.gru({ units: 2, returnSequences: true }) as tf.RNN }),
      tf.layers.timeDistributed({ layer: tf.layers.dense({ units: 2 }) }),
      tf.regularizers.l2(),
      tf.constraints.unitNorm({ axis: 0 }),
      tf.initializers.constant({ value: 2 }),
      (tf.layers.activation({ activation: 'mish' }) as unknown as { activation: object }).activation,
      cell,
    ];
    for (const each of made) expect(isStock(each)).withContext(each.constructor.name).toBeTrue();
  });

  it('is no class of a user, whatever its name and whenever it was registered', () => {
    class Dropout extends tf.layers.Layer {
      static className = 'Dropout';
    }
    class Derived extends (tf.layers.dense({ units: 1 }).constructor as typeof tf.layers.Layer) {
      static className = 'Dense';
    }
    const { classNameMap } = tf.serialization.SerializationMap.getMap();
    const former = { ...classNameMap };
    try {
      for (const cls of [Dropout, Derived]) tf.serialization.registerClass(cls);
      takeNamed();
      expect(isStock(new Dropout({}))).toBeFalse();
      expect(isStock(new Derived({ units: 1 } as object))).toBeFalse();
      expect(isStock(tf.layers.dropout({ rate: 0.5 }))).toBeTrue();
    } finally {
      Object.assign(classNameMap, former);
    }
  });

  it('takes no numbers of layers without names, and makes no tensors', () => {
    const before = tf.memory().numTensors;
    const numberOf = (): number => Number(/\d+$/.exec(tf.layers.masking({}).name)![0]);
    const first = numberOf();
    isStock({});
    expect(numberOf()).toBe(first + 1);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('holds the losses and metrics of tfjs alone', () => {
    expect(isStockFunction(tf.losses.huberLoss)).toBeTrue();
    expect(isStockFunction(tf.metrics.binaryAccuracy)).toBeTrue();
    expect(isStockFunction(() => tf.scalar(1))).toBeFalse();
  });

  it('knows methods that were replaced, on a class or on one that it derives from', () => {
    class Base extends tf.layers.Layer {
      static className = 'BaseOfStock';
    }
    class Own extends Base {
      static override className = 'OwnOfStock';
    }
    takeClasses([Own]);
    const known = new KnownClasses().add(Own.prototype);
    expect(known.changed()).toBeNull();
    Object.defineProperty(Base.prototype, 'calculateLosses', { value: () => [], configurable: true });
    expect(known.changed()?.field).toBe('calculateLosses');
    takeClasses([Own]);
    expect(new KnownClasses().add(Own.prototype).changed()?.field).toBe('calculateLosses');
    Reflect.deleteProperty(Base.prototype, 'calculateLosses');
    expect(known.changed()).toBeNull();
    Object.defineProperty(Own.prototype, 'losses', { get: () => [] });
    expect(known.changed()).toEqual({ className: 'Own', field: 'losses' });
    class Other extends Base {
      static override className = 'OtherOfStock';
    }
    expect(isKnownClass(Other.prototype)).toBeFalse();
  });
});
