import { RaggedTensor } from 'tfjs-embeddings';
import { itKnowsOtherCopies } from '../base/known_copies.js';

describe('ids', () => {
  itKnowsOtherCopies({ RaggedTensor });
});
