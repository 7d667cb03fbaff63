import * as emb from 'tfjs-embeddings/node';
import { expectKnowsOtherCopies } from '../helpers/brands.js';

describe('classes of layers', () => {
  it('know instances of another copy of the package', () => {
    expect(expectKnowsOtherCopies(emb)).toBeGreaterThan(20);
  });
});
