import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectError } from '../../helpers/errors.js';
import { expectNoLeak } from '../../helpers/tensors.js';

const { tpu } = emb;

describe('tpu.TableConfig', () => {
  it('has the defaults of TensorFlow', () => {
    const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4 });
    const { vocabularySize, dim, optimizer, combiner, name, quantizationConfig, layout, dtype } = table;
    expect({ vocabularySize, dim, optimizer, combiner, name, quantizationConfig, layout, dtype }).toEqual({
      vocabularySize: 8,
      dim: 4,
      optimizer: null,
      combiner: 'mean',
      name: null,
      quantizationConfig: null,
      layout: null,
      dtype: 'float32',
    });
    const { mean, stddev } = (table.initializer as ReturnType<typeof tf.initializers.truncatedNormal>).getConfig();
    expect([mean, stddev]).toEqual([0, 0.5]);
  });

  it('takes functions, initializers, names and configs of initializers', () => {
    const make = (initializer: emb.tpu.TableInitializerInput): emb.tpu.TableInitializer =>
      new tpu.TableConfig({ vocabularySize: 8, dim: 4, initializer }).initializer;
    const ones = (shape: number[]): tf.Tensor => tf.ones(shape);
    expect(make(ones)).toBe(ones);
    const zeros = tf.initializers.zeros();
    expect(make(zeros)).toBe(zeros);
    expect((make('ones') as typeof zeros).getClassName()).toBe('Ones');
    const rows = { className: 'RowIdInitializer', config: { offset: 3 } };
    expect((make(rows) as emb.tpu.RowIdInitializer).offset).toBe(3);
  });

  const all = {
    vocabularySize: 9,
    dim: 3,
    initializer: new tpu.RowIdInitializer({ offset: 2 }),
    optimizer: new tpu.Adam({ learningRate: 0.5, lazyAdam: false }),
    combiner: 'sqrtn',
    name: 'movies',
    quantizationConfig: new tpu.QuantizationConfig({ numBuckets: 5, lower: -1, upper: 2 }),
    layout: { tableName: 'movies' },
    dtype: 'int32',
  } as const;

  it('comes back from its config, which is plain data', () => {
    const config = new tpu.TableConfig(all).getConfig();
    const again = tpu.TableConfig.fromConfig(JSON.parse(JSON.stringify(config)) as object);
    expect(again.getConfig()).toEqual(config);
    expect(again.optimizer!.equals(all.optimizer)).toBeTrue();
    expect(again.quantizationConfig!.equals(all.quantizationConfig)).toBeTrue();
    expect(all.initializer.equals(again.initializer)).toBeTrue();
    expect(config).toEqual(
      jasmine.objectContaining({ vocabularySize: 9, dim: 3, combiner: 'sqrtn', name: 'movies', dtype: 'int32' }),
    );
    expect(config['layout']).toEqual({ tableName: 'movies' });
    expect(new tpu.TableConfig({ vocabularySize: 1, dim: 1 }).getConfig()['initializer']).toBeNull();
  });

  it('reads the snake_case fields of Python', () => {
    const table = tpu.TableConfig.fromConfig({
      vocabulary_size: 9,
      dim: 3,
      optimizer: { class_name: 'FTRL', config: { l1_regularization_strength: 0.25 } },
      quantization_config: { num_buckets: 2, lower: 0, upper: 1 },
    });
    expect((table.optimizer as emb.tpu.FTRL).l1RegularizationStrength).toBe(0.25);
    expect(table.quantizationConfig!.numBuckets).toBe(2);
  });

  it('is shown as in Python: the default initializer as null', () => {
    const text = String(new tpu.TableConfig({ vocabularySize: 8, dim: 4, name: 'a' }));
    expect(text).toBe(
      'TableConfig(vocabularySize=8, dim=4, initializer=null, optimizer=null, combiner="mean", name="a", ' +
        'quantizationConfig=null)',
    );
  });

  const wrong: [what: string, args: Record<string, unknown>, argument: string][] = [
    ['a vocabulary of 0', { vocabularySize: 0 }, 'vocabularySize'],
    ['a vocabulary that is not whole', { vocabularySize: 2.5 }, 'vocabularySize'],
    ['a vocabulary that is no number', { vocabularySize: '8' }, 'vocabularySize'],
    ['a vocabulary beyond int32', { vocabularySize: 2 ** 31 }, 'vocabularySize'],
    ['a dim of 0', { dim: 0 }, 'dim'],
    ['a number as initializer', { initializer: 3 }, 'initializer'],
    ['an unknown combiner', { combiner: 'max' }, 'combiner'],
    ['a number as combiner', { combiner: 5 }, 'combiner'],
    ['another dtype', { dtype: 'float64' }, 'dtype'],
    ['another optimizer', { optimizer: emb.train.sgd() }, 'optimizer'],
    ['a quantization that is none', { quantizationConfig: {} }, 'quantizationConfig'],
    ['an unknown field', { vocabSize: 8 }, 'vocabSize'],
  ];
  for (const [what, args, argument] of wrong) {
    it(`refuses ${what}`, () => {
      expectError(() => new tpu.TableConfig({ vocabularySize: 8, dim: 4, ...args } as never), 'ValueError', argument);
    });
  }

  it('refuses arguments by position, and a name that is no text', () => {
    expectError(() => new tpu.TableConfig(8 as never), 'TypeError', 'args');
    expectError(() => new tpu.TableConfig({ vocabularySize: 8, dim: 4, name: 3 as never }), 'TypeError', 'name');
  });
});

describe('tpu.RowIdInitializer', () => {
  it('fills each row with its number', () => {
    expectNoLeak(() => {
      const values = new tpu.RowIdInitializer({ offset: 10 }).apply([3, 2]);
      expect(values.arraySync()).toEqual([
        [10, 10],
        [11, 11],
        [12, 12],
      ]);
      values.dispose();
    });
  });

  it('comes back from its config and refuses an offset that is not whole', () => {
    const made = tpu.RowIdInitializer.fromConfig({ offset: 4 });
    expect(made.equals(new tpu.RowIdInitializer({ offset: 4 }))).toBeTrue();
    expect(made.equals(new tpu.RowIdInitializer())).toBeFalse();
    expectError(() => new tpu.RowIdInitializer({ offset: 0.5 }), 'ValueError', 'offset');
    expectError(() => new tpu.RowIdInitializer({ offset: '1' as never }), 'TypeError', 'offset');
  });
});
