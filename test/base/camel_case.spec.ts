import { camelKeys, toCamelCase } from '../../src/base/camel_case.js';

describe('toCamelCase', () => {
  it('joins words at underscores, however many', () => {
    expect(toCamelCase('input_dim')).toBe('inputDim');
    expect(toCamelCase('beta_2')).toBe('beta2');
    expect(toCamelCase('l2__norm___clip')).toBe('l2NormClip');
  });

  it('keeps other names, and underscores at either end', () => {
    for (const name of ['inputDim', 'L2', '_private', '__name', 'trailing_', '']) expect(toCamelCase(name)).toBe(name);
  });
});

describe('camelKeys', () => {
  it('renames the keys of one level', () => {
    expect(camelKeys({ class_name: 'L2', config: { max_value: 3 } })).toEqual({
      className: 'L2',
      config: { max_value: 3 },
    });
  });
});
