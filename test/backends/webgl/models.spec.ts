/**
 * Generated layers on webgl against cpu, in a headless Chromium that draws in software.
 * `GPU_CASES=2000 GPU_SEED=1` runs as many from that seed on.
 */
import { withGpuPage } from '../../browser/gpu_browser.js';

const COUNT = Number(process.env['GPU_CASES'] ?? 300);
const FIRST = Number(process.env['GPU_SEED'] ?? 1);

describe('layers on webgl', () => {
  it('give and train what they do on cpu', async () => {
    await withGpuPage('webgl', new URL('models_page.ts', import.meta.url), async (page) => {
      const found = await page.evaluate(`compareModels(${FIRST}, ${FIRST + COUNT}, 1e-5)`);
      expect((found as string[]).slice(0, 10)).toEqual([]);
    });
  }, 600_000);
});
