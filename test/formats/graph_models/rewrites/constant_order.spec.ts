import * as tf from '@tensorflow/tfjs';
import { withOrderedConstants } from '../../../../src/formats/graph_models/rewrites/constant_order.js';
import * as emb from '../../../../src/node.js';
import { expectNoLeakAsync } from '../../../helpers/tensors.js';
import { loadGraph, placeholder } from '../small_graph.js';

const CHECKED = [
  placeholder('condition', { type: 'DT_BOOL' }),
  placeholder('told', { type: 'DT_FLOAT' }),
  { name: 'check', op: 'Assert', input: ['condition', 'told'], attr: { T: { list: { type: ['DT_FLOAT'] } } } },
  { name: 'group', op: 'NoOp', input: ['^check'] },
];
const SEVEN = {
  weightSpecs: [{ name: 'seven', shape: [], dtype: 'float32' }],
  weightData: Float32Array.of(7).buffer,
};
const constant = (...input: string[]): object => ({
  name: 'seven',
  op: 'Const',
  input,
  attr: { dtype: { type: 'DT_FLOAT' } },
});

describe('constants that come after checks', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    emb.converter.registerOps();
  });

  for (const [what, order] of Object.entries({ 'after a check': '^check', 'after a group of checks': '^group' })) {
    for (const output of ['seven', 'double']) {
      it(`fail where the check does: ${output}, ${what}`, async () => {
        await expectNoLeakAsync(async () => {
          const double = { name: 'double', op: 'AddV2', input: ['seven', 'seven'], attr: { T: { type: 'DT_FLOAT' } } };
          const nodes = [...CHECKED, constant(order) as (typeof CHECKED)[0], double];
          const outputs = { out: { name: `${output}:0` } };
          const model = await loadGraph(nodes, {}, { ...SEVEN, signature: { outputs } });
          const run = (condition: boolean): tf.Tensor => {
            const feeds = { condition: tf.scalar(condition, 'bool'), told: tf.scalar(3) };
            try {
              return model.execute(feeds, `${output}:0`) as tf.Tensor;
            } finally {
              tf.dispose(feeds);
            }
          };
          for (let turn = 0; turn < 2; turn++) {
            const result = run(true);
            expect(result.dataSync()[0]).toBe(output === 'seven' ? 7 : 14);
            result.dispose();
            expect(() => run(false)).toThrowError(
              emb.ValueError,
              /`check`: expected what this node of the graph asserts, received 3/,
            );
          }
          model.dispose();
        });
      });
    }
  }

  it('keep their names where nothing depends on the order', () => {
    const node = [{ name: 'x', op: 'Placeholder' }, { name: 'y', op: 'Neg', input: ['x'] }, { name: 'c', op: 'Const', input: ['^y'] }, { name: 'z', op: 'Add', input: ['c', 'y'] }]; // prettier-ignore
    const artifacts = {
      modelTopology: { node },
      weightSpecs: [{ name: 'c' }],
      signature: { outputs: { z: { name: 'z:0' } } },
    };
    expect(withOrderedConstants(artifacts, new Set(['Assert']))).toEqual(artifacts);
  });
});
