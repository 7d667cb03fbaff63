/** Messages of errors: one template for all, or a sentence of their own. */
import { ValueError, described } from '../../src/base/errors.js';

describe('The message of an error', () => {
  it('names argument, what was expected, what came and what to do', () => {
    const error = new ValueError('ids', 'rank 2', described('rank 1'), 'Add an axis.');
    expect(error.message).toBe('`ids`: expected rank 2, received rank 1. Add an axis.');
  });

  it('may be a sentence of its own; the facts stay fields', () => {
    const error = new ValueError('ids', 'rank 2', described('rank 1', '`ids` lack an axis.'));
    expect(error.message).toBe('`ids` lack an axis.');
    const { argument, expected, received } = error;
    expect({ argument, expected, received }).toEqual({ argument: 'ids', expected: 'rank 2', received: 'rank 1' });
  });
});
