/**
 * Tables of webgl, in a headless Chromium that draws in software.
 * `GPU_CASES=300 GPU_LAYERS=300 GPU_SEED=1 GPU_STEPS=20000` runs more than is run by default.
 */
import { casesOf } from '../../forms/forms.js';
import { skipOrFail } from '../../helpers/backends.js';
import { GpuPage } from '../../browser/gpu_page.js';
import type { WebglProgram } from './webgl_program.js';

const CASES = casesOf('GPU_CASES');
/** Uses of DistributedEmbedding, each of which takes as long as ten kernels. */
const LAYERS = casesOf('GPU_LAYERS');
const FIRST = Number(process.env['GPU_SEED'] ?? 1);
const STEPS = Number(process.env['GPU_STEPS'] ?? 200);
const MODELS = casesOf('GPU_MODELS');
/** On a GPU, arithmetic of the other layers is rounded by other rules. */
const TOLERANCE = 1e-5;

describe('tables on webgl', () => {
  let opened: GpuPage | null = null;
  const said: string[] = [];

  beforeAll(async () => {
    opened = await GpuPage.open('webgl', new URL('webgl_program.ts', import.meta.url));
    opened?.page.on('console', (line) => said.push(line.text()));
  }, 120_000);

  afterAll(() => opened?.close());

  /** Calls a function of the program; undefined where there is no such GPU, which was told. */
  function call<Name extends keyof WebglProgram>(
    name: Name,
    ...args: Parameters<WebglProgram[Name]>
  ): Promise<Awaited<ReturnType<WebglProgram[Name]>>> {
    return opened!.page.evaluate(`webgl.${name}(...${JSON.stringify(args)})`);
  }

  function itOnWebgl(what: string, run: () => Promise<void>): void {
    it(
      what,
      async () => {
        if (opened === null) return skipOrFail('no webgl here');
        await run();
        expect(opened.failures.splice(0)).toEqual([]);
      },
      Math.max(300_000, 60 * STEPS),
    );
  }

  itOnWebgl('lie on the host, which is told once', async () => {
    expect(await opened!.page.evaluate('emb.backendInfo().kernels.EmbeddingBag.implementation')).toBe('wasm');
    expect(await opened!.page.evaluate('emb.backendInfo().tables')).toBe('host memory');
    await call('snapshots');
    await call('snapshots');
    expect(said.filter((line) => line.includes('lie in host memory')).length).toBe(1);
  });

  itOnWebgl('are looked up and stepped as by the reference', async () => {
    expect(await call('compareKernels', 10 * CASES, 1e-6)).toEqual({ differences: [], tensorsLeft: 0 });
  });

  itOnWebgl('train generated models as cpu does', async () => {
    const found = await opened!.run('agree', FIRST, CASES, TOLERANCE);
    expect(found).toEqual(jasmine.objectContaining({ compared: CASES, differences: [], tensorsLeft: 0 }));
  });

  itOnWebgl('train with the layers of tfjs around them as on cpu', async () => {
    const found = await opened!.run('agreeInPages', FIRST, MODELS, 1e-3);
    expect(found.differences).toEqual([]);
    expect(found.tensorsLeft).toBe(0);
  });

  itOnWebgl('are trained in generated DistributedEmbeddings as on cpu', async () => {
    expect(await call('compareLayers', FIRST, LAYERS, TOLERANCE)).toEqual([]);
  });

  itOnWebgl('are cut where they lie', async () => {
    const { found, refused, bytes, stepped } = await call('parts');
    expect(stepped).toBeLessThan(2_999_999);
    expect(found).toEqual([
      [
        [2, 3],
        [32, 33, 34, 62, 63, 64],
      ],
      [
        [2, 1],
        [2_999_969, stepped],
      ],
      [
        [1, 2],
        [153, 154],
      ],
      [[2], [jasmine.any(Number), jasmine.any(Number)]],
    ] as never);
    expect(found[3]![1][1]).toBeGreaterThan(found[3]![1][0]!);
    expect(refused).toMatch(/^Error: /);
    expect(bytes).toBeLessThan(1000);
  });

  itOnWebgl('of a million rows take no memory of the GPU', async () => {
    const { first, last, bytes } = await call('largeModel', 20);
    expect(last).toBeLessThan(0.8 * first);
    expect(bytes).toBeLessThan(100_000);
  });

  itOnWebgl('are stepped without growth', async () => {
    expect(await call('manySteps', STEPS)).toEqual({ tensors: 0, bytes: 0, buffers: 0 });
  });

  itOnWebgl('leave what was taken of them as it was', async () => {
    const { same, ...others } = await call('snapshots');
    expect(same).toEqual([true, true, true, true, true, true]);
    expect(others).toEqual({ changed: 5, isReadAlike: true, goesOn: 5 });
  });

  itOnWebgl('may be of 16 bits, and read in 8', async () => {
    const { largest, count } = await call('packedRows');
    expect(count).toBe(8);
    expect(largest).toBeLessThan(1e-5);
  });

  itOnWebgl('are saved and loaded with their slots', async () => {
    expect(await call('saved')).toBe(true);
  });

  itOnWebgl('are told to TensorBoard from a page', async () => {
    const { files, left } = await call('logs');
    expect(files.map(([path]) => path)).toEqual([
      'train/events.out.tfevents.',
      jasmine.stringMatching(/^projector\/.*\.tsv$/),
      jasmine.stringMatching(/^projector\/.*_labels\.tsv$/),
      'projector_config.pbtxt',
    ]);
    expect(Math.min(...files.map(([, bytes]) => bytes))).toBeGreaterThan(100);
    // The slot of each of three weights, and the number of steps.
    expect(left).toBe(4);
  });

  itOnWebgl('refuse ids that the GPU has rounded', async () => {
    const { fine, refused, again } = await call('largeIds');
    expect(fine).toEqual([0, 0]);
    expect(refused).toMatch(/^ValueError: `values`: expected whole numbers below 16777216.* at position 0/);
    expect(again).toBe(refused);
  });

  itOnWebgl('outlive a lost context, which is an error', async () => {
    const { said: error, lookedUp, isWhole } = await call('losesContext');
    opened!.failures.splice(0);
    expect(error).toMatch(/^RuntimeError: `backend`: expected webgl with its context/);
    expect(lookedUp).toMatch(/^RuntimeError: `backend`: expected webgl with its context/);
    expect(isWhole).toBe(true);
  });
});
