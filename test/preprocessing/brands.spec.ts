import * as emb from 'tfjs-embeddings/node';
import { expectKnowsOtherCopies } from '../helpers/brands.js';

describe('classes of emb.preprocessing', () => {
  it('know instances of another copy of the package', () => {
    expect(expectKnowsOtherCopies(emb.preprocessing, 'preprocessing.')).toBeGreaterThan(7);
  });
});
