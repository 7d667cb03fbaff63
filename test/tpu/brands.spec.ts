import * as emb from 'tfjs-embeddings/node';
import { expectKnowsOtherCopies } from '../helpers/brands.js';

describe('classes of emb.tpu', () => {
  it('know instances of another copy of the package', () => {
    expect(expectKnowsOtherCopies(emb.tpu, 'tpu.')).toBeGreaterThan(12);
  });
});
