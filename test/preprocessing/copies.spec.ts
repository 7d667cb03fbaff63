import * as emb from 'tfjs-embeddings';
import { itKnowsOtherCopies } from '../helpers/copies.js';

describe('preprocessing', () => {
  const { Discretization, Hashing, IntegerLookup, StringLookup } = emb.preprocessing;
  itKnowsOtherCopies({ Discretization, Hashing, IntegerLookup, StringLookup });
});
