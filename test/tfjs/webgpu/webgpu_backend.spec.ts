import { checkVersion } from '../../../src/tfjs/webgpu/webgpu_backend.js';
import { expectError } from '../../helpers/errors.js';

describe('the version of tfjs', () => {
  it('is refused below 4.22 on webgpu', () => {
    for (const version of ['4.21.0', '4.10.0', '3.99.1']) {
      expectError(() => checkVersion(version), 'RuntimeError', 'backend', `webgpu of tfjs ${version}`);
    }
  });

  it('is taken from 4.22 on', () => {
    for (const version of ['4.22.0', '4.22.0-rc.1', '4.30.2', '5.0.0']) {
      expect(() => checkVersion(version)).not.toThrow();
    }
  });
});
