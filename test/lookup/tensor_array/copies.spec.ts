import { TensorArray } from 'tfjs-embeddings';
import { itKnowsOtherCopies } from '../../helpers/copies.js';

describe('TensorArray', () => {
  itKnowsOtherCopies({ TensorArray });
});
