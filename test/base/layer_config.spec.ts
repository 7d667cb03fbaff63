import { readLayerConfig } from '../../src/base/layer_config.js';
import { expectError } from '../helpers/errors.js';
import { warningsOf } from '../helpers/warnings.js';

describe('readLayerConfig', () => {
  it('takes the known fields in both spellings, and null as it comes', () => {
    const config = { self_interaction: true, skipGather: null, name: 'dots' };
    expect(readLayerConfig(config, ['selfInteraction', 'skipGather', 'name', 'absent'])).toEqual({
      selfInteraction: true,
      skipGather: null,
      name: 'dots',
    });
  });

  it('takes the batch shape of Keras 3 for that of tfjs', () => {
    expect(readLayerConfig({ batch_shape: [null, 3] }, ['name'])).toEqual({ batchInputShape: [null, 3] });
  });

  it('checks dtypes, unless they are to be ignored', () => {
    expect(readLayerConfig({ dtype: 'float32' }, [])).toEqual({});
    expectError(() => readLayerConfig({ dtype: 'float64' }, []), 'ValueError', 'dtype', 'float64');
    expectError(() => readLayerConfig({ dtype: 'float64' }, ['dtype']), 'ValueError', 'dtype');
    expect(readLayerConfig({ dtype: 'int64', axis: 1 }, ['dtype', 'axis'], ['dtype'])).toEqual({ axis: 1 });
  });

  it('names every other key that is set, and drops it', () => {
    const config = { axis: 1, use_gpu: true, other: 0, empty: null, missing: undefined };
    const said = warningsOf(() => expect(readLayerConfig(config, ['axis'])).toEqual({ axis: 1 }));
    expect(said.length).toBe(2);
    expect(said[0]).toContain('the key useGpu in the config');
    expect(said[1]).toContain('the key other in the config');
    expect(warningsOf(() => readLayerConfig({ use_gpu: true }, [], ['useGpu']))).toEqual([]);
  });

  it('says nothing of what Keras and tfjs put beside the fields', () => {
    const config = { customObjects: {}, autocast: true, build_config: { input_shape: [2] } };
    expect(warningsOf(() => expect(readLayerConfig(config, [])).toEqual({}))).toEqual([]);
  });

  it('refuses what is no object', () => {
    for (const config of [null, undefined, [], [['axis', 1]], 'axis', 3, () => ({})]) {
      expectError(() => readLayerConfig(config, ['axis']), 'TypeError', 'config');
    }
  });
});
