import { RaggedTensor } from 'tfjs-embeddings';
import { itKnowsOtherCopies } from '../helpers/copies.js';

describe('ids', () => {
  itKnowsOtherCopies({ RaggedTensor });
});
