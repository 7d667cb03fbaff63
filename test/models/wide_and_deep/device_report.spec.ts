/** A page that cannot be written is told of, and costs nothing else. */
import * as emb from 'tfjs-embeddings/node';
import { reportDevices } from '../../../models/wide_and_deep/device_report.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { scratchFolder } from './program.js';

describe('report of the devices', () => {
  const folder = scratchFolder();
  afterAll(() => folder.remove());

  it('says why there is no page, and gives the rest', async () => {
    await withTpuEmulator({ chips: 2 }, () => {
      const layer = emb.layers.distributedEmbedding({ embeddings: [{ inputDim: 9, outputDim: 4, combiner: 'sum' }] });
      layer.build();
      const options = { devices: 2, report: folder.path, reloadDevices: 2, deviceMemory: null, host: null };
      const placement = {
        strategy: 'basic' as const,
        columnSliceThreshold: null,
        rowSliceThreshold: null,
        dataParallelThreshold: null,
      };
      const { failure, lines, data } = reportDevices(layer.plan!, options as never, placement as never);
      expect(failure).toMatch(/^the report was not written to .*: EISDIR/);
      expect(lines.join('\n')).toContain('TPU emulator: 2 devices');
      expect(lines.join('\n')).not.toContain('wrote the report');
      expect(Object.keys(data)).toContain('counters');
      layer.dispose();
    });
  });
});
