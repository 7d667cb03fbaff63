/** Configs of tables and features. */
import * as emb from 'tfjs-embeddings';
import { expectError } from '../helpers/errors.js';

type Case = readonly [field: string, value: unknown, name: 'TypeError' | 'ValueError', received?: string];

const TABLE = { name: 'users', vocabularySize: 10, embeddingDim: 4 };
const made = (args: unknown): emb.TableConfig => new emb.TableConfig(args as emb.TableConfigArgs<emb.Combiner>);

describe('TableConfig', () => {
  it('has defaults', () => {
    const table = made(TABLE);
    expect(table.getConfig()).toEqual({
      ...TABLE,
      initializer: {
        className: 'VarianceScaling',
        config: { scale: 1, mode: 'fanOut', distribution: 'normal', seed: undefined },
      },
      optimizer: null,
      combiner: 'mean',
      placement: { name: 'auto' },
      maxIdsPerPartition: 256,
      maxUniqueIdsPerPartition: 256,
    } as never);
    expect(table.storage).toBe('float32');
    for (const field of ['initializer', 'optimizer', 'placement', 'storage', 'maxIdsPerPartition'])
      expect(made({ ...TABLE, [field]: null }).getConfig()).toEqual(table.getConfig());
  });

  it('keeps what is given, and reads it from its own config and from that of Keras RS', () => {
    const table = made({
      ...TABLE,
      initializer: 'ones',
      optimizer: 'adagrad',
      combiner: 'sqrtn',
      placement: 'sparsecore',
      storage: 'float16',
      maxIdsPerPartition: 7,
      maxUniqueIdsPerPartition: 5,
    });
    const { combiner, placement, storage, maxIdsPerPartition, maxUniqueIdsPerPartition } = table;
    expect({ combiner, placement, storage, maxIdsPerPartition, maxUniqueIdsPerPartition }).toEqual({
      combiner: 'sqrtn',
      placement: 'sparsecore',
      storage: 'float16',
      maxIdsPerPartition: 7,
      maxUniqueIdsPerPartition: 5,
    });
    expect(table.getConfig()['storage']).toBe('float16');
    expect(table.initializer.getClassName()).toBe('Ones');
    expect(table.optimizer!.getClassName()).toBe('TfjsEmbeddings>Adagrad');
    expect(emb.TableConfig.fromConfig(table.getConfig()).getConfig()).toEqual(table.getConfig());
    const snake = { name: 'users', vocabulary_size: 10, embedding_dim: 4, max_ids_per_partition: 3, combiner: null };
    const read = emb.TableConfig.fromConfig(snake);
    expect([read.vocabularySize, read.embeddingDim, read.maxIdsPerPartition, read.combiner]).toEqual([10, 4, 3, null]);
    for (const name of ['auto', 'sparsecore', 'default_device'] as const)
      expect(made({ ...TABLE, placement: name }).placement).toBe(name);
    table.optimizer!.dispose();
  });

  it('refuses wrong fields by name', () => {
    const cases: Case[] = [
      ['name', undefined, 'TypeError', 'undefined'],
      ['name', '', 'ValueError', '""'],
      ['vocabularySize', 0, 'ValueError', '0'],
      ['embeddingDim', '4', 'TypeError', '"4"'],
      ['initializer', 3, 'TypeError', '3'],
      ['initializer', 'none', 'ValueError', '"none"'],
      ['optimizer', 3, 'TypeError', '3'],
      ['combiner', 'most', 'ValueError', '"most"'],
      ['placement', 'tpu', 'ValueError', '"tpu"'],
      ['placement', { name: 'gpu' }, 'ValueError', '"gpu"'],
      ['placement', 3, 'TypeError', '3'],
      ['placement', {}, 'TypeError', '{}'],
      ['storage', 'int4', 'ValueError', '"int4"'],
      ['storage', 16, 'TypeError', '16'],
      ['maxIdsPerPartition', 0, 'ValueError', '0'],
      ['maxUniqueIdsPerPartition', 1.5, 'ValueError', '1.5'],
    ];
    for (const [field, value, name, received] of cases)
      expectError(() => made({ ...TABLE, [field]: value }), name, field, received);
    expectError(() => made({ ...TABLE, dim: 3 }), 'ValueError', 'dim');
    expectError(() => made('users'), 'TypeError', 'args', '"users"');
    expect(() => made('users')).toThrowError(/Write new emb\.TableConfig\({name: 'users'}\)/);
    for (const config of [null, 3, []])
      expectError(() => emb.TableConfig.fromConfig(config as never), 'TypeError', 'config');
  });
});

