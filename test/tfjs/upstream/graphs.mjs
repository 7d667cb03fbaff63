/** What tfjs-converter does with graphs, seen without this package. A probe gives true where the defect is there. */
import * as tf from '@tensorflow/tfjs';
import { throwsIn } from './watch.mjs';

const FLOAT = { type: 'DT_FLOAT' };
const BOOL = { type: 'DT_BOOL' };
const placeholder = (name, dtype) => ({
  name,
  op: 'Placeholder',
  attr: { dtype, shape: { shape: { unknownRank: true } } },
});

const load = (node, more = {}) =>
  tf.loadGraphModel(
    tf.io.fromMemory({
      modelTopology: { node, versions: { producer: 1 }, ...more },
      weightSpecs: [],
      weightData: new ArrayBuffer(0),
      format: 'graph-model',
    }),
  );

export default {
  'graph_models/graph_loading': () =>
    load([placeholder('x', FLOAT), { name: 'y', op: 'NobodyKnowsThisOp', input: ['x'] }]).then(
      () => true,
      () => false,
    ),
  'graph_models/graph_run': async () => {
    let given;
    tf.registerOp('ProbeOfRun', (node) => {
      // What an op could learn of its run from, were it meant to.
      given = [node, node.context].flatMap((each) => Object.getOwnPropertyNames(Object.getPrototypeOf(each ?? {})));
      return tf.clone(node.inputs[0]);
    });
    const model = await load([placeholder('x', FLOAT), { name: 'y', op: 'ProbeOfRun', input: ['x'] }]);
    model.execute({ x: tf.scalar(1) }, 'y');
    return !given.some((name) => /^(on|at|when|after)[A-Z]/.test(name));
  },
  'graph_models/plain_runs': async () => {
    let started = 0;
    tf.registerOp('ProbeOfBranch', (node) => {
      started++;
      return tf.clone(node.inputs[0]);
    });
    const branch = {
      signature: { name: 'branch', inputArg: [{ name: 'x', ...BOOL }], outputArg: [{ name: 'y', ...BOOL }] },
      nodeDef: [{ name: 'inner', op: 'ProbeOfBranch', input: ['x'] }],
      ret: { y: 'inner:0' },
    };
    const attr = { then_branch: { func: { name: 'branch' } }, else_branch: { func: { name: 'branch' } } };
    const nodes = [placeholder('x', BOOL), { name: 'choice', op: 'If', input: ['x', 'x'], attr }];
    const model = await load(nodes, { library: { function: [branch] } });
    const isRefused = throwsIn(() => model.execute({ x: tf.scalar(true, 'bool') }, 'choice'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    return isRefused && started > 0;
  },
};
