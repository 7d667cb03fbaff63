/**
 * Tables of webgpu, in a headless Chromium that computes in software.
 * `GPU_CASES=300 GPU_SEED=1 GPU_STEPS=20000 GPU_MODELS=200` runs more than is run by default.
 */
import { casesOf } from '../../forms/forms.js';
import { skipOrFail } from '../../helpers/backends.js';
import { GpuPage } from '../../browser/gpu_page.js';
import type { WebgpuProgram } from './webgpu_program.js';

const CASES = casesOf('GPU_CASES');
const FIRST = Number(process.env['GPU_SEED'] ?? 1);
const STEPS = Number(process.env['GPU_STEPS'] ?? 300);
const MODELS = casesOf('GPU_MODELS');
/** The GPU sums in float32 what the reference sums in double. */
const TOLERANCE = 1e-5;

type Call = <Name extends keyof WebgpuProgram>(
  name: Name,
  ...args: Parameters<WebgpuProgram[Name]>
) => Promise<Awaited<ReturnType<WebgpuProgram[Name]>>>;

function callOf({ page }: GpuPage): Call {
  return (name, ...args) => page.evaluate(`webgpu.${name}(...${JSON.stringify(args)})`);
}

describe('tables on webgpu', () => {
  let opened: GpuPage | null = null;

  beforeAll(async () => {
    opened = await GpuPage.open('webgpu', new URL('webgpu_program.ts', import.meta.url));
  }, 120_000);

  afterAll(() => opened?.close());

  function itOnWebgpu(what: string, run: (page: GpuPage, call: Call) => Promise<void>): void {
    it(
      what,
      async () => {
        if (opened === null) return skipOrFail('no webgpu here');
        await run(opened, callOf(opened));
        expect(opened.failures.splice(0)).toEqual([]);
      },
      Math.max(300_000, 60 * STEPS),
    );
  }

  itOnWebgpu('lie on the GPU', async ({ page }) => {
    const info = (await page.evaluate('emb.backendInfo()')) as { kernels: Record<string, object>; tables: string };
    for (const kernel of Object.values(info.kernels)) {
      expect(kernel).toEqual({ implementation: 'webgpu', instructionSet: 'WGSL', threads: 1 });
    }
    expect(info.tables).toBe('GPU memory');
  });

  itOnWebgpu('train with the layers of tfjs around them as on cpu', async (page) => {
    const found = await page.run('agreeInPages', FIRST, MODELS, 1e-4);
    expect(found.differences).toEqual([]);
    expect(found.tensorsLeft).toBe(0);
  });

  itOnWebgpu('are looked up and stepped as by the reference, of float32, float16 and int8', async (page) => {
    expect(await page.run('kernels', FIRST, 4 * CASES, false, TOLERANCE)).toEqual([]);
  });

  itOnWebgpu('are so where the host does not know the ids', async (page) => {
    expect(await page.run('kernels', FIRST, CASES, true, TOLERANCE)).toEqual([]);
  });

  itOnWebgpu('train generated models as cpu does', async (page) => {
    const found = await page.run('agree', FIRST, CASES, TOLERANCE);
    expect(found).toEqual(jasmine.objectContaining({ compared: CASES, differences: [], tensorsLeft: 0 }));
  });

  itOnWebgpu('are split where a binding holds less than a table', async (page, call) => {
    // Of 64 rows of the widest tables.
    await call('bindingLimit', 70_000);
    expect(await page.run('kernels', FIRST, 2 * CASES, false, TOLERANCE)).toEqual([]);
    await call('bindingLimit', 8192);
    const found = await page.run('agree', FIRST, CASES / 2, TOLERANCE);
    expect(found).toEqual(jasmine.objectContaining({ differences: [], tensorsLeft: 0 }));
    await call('bindingLimit', null);
  });

  for (const feeding of ['int32', 'float32', 'shuffled', 'dataset', 'trainOnBatch', 'ragged'] as const) {
    itOnWebgpu(`are trained without a synchronous read: ${feeding}`, async (page) => {
      expect(await page.run('fed', feeding)).toBeLessThan(TOLERANCE);
    });
  }

  itOnWebgpu('are trained without a synchronous read where ops make the ids', async (_, call) => {
    expect(await call('idsOfOps')).toBeLessThan(TOLERANCE);
  });

  itOnWebgpu('train the model of the README, which is saved and loaded again', async (page) => {
    const rows = 1_000_000;
    const { losses, bytes, predicted, loaded, tensorsLeft } = await page.run('readme', rows, 3);
    expect(losses[2]!).toBeLessThan(losses[0]!);
    expect(loaded).toEqual(predicted);
    expect(tensorsLeft).toBe(0);
    // The table, its accumulators, and little else.
    const tables = 2 * rows * 32 * 4;
    expect(bytes).toBeGreaterThanOrEqual(tables);
    expect(bytes).toBeLessThan(tables + 100_000);
  });

  itOnWebgpu('are stepped again and again in the same memory', async (page) => {
    const { early, late } = await page.run('manySteps', STEPS);
    const [tensors, bytes, gpuBytes, allocated] = late as [number, number, number, number];
    expect([tensors, bytes]).toEqual(early.slice(0, 2));
    expect(gpuBytes).toBeLessThan(early[2]! + 50_000);
    // tfjs keeps buffers of each size that it has met.
    expect(allocated).toBeLessThan(early[3]! + 500_000);
  });

  itOnWebgpu('are not seen to change by those who share their buffers', async (_, call) => {
    expect(await call('sharedBuffers')).toEqual([]);
    expect(await call('externalBuffer')).toEqual([]);
    expect(await call('pendingReads')).toEqual([]);
  });

  itOnWebgpu('are seen by kernels under their names', async (_, call) => {
    const [pooled, ofWeights, table = '', slot] = await call('namedKernels');
    expect(pooled).toBe('11,14,15,18');
    expect(ofWeights).toBe('3,11,11');
    expect(slot).toBe('1,1,0,0,25,25');
    table.split(',').forEach((value, i) => expect(Number(value)).toBeCloseTo([0, 1, 3, 4, 4, 5][i]!, 5));
  });

  itOnWebgpu('refuse ids that they do not have, and stay as they are', async (_, call) => {
    const [stepped, lookedUp, after, unread] = await call('strayIds');
    expect(stepped).toMatch(/ValueError: .*3/);
    expect(lookedUp).toMatch(/ValueError: .*-1/);
    expect(after).toBe('1,2,3,4,5,6');
    expect(unread).toBe('3,4');
  });

  itOnWebgpu('sum gradients in the order of the batch where the GPU sorts the ids', async (_, call) => {
    // In float32, from the left: every 1 but the last one is lost, and that is what the row is moved by.
    expect(await call('orderOfSums')).toBe('0,-1,0');
  });

  itOnWebgpu('stand beside running sums and products of axes of any length', async (_, call) => {
    expect(await call('runningSums')).toEqual([]);
  });

  itOnWebgpu('are rewritten in place where nobody else holds them', async (_, call) => {
    expect(await call('rewrittenRows')).toEqual([true, '1,2,3,4,5,6', '1,2,7,8,5,6']);
  });

  itOnWebgpu('are stepped whole where there are more numbers than an axis of a dispatch reaches', async (_, call) => {
    expect(await call('wideStep')).toBeLessThan(TOLERANCE);
  });

  itOnWebgpu('are written in blocks of rows', async (_, call) => {
    expect(await call('writtenRows')).toEqual([]);
  });

  itOnWebgpu('are read in blocks of rows', async (_, call) => {
    expect(await call('copiedRows')).toEqual(['2,3,4,5', '3,4,5,6']);
  });

  itOnWebgpu('of float16 are trained in layers to the words of cpu', async (_, call) => {
    const { different, trained } = await call('float16Words');
    expect(trained).toBeGreaterThan(10);
    // A number in doubt in its last bits may be rounded the other way.
    expect(different).toBeLessThan(2);
  });

  itOnWebgpu('of int8 are looked up in models that were made on cpu', async (_, call) => {
    expect(await call('int8Predictions')).toBeLessThan(TOLERANCE);
  });

  itOnWebgpu('that fit into no buffer of the GPU are refused', async (_, call) => {
    const said = await call('hugeTable');
    expect(said).toContain('ValueError');
    expect(said).toContain('limits.maxBufferSize');
    expect(said).toContain('[100000000, 32] (12800000000 bytes)');
  });

  /** In a page of its own: what breaks there stays broken. */
  function itBreaksAPage(what: string, run: (call: Call) => Promise<void>): void {
    it(
      what,
      async () => {
        if (opened === null) return skipOrFail('no webgpu here');
        const page = await opened.another();
        try {
          await run(callOf(page));
        } finally {
          await page.close();
        }
      },
      120_000,
    );
  }

  itBreaksAPage('tell of shaders that failed', async (call) => {
    const [read = '', next = '', last] = await call('brokenShader');
    for (const said of [read, next]) {
      expect(said).toContain('RuntimeError');
      expect(said).toContain('noSuchFunction');
    }
    expect(last).toBe('');
  });

  itBreaksAPage('tell that their device was lost', async (call) => {
    const said = await call('lostDevice');
    expect(said.length).toBe(4);
    for (const each of said) expect(each).toMatch(/RuntimeError: `backend`: .* a lost one/);
  });
});