describe('FeatureConfig', () => {
  const table = made(TABLE);
  const FEATURE = { name: 'clicks', table, inputShape: [null, 3, 2], outputShape: [null, 4] };
  const feature = (args: unknown): emb.FeatureConfig => new emb.FeatureConfig(args as never);

  it('keeps its fields, and reads them from its own config and from that of Keras RS', () => {
    const clicks = feature(FEATURE);
    const { name, inputShape, outputShape } = clicks;
    expect({ name, table: clicks.table, inputShape, outputShape }).toEqual(FEATURE);
    expect(clicks.inputShape).not.toBe(FEATURE.inputShape);
    expect(clicks.getConfig()).toEqual({ ...FEATURE, table: table.getConfig() });
    expect(emb.FeatureConfig.fromConfig(clicks.getConfig()).getConfig()).toEqual(clicks.getConfig());
    const snake = { name: 'clicks', table, input_shape: [8], output_shape: [8, 4] };
    const read = emb.FeatureConfig.fromConfig(snake);
    expect(read.table as unknown).toBe(table);
    expect([read.inputShape, read.outputShape]).toEqual([[8], [8, 4]]); // prettier-ignore
  });

  it('counts ids per sample, as far as its shape tells', () => {
    const hotness = [[8], [null], [null, 3], [8, 3, 2], [8, null, 2], [8, 0]].map(
      (inputShape) => feature({ ...FEATURE, inputShape }).hotness,
    );
    expect(hotness).toEqual([1, 1, 3, 6, 2, 0]);
  });

  it('refuses wrong fields by name', () => {
    const shapes = ['inputShape', 'outputShape'].flatMap((field): Case[] => [
      [field, undefined, 'TypeError', 'undefined'],
      [field, 8, 'TypeError', '8'],
      [field, [], 'ValueError', '[]'],
      [field, ['8'], 'TypeError', '["8"]'],
      [field, [8, -1], 'ValueError', '[8, -1]'],
      [field, [1.5], 'ValueError', '[1.5]'],
    ]);
    const cases: Case[] = [
      ['name', 3, 'TypeError', '3'],
      ['name', '', 'ValueError', '""'],
      ['table', undefined, 'TypeError', 'undefined'],
      ['table', TABLE, 'TypeError', 'users'],
      ...shapes,
    ];
    for (const [field, value, name, received] of cases)
      expectError(() => feature({ ...FEATURE, [field]: value }), name, field, received);
    expectError(() => feature({ ...FEATURE, shape: [2] }), 'ValueError', 'shape');
    expect(() => feature('clicks')).toThrowError(/Write new emb\.FeatureConfig\({name: 'clicks'}\)/);
    expectError(() => emb.FeatureConfig.fromConfig(3 as never), 'TypeError', 'config');
    expectError(() => emb.FeatureConfig.fromConfig({ ...FEATURE, table: 3 }), 'TypeError', 'table');
  });

  it('knows tables and features of another copy of the package', () => {
    expect(Object.create(emb.TableConfig.prototype as object) instanceof emb.TableConfig).toBeTrue();
    expect({ [Symbol.for('tfjs-embeddings.TableConfig')]: true } instanceof emb.TableConfig).toBeTrue();
    expect({ [Symbol.for('tfjs-embeddings.FeatureConfig')]: true } instanceof emb.FeatureConfig).toBeTrue();
  });
});
