/** TPUEmbeddingV2 gives the same whatever its devices are, and whichever kernels they run. */
import * as emb from 'tfjs-embeddings/node';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { randomStep, startWeights, trainV2, farthest } from './batches.js';
import { make } from './v2_on_cores.js';
import { Random } from '../../helpers/random.js';

describe('TPUEmbeddingV2 on devices of every kind', () => {
  const random = new Random(23);
  const start = startWeights(random);
  const steps = Array.from({ length: 3 }, () => randomStep(random));
  const machine = { chips: 2, coresPerChip: 2 };
  const train = (): { a: Float32Array; b: Float32Array } => {
    const embedding = make();
    const found = trainV2(embedding, start, steps);
    embedding.dispose();
    return found;
  };

  afterEach(() => emb.setKernels('auto'));

  it('trains the same tables on workers as in line, to the bit', async () => {
    const inline = await withTpuEmulator({ ...machine, devices: 'inline' }, train);
    const workers = await withTpuEmulator({ ...machine, devices: 'worker' }, train);
    expect(workers).toEqual(inline);
    expect(farthest(inline.a, start.a)).toBeGreaterThan(0.01);
  });

  for (const kernels of ['reference', 'wasm'] as const) {
    it(`trains the same tables with the ${kernels} kernels`, async () => {
      const expected = await withTpuEmulator(machine, train);
      emb.setKernels(kernels);
      const found = await withTpuEmulator(machine, train);
      expect(farthest(found.a, expected.a)).toBeLessThan(1e-5);
      expect(farthest(found.b, expected.b)).toBeLessThan(1e-5);
    });
  }
});
