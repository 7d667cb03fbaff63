/** What is said when a stock optimizer steps a table, and not before. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { perProcess } from '../../src/base/per_process.js';
import { expectError } from '../helpers/errors.js';

const STOCK: Record<string, () => tf.Optimizer> = {
  sgd: () => tf.train.sgd(0.1),
  momentum: () => tf.train.momentum(0.1, 0.9),
  rmsprop: () => tf.train.rmsprop(0.1),
  adam: () => tf.train.adam(0.1),
  adamax: () => tf.train.adamax(0.1),
  adagrad: () => tf.train.adagrad(0.1),
  adadelta: () => tf.train.adadelta(0.1),
};

describe('stock optimizers', () => {
  let said: jasmine.Spy;
  beforeAll(() => tf.setBackend('cpu'));
  beforeEach(() => {
    perProcess('warnings', () => new Set<string>()).delete('dense gradient');
    said = spyOn(console, 'warn');
  });

  // tfjs greets whoever uses its cpu backend in Node.
  const texts = (): string[] => {
    const all = said.calls.allArgs().map(([text]) => String(text));
    return all.filter((text) => text.startsWith('tfjs-embeddings'));
  };

  function tableLayer(
    optimizer: emb.SparseOptimizer | null = null,
    inputDim = 4,
  ): { loss: () => tf.Scalar; dispose: () => void } {
    const layer = emb.layers.embedding({
      inputDim,
      outputDim: 32,
      combiner: 'sum',
      name: 'visits',
      optimizer,
    });
    const ids = tf.tensor2d([[1, 2]], [1, 2], 'int32');
    tf.dispose(layer.apply(ids));
    return {
      loss: () => (layer.apply(ids) as tf.Tensor).sum(),
      dispose: () => {
        ids.dispose();
        layer.dispose();
      },
    };
  }

  it('are told once what a step costs, readably, and which optimizers train the same', () => {
    const { loss, dispose } = tableLayer(null, 400_000);
    const optimizer = tf.train.sgd(0.1);
    for (let i = 0; i < 2; i++) optimizer.minimize(loss);
    expect(texts().length).toBe(1);
    expect(texts()[0]).toContain('table visits/embeddings [400000, 32] is trained by a stock optimizer');
    expect(texts()[0]).toContain('gradient of 51.2 MB,');
    expect(texts()[0]).toContain('sgd and adagrad train the same, adam with `lazy: false`');
    optimizer.dispose();
    dispose();
  });

  it('are told nothing of gradients that nobody applies, and of steps of emb.train', () => {
    const { loss, dispose } = tableLayer();
    const { value, grads } = tf.variableGrads(loss);
    const [name] = Object.keys(grads);
    const own = emb.train.sgd();
    own.applyGradients(grads);
    own.minimize(loss);
    const stock = tf.train.sgd(0.1);
    const other = tf.tidy(() => tf.variable(tf.ones([2])));
    stock.minimize(() => other.sum(), false, [other]);
    stock.applyGradients({ [name!]: null } as never);
    expect(texts()).toEqual([]);
    stock.applyGradients(grads);
    expect(texts().length).toBe(1);
    tf.dispose([value, grads, other]);
    own.dispose();
    stock.dispose();
    dispose();
  });

  for (const [name, make] of Object.entries(STOCK)) {
    it(`are noticed, and kept from tables with an optimizer of their own: ${name}`, () => {
      const [free, bound] = [tableLayer(), tableLayer(emb.train.sgd())];
      const optimizer = make();
      const { value, grads } = tf.variableGrads(bound.loss);
      const before = tf.engine().registeredVariables[Object.keys(grads)[0]!]!.dataSync().slice();
      expectError(() => optimizer.applyGradients(grads), 'ValueError', 'optimizer', 'a stock optimizer');
      expectError(() => tf.tidy(() => void optimizer.minimize(bound.loss)), 'ValueError', 'optimizer');
      expect(tf.engine().registeredVariables[Object.keys(grads)[0]!]!.dataSync().slice()).toEqual(before);
      expect(texts()).toEqual([]);
      optimizer.minimize(free.loss);
      expect(texts().length).toBe(1);
      tf.dispose([value, grads]);
      optimizer.dispose();
      free.dispose();
      bound.dispose();
    });
  }
});
