import * as emb from 'tfjs-embeddings';
import { expectError } from '../../helpers/errors.js';

const { tpu } = emb;

describe('tpu.QuantizationConfig', () => {
  it('holds its fields, compares by value and comes back from its config', () => {
    const quantization = new tpu.QuantizationConfig({ numBuckets: 5, lower: -1, upper: 1 });
    expect(quantization.getConfig()).toEqual({ numBuckets: 5, lower: -1, upper: 1 });
    const again = tpu.QuantizationConfig.fromConfig({ num_buckets: 5, lower: -1, upper: 1 });
    expect(again.equals(quantization)).toBeTrue();
    expect(again.equals(new tpu.QuantizationConfig({ numBuckets: 6, lower: -1, upper: 1 }))).toBeFalse();
    expect(String(again)).toBe('QuantizationConfig(numBuckets=5, lower=-1, upper=1)');
  });

  it('refuses fewer than two buckets and bounds out of order', () => {
    const make = (args: object) => () => new tpu.QuantizationConfig({ numBuckets: 2, lower: 0, upper: 1, ...args });
    expectError(make({ numBuckets: 1 }), 'ValueError', 'numBuckets', '1');
    expectError(make({ numBuckets: 2.5 }), 'ValueError', 'numBuckets');
    expectError(make({ lower: 1 }), 'ValueError', 'upper');
    expectError(make({ upper: Infinity }), 'ValueError', 'upper');
    expectError(make({ lower: '0' }), 'TypeError', 'lower');
  });

  it('refuses to lack a field', () => {
    const make = (args: object) => () => new tpu.QuantizationConfig(args as never);
    expectError(make({ lower: 0, upper: 1 }), 'ValueError', 'numBuckets', 'undefined');
    expectError(make({ numBuckets: 2, upper: 1 }), 'TypeError', 'lower', 'undefined');
    expectError(make({ numBuckets: 2, lower: 0 }), 'TypeError', 'upper', 'undefined');
  });
});

describe('tpu.SparseCoreEmbeddingConfig', () => {
  const DEFAULTS = {
    disableTableStacking: false,
    maxIdsPerChipPerSample: 64,
    maxIdsPerTable: null,
    maxUniqueIdsPerTable: null,
    allowIdDropping: false,
    initializeTablesOnHost: true,
    enableFastTableInitialization: false,
  };
  const OTHERS = {
    disableTableStacking: true,
    maxIdsPerChipPerSample: 8,
    maxIdsPerTable: { user_name: 16 },
    maxUniqueIdsPerTable: { user_name: 8 },
    allowIdDropping: true,
    initializeTablesOnHost: false,
    enableFastTableInitialization: true,
  };

  it('has the defaults of TensorFlow, and is frozen', () => {
    const config = new tpu.SparseCoreEmbeddingConfig();
    expect(config.getConfig()).toEqual(DEFAULTS);
    expect(Object.isFrozen(config)).toBeTrue();
  });

  it('comes back from its config, names of stacks unchanged, and compares by value', () => {
    const config = new tpu.SparseCoreEmbeddingConfig(OTHERS);
    expect(config.getConfig()).toEqual(OTHERS);
    const again = tpu.SparseCoreEmbeddingConfig.fromConfig({
      disable_table_stacking: true,
      max_ids_per_chip_per_sample: 8,
      max_ids_per_table: { user_name: 16 },
      max_unique_ids_per_table: { user_name: 8 },
      allow_id_dropping: true,
      initialize_tables_on_host: false,
      enable_fast_table_initialization: true,
    });
    expect(again.equals(config)).toBeTrue();
    expect(
      again.equals(new tpu.SparseCoreEmbeddingConfig({ ...OTHERS, maxIdsPerTable: { user_name: 8 } })),
    ).toBeFalse();
    expect(again.equals(new tpu.SparseCoreEmbeddingConfig())).toBeFalse();
  });

  it('takes null for what is not given, and shows all fields', () => {
    const config = new tpu.SparseCoreEmbeddingConfig({
      ...{ disableTableStacking: null, maxIdsPerChipPerSample: null, maxIdsPerTable: null, allowIdDropping: null },
      ...{ initializeTablesOnHost: null, enableFastTableInitialization: null },
    } as never);
    expect(config.getConfig()).toEqual(DEFAULTS);
    expect(String(config)).toBe(
      'SparseCoreEmbeddingConfig(disableTableStacking=false, maxIdsPerChipPerSample=64, maxIdsPerTable=null, ' +
        'maxUniqueIdsPerTable=null, allowIdDropping=false, initializeTablesOnHost=true, enableFastTableInitialization=false)',
    );
  });

  it('refuses limits that are none', () => {
    const make = (args: object) => () => new tpu.SparseCoreEmbeddingConfig(args);
    expectError(make({ maxIdsPerTable: { a: 0 } }), 'ValueError', 'maxIdsPerTable["a"]');
    expectError(make({ maxUniqueIdsPerTable: 3 }), 'TypeError', 'maxUniqueIdsPerTable');
    expectError(make({ maxIdsPerChipPerSample: 0 }), 'ValueError', 'maxIdsPerChipPerSample');
    expectError(make({ allowIdDropping: 1 }), 'TypeError', 'allowIdDropping');
    expectError(make({ allowIdDroping: true }), 'ValueError', 'allowIdDroping');
  });
});
