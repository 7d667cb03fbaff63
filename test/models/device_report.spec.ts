/** A page that cannot be written is told of, and costs nothing else. */
import * as emb from 'tfjs-embeddings/node';
import { reportDevices } from '../../models/device_report.js';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';
import { scratchFolder } from './wide_and_deep/program.js';

describe('report of the devices', () => {
  const folder = scratchFolder();
  afterAll(() => folder.remove());

  it('says why there is no page, and gives the rest', async () => {
    await withTpuEmulator({ chips: 2 }, () => {
      const layer = emb.layers.distributedEmbedding({ embeddings: [{ inputDim: 9, outputDim: 4, combiner: 'sum' }] });
      layer.build();
      const { failure, lines, counters } = reportDevices(folder.path);
      expect(failure).toMatch(/^the report was not written to .*: EISDIR/);
      expect(lines.join('\n')).toContain('TPU emulator: 2 devices');
      expect(lines.join('\n')).not.toContain('wrote the report');
      expect(counters.peakMemory.length).toBe(2);
      layer.dispose();
    });
  });
});
