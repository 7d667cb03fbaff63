import { checkLength, checkSplits, checkTensor } from '../../../src/backends/wasm/sizes.js';
import { expectError } from '../../helpers/errors.js';

describe('sizes before a kernel is called', () => {
  it('of values are those that the others say', () => {
    expect(() => checkLength('weights', 3, 3)).not.toThrow();
    for (const length of [2, 4]) expectError(() => checkLength('weights', length, 3), 'ValueError', 'weights');
  });

  it('of splits are at least one', () => {
    expect(() => checkSplits(1)).not.toThrow();
    expectError(() => checkSplits(0), 'ValueError', 'rowSplits');
  });

  it('of tensors are those asked for, as is the dtype; -1 is any length', () => {
    const info = { dataId: {}, dtype: 'float32', shape: [2, 3] } as const;
    const check = (dtype: 'float32' | 'int32', ...shape: readonly number[]) => {
      checkTensor('table', { ...info, shape: [...info.shape] }, dtype, ...shape);
    };
    expect(() => check('float32', 2, 3)).not.toThrow();
    expect(() => check('float32', -1, 3)).not.toThrow();
    for (const shape of [[2, 4], [3, 3], [-1], [2, 3, 1]]) {
      expectError(() => check('float32', ...shape), 'ValueError', 'table');
    }
    expectError(() => check('int32', 2, 3), 'ValueError', 'table');
  });
});
