import * as tf from '@tensorflow/tfjs';
import { TensorScope } from '../../../src/tfjs/engine/tensor_scope.js';
import { expectNoLeak } from '../../helpers/tensors.js';
import { useCpu } from '../../layers/setup.js';

describe('TensorScope', () => {
  const { state } = tf.engine() as unknown as { state: { activeScope: unknown } };
  beforeAll(useCpu);

  it('stays open outside of any tf.tidy, before the first one of the process and after it', () => {
    expectNoLeak(() => {
      const kept = state.activeScope;
      state.activeScope = undefined;
      const first = new TensorScope();
      const tensor = first.adopt(tf.scalar(1));
      expect(first.isOpen()).toBeTrue();
      tf.tidy(() => {});
      expect(first.isOpen()).toBeTrue();
      expect(first.adopt(tensor)).toBe(tensor);
      expect(tensor.isDisposed).toBeFalse();
      state.activeScope = kept;
      tensor.dispose();
    });
  });

  it('ends with the tf.tidy in which it was made, and its tensors with it', () => {
    expectNoLeak(() => {
      let scope: TensorScope | undefined;
      let tensor: tf.Tensor | undefined;
      tf.tidy(() => {
        scope = new TensorScope();
        tf.tidy(() => ((tensor = scope!.adopt(tf.scalar(1))), undefined));
        expect(tensor!.isDisposed).toBeFalse();
        expect(scope.isOpen()).toBeTrue();
      });
      expect(scope!.isOpen()).toBeFalse();
      expect(tensor!.isDisposed).toBeTrue();
    });
  });
});
