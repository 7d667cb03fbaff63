/** Windows over images whose channels come first, or whose filters are of groups: TensorFlow has these on other devices. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { describeForBackends } from '../../../helpers/backends.js';
import { Random } from '../../../helpers/random.js';
import { expectNoLeakAsync } from '../../../helpers/tensors.js';
import { FLOAT, execute, loadGraph, placeholder, text, type Node } from '../small_graph.js';

const list = (...numbers: number[]): object => ({ list: { i: numbers.map(String) } });

describeForBackends('windows of graphs', () => {
  beforeAll(() => void emb.converter.registerOps());

  const random = new Random(47);
  const drawn = (...shape: number[]): tf.Tensor =>
    tf.tensor(
      Array.from({ length: tf.util.sizeFromShape(shape) }, () => random.whole(-8, 9) / 4),
      shape,
    );

  async function run(op: string, attr: object, inputs: readonly tf.Tensor[]): Promise<number[]> {
    const nodes: Node[] = inputs.map((_, i) => placeholder(`x${i}`, FLOAT));
    const model = await loadGraph([...nodes, { name: 'op', op, input: nodes.map(({ name }) => name), attr }]);
    const [numbers] = execute(model, Object.fromEntries(inputs.map((x, i) => [`x${i}`, x])), 'op');
    model.dispose();
    return numbers!;
  }

  /** Each op, what it is told of four axes with channels last, and what it takes beside the image. */
  const OPS: readonly (readonly [op: string, told: Readonly<Record<string, number[]>>, beside: () => tf.Tensor[]])[] = [
    ['Conv2D', { strides: [1, 2, 1, 1] }, () => [drawn(2, 3, 4, 2)]],
    ['Conv2D', { strides: [1, 1, 1, 1], dilations: [1, 2, 1, 1] }, () => [drawn(2, 2, 4, 2)]],
    ['Conv2D', { strides: [1, 1, 1, 1] }, () => [drawn(2, 2, 2, 6)]],
    ['DepthwiseConv2dNative', { strides: [1, 2, 2, 1] }, () => [drawn(2, 3, 4, 2)]],
    ['MaxPool', { strides: [1, 2, 1, 1], ksize: [1, 2, 3, 1] }, () => []],
    ['AvgPool', { strides: [1, 1, 2, 1], ksize: [1, 3, 2, 1] }, () => []],
    ['FusedBatchNormV3', {}, () => [drawn(4), drawn(4), drawn(4), tf.abs(drawn(4))]],
  ];

  for (const [op, told, beside] of OPS) {
    it(`of channels first are those of channels last: ${op}`, async () => {
      await expectNoLeakAsync(async () => {
        const [image, others] = tf.tidy(() => [drawn(2, 5, 4, 4), beside()]);
        for (const padding of ['SAME', 'VALID']) {
          const common = { padding: text(padding), is_training: { b: false }, epsilon: { f: 0.01 } };
          const attributes = (order: readonly number[]): object =>
            Object.fromEntries(
              Object.entries(told).map(([name, all]) => [name, list(...order.map((axis) => all[axis]!))]),
            );
          const given = (x: tf.Tensor): tf.Tensor[] => [x, ...others.map((each) => each.clone())];
          const last = await run(
            op,
            { ...common, ...attributes([0, 1, 2, 3]), data_format: text('NHWC') },
            given(image.clone()),
          );
          const first = await run(
            op,
            { ...common, ...attributes([0, 3, 1, 2]), data_format: text('NCHW') },
            given(tf.transpose(image, [0, 3, 1, 2])),
          );
          const channels = op === 'DepthwiseConv2dNative' ? 8 : op === 'Conv2D' ? others[0]!.shape[3]! : 4;
          const turned = tf.tidy(() => tf.tensor(first, [2, channels, first.length / channels / 2]).transpose([0, 2, 1]).dataSync()); // prettier-ignore
          expect(turned.length).toBe(last.length);
          const worst = Array.from(turned).reduce((most, value, i) => Math.max(most, Math.abs(value - last[i]!)), 0);
          expect(worst).withContext(padding).toBeLessThan(1e-5);
        }
        tf.dispose([image, ...others]);
      });
    });
  }

  it('of groups of channels are convolutions of each group', async () => {
    const [image, filter] = [drawn(1, 4, 4, 4), drawn(2, 2, 2, 6)];
    const wanted = tf.tidy(() => {
      const parts = tf.split(image as tf.Tensor4D, 2, -1) as tf.Tensor4D[];
      const kernels = tf.split(filter as tf.Tensor4D, 2, -1) as tf.Tensor4D[];
      const each = parts.map((part, i) => tf.conv2d(part, kernels[i]!, 1, 'same'));
      return Array.from(tf.concat<tf.Tensor4D>(each as never, -1).dataSync());
    });
    const found = await run('Conv2D', { padding: text('SAME'), strides: list(1, 1, 1, 1) }, [image, filter]);
    expect(found).toEqual(wanted);
  });
});
