import { TensorArray } from 'tfjs-embeddings';
import { itKnowsOtherCopies } from '../../base/known_copies.js';

describe('TensorArray', () => {
  itKnowsOtherCopies({ TensorArray });
});
