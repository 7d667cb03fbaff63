import { ArgumentTypeError, Described, RuntimeError, ValueError } from '../../src/base/errors.js';
import { itKnowsOtherCopies } from './known_copies.js';

describe('errors', () => {
  itKnowsOtherCopies({ ValueError, RuntimeError, TypeError: ArgumentTypeError, Described });
});
