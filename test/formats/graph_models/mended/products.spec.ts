/** What products of graphs refuse. */
import * as tf from '@tensorflow/tfjs';
import { GRAPH_OPS } from '../../../../src/formats/graph_models/graph_ops.js';
import { describeForBackends } from '../../../helpers/backends.js';
import { expectError } from '../../../helpers/errors.js';

describeForBackends('Products of graphs', () => {
  it('know the activations behind them by their names, and no other', () => {
    for (const name of ['constructor', 'toString', 'swish']) {
      const attrs = { fused_ops: ['BiasAdd', name] };
      const node = { name, op: '_FusedMatMul', inputs: [], attrs } as unknown as tf.GraphNode;
      const inputs = (): tf.Tensor[] => [tf.ones([2, 2]), tf.ones([2, 2]), tf.ones([2])];
      tf.tidy(() => {
        const run = (): unknown => GRAPH_OPS.get('_FusedMatMul')!.run(inputs(), node);
        expectError(run, 'ValueError', 'fused_ops', name.toLowerCase());
      });
    }
  });
});
