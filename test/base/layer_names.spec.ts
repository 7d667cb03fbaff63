import { nextName } from '../../src/base/layer_names.js';

describe('Default names of layers', () => {
  it('count from 1 for each prefix', () => {
    const prefix = 'layer_of_names_spec';
    expect([nextName(prefix), nextName(`${prefix}s`), nextName(prefix)]).toEqual([
      `${prefix}_1`,
      `${prefix}s_1`,
      `${prefix}_2`,
    ]);
  });
});
