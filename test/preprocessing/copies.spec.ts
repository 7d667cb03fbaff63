import * as emb from 'tfjs-embeddings';
import { itKnowsOtherCopies } from '../base/known_copies.js';

describe('preprocessing', () => {
  const { CategoryEncoding, Normalization, ...others } = emb.preprocessing;
  const { Discretization, HashedCrossing, Hashing, IntegerLookup, StringLookup, TextVectorization } = others;
  itKnowsOtherCopies({ Discretization, HashedCrossing, Hashing, IntegerLookup, StringLookup, TextVectorization });
  itKnowsOtherCopies({
    'preprocessing.CategoryEncoding': CategoryEncoding,
    'preprocessing.Normalization': Normalization,
  });
});
