import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { openTable } from '../../../src/io/table_file.js';
import { fixture, onCores, ragged, ROWS, stepOfOnes, valuesOf } from '../embedding/fixture.js';

const { tpu } = emb;

const OPTIMIZERS: Record<string, () => emb.tpu.TPUEmbeddingOptimizer> = {
  SGD: () => new tpu.SGD({ learningRate: 0.1 }),
  Adagrad: () => new tpu.Adagrad({ learningRate: 0.1 }),
  Adam: () => new tpu.Adam({ learningRate: 0.1 }),
  FTRL: () => new tpu.FTRL({ learningRate: 0.1 }),
  AdagradMomentum: () => new tpu.AdagradMomentum({ learningRate: 0.1, momentum: 0.5 }),
};

function make(name: string): emb.tpu.TPUEmbedding {
  const featureConfig = fixture().features;
  return new tpu.TPUEmbedding({ featureConfig, optimizer: OPTIMIZERS[name]!() }) as unknown as emb.tpu.TPUEmbedding;
}

const IDS = ROWS.map(ragged);

describe('checkpoints of tpu tables', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'tables-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  for (const name of Object.keys(OPTIMIZERS)) {
    for (const format of ['tfjs', 'npy'] as const) {
      it(`of ${name} in the format ${format} go on to the bit on other numbers of cores, and serve without any`, async () => {
        let saved: number[][] = [];
        let after: number[][] = [];
        await onCores(8, async () => {
          const embedding = make(name);
          for (let i = 0; i < 2; i++) stepOfOnes(embedding, IDS);
          await embedding.save(folder, { format });
          saved = valuesOf(embedding.getWeights());
          stepOfOnes(embedding, IDS);
          after = valuesOf(embedding.getWeights());
          embedding.dispose();
        });
        for (const cores of [1, 3]) {
          await onCores(cores, async () => {
            const embedding = make(name);
            await embedding.load(folder);
            expect(valuesOf(embedding.getWeights())).toEqual(saved);
            stepOfOnes(embedding, IDS);
            const values = valuesOf(embedding.getWeights());
            expect(
              values.flat().every((value, i) => Math.abs(value - after.flat()[i]!) <= 1e-6 * (1 + Math.abs(value))),
            ).toBeTrue();
            embedding.dispose();
          });
        }
        const before = tf.memory().numTensors;
        const serving = new tpu.TPUEmbeddingForServing({ featureConfig: fixture().features });
        await serving.load(folder);
        expect(valuesOf(serving.getWeights())).toEqual(saved.slice(0, 2));
        serving.dispose();
        expect(tf.memory().numTensors).toBe(before);
      });
    }
  }

  it('are files of NumPy by table and slot', async () => {
    const serving = new tpu.TPUEmbeddingForServing({ featureConfig: fixture().features, optimizer: new tpu.Adagrad() });
    await serving.save(folder, { format: 'npy' });
    serving.dispose();
    expect(readdirSync(folder).sort()).toEqual([
      'user.accumulators.npy',
      'user.npy',
      'video.accumulators.npy',
      'video.npy',
    ]);
    const file = openTable(join(folder, 'video.npy'));
    expect([file.rows, file.columns, ...file.read(1, 1)]).toEqual([8, 4, 4, 5, 6, 7]);
    file.close();
    expect(readFileSync(join(folder, 'video.npy')).length).toBe(128 + 8 * 4 * 4);
  });

  it('that lack a variable or hold another shape change nothing', async () => {
    const featureConfig = fixture().features;
    const plain = new tpu.TPUEmbeddingForServing({ featureConfig });
    for (const format of ['npy', 'tfjs'] as const) {
      await plain.save(join(folder, format), { format });
      const full = new tpu.TPUEmbeddingForServing({ featureConfig: fixture().features, optimizer: new tpu.Adam() });
      const before = valuesOf(full.getWeights());
      await expectAsync(full.load(join(folder, format))).toBeRejectedWithError(/momenta/);
      expect(valuesOf(full.getWeights())).toEqual(before);
      full.dispose();
      const table = new tpu.TableConfig({ vocabularySize: 9, dim: 4, name: 'video' });
      const other = new tpu.TPUEmbeddingForServing({ featureConfig: new tpu.FeatureConfig({ table }) });
      await expectAsync(other.load(join(folder, format))).toBeRejectedWithError(/\[9, 4\]/);
      other.dispose();
    }
    await expectAsync(plain.load(join(folder, 'none'))).toBeRejectedWithError(/none/);
    plain.dispose();
  });

  it('lie in the folder that a path, a URL or either with slashes behind it names', async () => {
    const serving = new tpu.TPUEmbeddingForServing({ featureConfig: fixture().features });
    const values = valuesOf(serving.getWeights());
    const zeros = values.map((each) => new Float32Array(each.length));
    for (const format of ['npy', 'tfjs'] as const) {
      const place = join(folder, format);
      const written = [place, `${place}///`, `file://${place}`, `file://${place}//`];
      for (const directory of written) {
        serving.setWeights(values.map((each) => Float32Array.from(each)));
        await serving.save(directory, { format });
        for (const other of written) {
          serving.setWeights(zeros);
          await serving.load(other);
          expect(valuesOf(serving.getWeights())).withContext(`${directory} ${other}`).toEqual(values);
        }
      }
    }
    serving.dispose();
  });

  it('have one format in a folder', async () => {
    const serving = new tpu.TPUEmbeddingForServing({ featureConfig: fixture().features });
    await serving.save(folder);
    await expectAsync(serving.save(folder, { format: 'npy' })).toBeRejectedWithError(/model.json/);
    await expectAsync(serving.save(folder, { format: 'csv' as never })).toBeRejectedWithError(/format/);
    await expectAsync(serving.save(3 as never)).toBeRejectedWithError(TypeError);
    writeFileSync(join(folder, 'file'), '');
    await expectAsync(serving.save(join(folder, 'file', 'below'), { format: 'npy' })).toBeRejectedWithError(/file/);
    serving.dispose();
  });

  it('set by hand are tables, or tables and slots', async () => {
    await onCores(2, async () => {
      const embedding = make('Adam');
      embedding.build(4);
      const weights = valuesOf(embedding.getWeights()).map((values) =>
        Float32Array.from(values, (value) => value + 0.5),
      );
      embedding.setWeights(weights);
      expect(valuesOf(embedding.getWeights())).toEqual(weights.map((values) => [...values]));
      embedding.setWeights(weights.slice(0, 2).map((values) => values.map(() => 1)));
      expect(valuesOf(embedding.getWeights())[0]!.every((value) => value === 1)).toBeTrue();
      expect(valuesOf(embedding.getWeights())[2]![0]).toBe(0.5);
      expect(() => embedding.setWeights(weights.slice(0, 3))).toThrowError(/a list of 3/);
      expect(() => embedding.setWeights(3 as never)).toThrowError(TypeError);
      expect(() => embedding.setWeights([weights[0], [[1]]])).toThrowError(/weights\[1\]/);
      embedding.dispose();
    });
  });
});
