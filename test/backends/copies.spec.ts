import { DeviceFault } from '../../src/backends/devices/device.js';
import { IdOutOfRange } from '../../src/backends/kernel_set.js';
import { CsrIdOutOfRange } from '../../src/backends/sparse_core.js';
import { itKnowsOtherCopies } from '../base/known_copies.js';

describe('errors of backends', () => {
  itKnowsOtherCopies({ IdOutOfRange, CsrIdOutOfRange, DeviceFault });
});
