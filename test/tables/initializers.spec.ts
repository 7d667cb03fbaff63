/** Names of initializers that Keras knows and tfjs does not. */
import { readInitializer } from '../../src/tables/initializers.js';

describe('initializers of tables', () => {
  const CLASSES = {
    uniform: 'RandomUniform',
    normal: 'RandomNormal',
    zero: 'Zeros',
    one: 'Ones',
    eye: 'Identity',
  };

  for (const [name, className] of Object.entries(CLASSES)) {
    it(`'${name}' is ${className}`, () => {
      expect(readInitializer(name).getClassName()).toBe(className);
    });
  }
});
