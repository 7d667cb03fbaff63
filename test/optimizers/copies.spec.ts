import { IndexedSlices } from '../../src/optimizers/indexed_slices.js';
import { RuleOptimizer } from '../../src/optimizers/rule_optimizer.js';
import { SparseOptimizer } from '../../src/optimizers/sparse_optimizer.js';
import { itKnowsOtherCopies } from '../base/known_copies.js';

describe('optimizers', () => {
  itKnowsOtherCopies({ IndexedSlices, RuleOptimizer, SparseOptimizer });
});
