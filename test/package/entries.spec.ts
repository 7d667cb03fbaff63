/** The entries of the package: what each brings, and what it leaves out. */
import { build } from 'esbuild';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Project, ROOT } from '../helpers/project.js';

/** Loaded on first use, and no part of a page before. */
const ON_DEMAND = ['@zip.js/zip.js', 'hyparquet', 'hyparquet-compressors', 'jsfive'];

/** A program as bundlers make it for pages, without tfjs. */
async function bundleOf(project: Project, program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: project.path },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    external: ['@tensorflow/*', 'node:*', ...ON_DEMAND],
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

const REPORT = 'Bytes over links';

describe('the entries', () => {
  let project: Project;

  beforeAll(() => {
    project = new Project();
    project.install();
    project.link('@tensorflow/tfjs');
  });

  afterAll(() => project.remove());

  it('/ops is at most 42 kB beside the WebAssembly bytes', async () => {
    const code = await bundleOf(
      project,
      "import { embeddingLookup } from 'tfjs-embeddings/ops'; console.log(embeddingLookup);",
    );
    const wasm = readFileSync(join(ROOT, 'custom-ops/build/kernels.wasm')).toString('base64');
    expect(code).withContext('holds the WebAssembly kernels').toContain(wasm);
    expect(gzipSync(code.replace(wasm, '')).length).toBeLessThanOrEqual(42_000);
  });

  it('weigh what the docs say, beside the WebAssembly bytes', async () => {
    const wasm = readFileSync(join(ROOT, 'custom-ops/build/kernels.wasm')).toString('base64');
    const lines = readFileSync(join(ROOT, 'docs/browser.md'), 'utf8').matchAll(/^\| (.*?) +\| +(\d+) \|/gm);
    const said = [...lines].map(([, name, size]) => [name!, Number(size)] as const);
    expect(said.length).toBe(10);
    const programs: Record<string, string> = {
      'the same, and `topK`': "export * from 'tfjs-embeddings/layers'; export { topK } from 'tfjs-embeddings/ranking';",
    };
    for (const [name, size] of said) {
      const code = await bundleOf(project, programs[name] ?? `export * from '${name.replaceAll('`', '')}';`);
      const found = gzipSync(code.replace(wasm, ''), { level: 9 }).length / 1000;
      expect(found).withContext(name).toBeLessThanOrEqual(size);
      expect(found)
        .withContext(name)
        .toBeGreaterThan(0.95 * size - 1);
      const most = { '`tfjs-embeddings/layers`': 120, 'the same, and `topK`': 132 }[name];
      if (most !== undefined) expect(size).withContext(name).toBeLessThanOrEqual(most);
    }
  }, 120_000);

  it('the report is in no bundle of the main entry, be it made by a bundler or by us', async () => {
    const own = readFileSync(join(ROOT, 'dist/tfjs-embeddings.min.js'), 'utf8');
    const bundled = await bundleOf(project, "export * from 'tfjs-embeddings';");
    for (const code of [own, bundled]) expect(code.includes(REPORT)).toBeFalse();
    const both = await bundleOf(project, "export * from 'tfjs-embeddings'; import 'tfjs-embeddings/report';");
    expect(both.includes(REPORT)).toBeTrue();
  });

  const EMULATOR = `
    emb.configureTpuEmulator({ chips: 2, coresPerChip: 1, devices: 'inline' });
    await tf.setBackend('tpu-emulator');
  `;
  const programs: [what: string, program: string, printed: string][] = [
    [
      '/ops looks up without anything else',
      `import * as tf from '@tensorflow/tfjs';
       import { RaggedTensor, backendInfo, embeddingLookup } from 'tfjs-embeddings/ops';
       const pooled = embeddingLookup(tf.ones([3, 2]), RaggedTensor.fromRows([[0, 1], []]), { combiner: 'sum' });
       console.log(JSON.stringify(pooled.arraySync()), backendInfo().kernels.EmbeddingBag.implementation);
       const layers = Object.keys(tf.serialization.SerializationMap.getMap().classNameMap);
       console.log(layers.some((name) => name.startsWith('TfjsEmbeddings')));`,
      '[[2,2],[0,0]] wasm\nfalse\n',
    ],
    [
      '/data reads without anything else',
      `import { fromArrays } from 'tfjs-embeddings/data';
       for await (const { features } of fromArrays({ ids: [[1, 2], [3]] })) console.log([...features.ids].join());`,
      '1,2\n3\n',
    ],
    [
      '/preprocessing maps without anything else',
      `import { StringLookup } from 'tfjs-embeddings/preprocessing';
       console.log(JSON.stringify(new StringLookup({ vocabulary: ['a', 'b'] }).apply([['b', 'c']])));`,
      '[[2,0]]\n',
    ],
    [
      '/ranking names losses without anything else',
      `import * as tf from '@tensorflow/tfjs';
       import { losses } from 'tfjs-embeddings/ranking';
       const model = tf.sequential({ layers: [tf.layers.dense({ units: 2, inputShape: [1] })] });
       model.compile({ optimizer: 'sgd', loss: losses.bpr() });
       const [x, y] = [tf.ones([2, 1]), tf.zeros([2, 2])];
       const [found, sought] = [model.evaluate(x, y), losses.bpr()(y, model.predict(x)).mean()];
       console.log(found.dataSync()[0] === sought.dataSync()[0], found.dataSync()[0] > 0);`,
      'true true\n',
    ],
    [
      '/tpu starts the emulator without anything else',
      `import * as tf from '@tensorflow/tfjs';
       import * as tpu from 'tfjs-embeddings/tpu';
       tpu.configureTpuEmulator({ chips: 2, coresPerChip: 1, devices: 'inline' });
       await tf.setBackend('tpu-emulator');
       const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4, optimizer: new tpu.SGD() });
       console.log(String(table.optimizer.learningRate), tf.getBackend());`,
      '0.01 tpu-emulator\n',
    ],
    [
      'the main entry registers layers, and reports',
      `import * as tf from '@tensorflow/tfjs';
       import * as emb from 'tfjs-embeddings';
       ${EMULATOR}
       const { classNameMap } = tf.serialization.SerializationMap.getMap();
       console.log('TfjsEmbeddings>Embedding' in classNameMap, emb.tpuEmulator().report().machine.devices);`,
      'true 2\n',
    ],
    [
      'the main entry of pages names the import that it wants for a report',
      `import * as tf from '@tensorflow/tfjs';
       import * as emb from './node_modules/tfjs-embeddings/dist/index.mjs';
       ${EMULATOR}
       try {
         emb.tpuEmulator().report();
       } catch (error) {
         console.log(error.name, error.message.includes("'tfjs-embeddings/report'"));
       }
       await import('tfjs-embeddings/report');
       console.log(emb.tpuEmulator().report().machine.devices);`,
      'RuntimeError true\n2\n',
    ],
  ];
  for (const [what, program, printed] of programs) {
    it(
      what,
      async () => {
        project.write('program.mjs', program);
        const { code, output, errors } = await project.run('program.mjs');
        expect(code).withContext(errors).toBe(0);
        expect(output.endsWith(printed)).withContext(output).toBeTrue();
      },
      60_000,
    );
  }

  it('are there for CommonJS too', async () => {
    const program = `
      const names = ['data', 'layers', 'ops', 'preprocessing', 'ranking', 'report', 'tpu', 'webgpu', 'node'];
      console.log(names.map((name) => Object.keys(require('tfjs-embeddings/' + name)).length > 0).join());`;
    const { code, output, errors } = await project.run('-e', program);
    expect(code).withContext(errors).toBe(0);
    expect(output).toContain('true,true,true,true,true,true,true,true,true');
  }, 60_000);
});
