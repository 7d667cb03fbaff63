/** Losses and metrics of this package by name in `compile`, beside those of tfjs. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { ours } from '../models/own_models.js';

function dense(units = 2, name?: string): tf.layers.Layer {
  return tf.layers.dense({ units, kernelInitializer: 'ones', ...(name === undefined ? {} : { name }) });
}

function modelOf(outputs = 1): tf.LayersModel {
  const input = emb.input({ shape: [3] });
  const made = Array.from({ length: outputs }, (_, i) => dense(2, `out${i}_${outputs}`).apply(input));
  return tf.model({ inputs: input, outputs: made as tf.SymbolicTensor[] });
}

interface Compiled {
  readonly loss: unknown;
  readonly lossFunctions: readonly { readonly name: string }[];
}

const compiled = (model: tf.LayersModel): Compiled => model as unknown as Compiled;

describe('Names of losses in compile', () => {
  it('stay in the model, beside functions that they stand for', () => {
    const model = modelOf(3);
    const loss = ['bpr', 'hinge', 'listMLE'];
    model.compile({ optimizer: 'sgd', loss });
    expect(compiled(model).loss).toBe(loss);
    expect(compiled(model).lossFunctions.map(({ name }) => name)).toEqual(['bpr', 'hinge', 'listMLE']);
    model.compile({ optimizer: 'sgd', loss: { [model.outputNames[1]!]: 'pairwiseHinge' } });
    expect(compiled(model).lossFunctions[1]!.name).toBe('pairwiseHinge');
    model.dispose();
  });

  it('are known in models within sequential ones', () => {
    const model = ours.sequential({ layers: [tf.layers.dense({ units: 2, inputShape: [3] })] });
    model.compile({ optimizer: 'sgd', loss: 'pairwiseLogistic' });
    expect(compiled(model).loss).toBe('pairwiseLogistic');
    model.dispose();
  });

  it('leave alone what is not theirs', () => {
    const model = modelOf();
    const loss = (): tf.Tensor => tf.scalar(0);
    model.compile({ optimizer: 'sgd', loss });
    expect(compiled(model).lossFunctions[0]).toBe(loss as never);
    expect(() => model.compile({ optimizer: 'sgd', loss: 'bprr' })).toThrowError(/Unknown loss bprr/);
    model.dispose();
  });

  it('come back from saved models', async () => {
    for (const loss of ['bpr', 'listMLE', 'sigmoidCrossEntropyFromLogits']) {
      const model = modelOf();
      model.compile({ optimizer: tf.train.sgd(0.1), loss, metrics: ['recallAt20', emb.metrics.mrr({ k: 3 }), 'auc'] });
      let saved: tf.io.ModelArtifacts | null = null;
      const keep = (artifacts: tf.io.ModelArtifacts): Promise<tf.io.SaveResult> => {
        saved = artifacts;
        return Promise.resolve({ modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } });
      };
      await model.save(tf.io.withSaveHandler(keep), { includeOptimizer: true });
      const again = await emb.loadLayersModel(tf.io.fromMemory(saved!));
      expect(compiled(again).lossFunctions[0]!.name).withContext(loss).toBe(loss);
      expect(again.metricsNames).toEqual(['loss', 'recallAt20', 'mrrAt3', 'auc']);
      for (const each of [model, again]) each.dispose();
    }
  });
});
