// runner: packages
/** What set-up does with the package of TensorFlow's parts, on a machine without a compiler. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Project, ROOT, runIn, type Outcome } from '../helpers/project.js';
import { prebuilt, timeToPrebuild, type Prebuilt } from './packages.js';

const LIBRARIES = join(ROOT, 'custom-ops', 'build', 'tensorflow-2.21.0');
const CACHE = join(ROOT, 'test', '.cache');

/** Trains in captured steps, and prints the weights after them. */
const PROGRAM = `
  import * as tf from '@tensorflow/tfjs-node';
  import * as emb from 'tfjs-embeddings/node';
  await emb.ready();
  const ids = tf.tensor2d(Array.from({ length: 600 }, (_, i) => (i * i * 7) % 100), [100, 6], 'int32');
  const wanted = tf.tensor2d(Array.from({ length: 100 }, (_, i) => Math.sin(i)), [100, 1]);
  const model = tf.sequential();
  const table = { inputDim: 100, outputDim: 24, combiner: 'sqrtn', inputLength: 6, seed: 3 };
  model.add(emb.layers.embedding({ ...table, embeddingsInitializer: tf.initializers.randomUniform({ seed: 5 }) }));
  model.add(tf.layers.dense({ units: 1, kernelInitializer: tf.initializers.glorotNormal({ seed: 7 }) }));
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  await model.fit(ids, wanted, { epochs: 3, batchSize: 20, shuffle: false, verbose: 0 });
  const { backend, kernels } = emb.backendInfo();
  const bits = model.getWeights().flatMap((each) => [...new Uint8Array(each.dataSync().slice().buffer)]);
  console.log(JSON.stringify([backend, kernels.EmbeddingBag.implementation, emb.opLibraryPath() !== null, bits]));`;

describe("the package of TensorFlow's parts", () => {
  let project: Project;
  let parts: Prebuilt;
  let cli: string;

  beforeAll(async () => {
    [parts] = (await prebuilt(`tensorflow-linux-${process.arch}`)) as [Prebuilt];
    mkdirSync(CACHE, { recursive: true });
  }, timeToPrebuild(1));

  beforeEach(async () => {
    // Within this project, whose packages are those of tfjs-node.
    project = new Project(CACHE);
    project.write('package.json', '{ "type": "module" }');
    await project.installPacked();
    const installed = join(project.path, 'node_modules');
    cpSync(parts.folder, join(installed, parts.name), { recursive: true });
    const stock = join(ROOT, 'node_modules', '@tensorflow', 'tfjs-node');
    cpSync(stock, join(installed, '@tensorflow', 'tfjs-node'), {
      recursive: true,
      filter: (path) => !/[\\/](deps|lib[\\/]napi-v\d+)$/.test(path),
    });
    cli = join(installed, 'tfjs-embeddings', 'custom-ops', 'cli.mjs');
    mkdirSync(join(project.path, 'bin'));
    symlinkSync(process.execPath, join(project.path, 'bin', 'node'));
  }, 120_000);

  afterEach(() => project.remove());

  /** Runs set-up with Node alone in the path. */
  const setUp = (...args: string[]): Promise<Outcome> =>
    project.runBy('/usr/bin/env', '-i', `PATH=${join(project.path, 'bin')}`, 'node', cli, 'setup', ...args);

  /** The states and reasons of a table of set-up. */
  const rowsOf = ({ output }: Outcome): Record<string, string> =>
    Object.fromEntries(
      output.split('\n').flatMap((line) => {
        const found = /^(\S+) +((?:present|built|missing) .*)$/.exec(line);
        return found === null ? [] : [[found[1]!, found[2]!.replace(/ +/g, ' ')]];
      }),
    );

  it('is all that is needed beside TensorFlow, and trains to the same bits as what is compiled', async () => {
    const first = await setUp('--tensorflow', LIBRARIES);
    expect(rowsOf(first)).toEqual(
      jasmine.objectContaining({
        TensorFlow: `present --tensorflow=${LIBRARIES}`,
        'tfjs-node': `built 4.22.0 on TensorFlow from ${LIBRARIES}, prebuilt`,
        addon: 'built for Node, TensorFlow and Python, prebuilt',
      }),
    );
    const again = await setUp('--tensorflow', LIBRARIES);
    expect(Object.values(rowsOf(again)).map((row) => row.split(' ')[0])).not.toContain('built');
    const [ours, compiled] = await Promise.all([
      project.runModule(PROGRAM),
      runIn(ROOT, process.execPath, '--input-type=module', '-e', PROGRAM),
    ]);
    expect(ours.code).withContext(ours.errors).toBe(0);
    expect(ours.output).toContain('["tensorflow","tensorflow",true,');
    expect(ours.output === compiled.output)
      .withContext('the weights differ')
      .toBeTrue();
    const bits = (JSON.parse(ours.output) as [string, string, boolean, number[]])[3];
    expect(bits.length).toBe(4 * (100 * 24 + 24 + 1));
    const info = await project.run(cli, 'info', '--json');
    expect((JSON.parse(info.output) as { addon: string }).addon).toBe(`prebuilt tensorflow-linux-${process.arch}`);
  }, 240_000);

  it('is passed over on request, when it is damaged, and when it is of another version', async () => {
    const byHand = await setUp('--tensorflow', LIBRARIES, '--compile');
    expect(rowsOf(byHand)['tfjs-node']).toMatch(/^missing no C\+\+ compiler.*; --compile$/);
    const folder = join(project.path, 'node_modules', parts.name);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object;
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, version: '9.9.9' }));
    const older = rowsOf(await setUp('--tensorflow', LIBRARIES));
    expect(older['tfjs-node']).toContain(`${parts.name} is version 9.9.9, tfjs-embeddings is`);
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    appendFileSync(join(folder, 'tfjs_embeddings.node'), 'x');
    const damaged = rowsOf(await setUp('--tensorflow', LIBRARIES));
    expect(damaged['tfjs-node']).toContain(`${parts.name} is damaged`);
    expect(damaged['tfjs-node']).toContain('expected the SHA-256');
    expect(damaged['addon']).toMatch(/^missing no C compiler/);
    expect(
      existsSync(join(project.path, 'node_modules/tfjs-embeddings/custom-ops/build/tfjs_embeddings.node')),
    ).toBeFalse();
  }, 240_000);

  it('refuses a TensorFlow that is none', async () => {
    const cases: [string, string][] = [
      ['/nowhere', '--tensorflow: /nowhere has no include/tensorflow/c/c_api.h'],
      ['/nowhere.whl', '--tensorflow: /nowhere.whl is not there'],
    ];
    project.write('tensorflow_cpu-2.10.0-cp311-cp311-linux_x86_64.whl', 'PK');
    cases.push([
      join(project.path, 'tensorflow_cpu-2.10.0-cp311-cp311-linux_x86_64.whl'),
      '--tensorflow: expected a wheel of TensorFlow 2.21.0, received tensorflow_cpu-2.10.0-cp311',
    ]);
    for (const [path, said] of cases) {
      const { code, errors } = await setUp('--tensorflow', path);
      expect([code, errors]).toEqual([2, jasmine.stringContaining(said)]);
    }
  }, 60_000);

  for (const arch of ['x64', 'arm64']) {
    it(
      `asks of linux ${arch} for glibc 2.28 at most, and brings the C++ library along`,
      async () => {
        const [made] = (await prebuilt(`tensorflow-linux-${arch}`)) as [Prebuilt];
        for (const file of ['tfjs_embeddings.node', 'tfjs_binding.node']) {
          const path = join(made.folder, file);
          const { output } = await runIn(ROOT, 'nm', '-D', path);
          const symbols = output.trimEnd().split('\n');
          const [own, foreign] = [/ [A-TV-Zi] /, / U /].map((kind) => symbols.filter((line) => kind.test(line)));
          expect(own!.map((line) => line.split(' ').at(-1))).toContain('napi_register_module_v1');
          expect(
            own!.filter(
              (line) =>
                !/(napi_register_module_v1|node_api_module_get_api_version_v1|te_tensorflow_register)$/.test(line),
            ),
          ).toEqual([]);
          // Names of C++ are mangled.
          expect(foreign!.filter((line) => / _Z|GLIBCXX|CXXABI/.test(line))).toEqual([]);
          const versions = foreign!.flatMap((line) => /@GLIBC_2\.(\d+)/.exec(line)?.[1] ?? []).map(Number);
          expect(Math.max(...versions)).toBeLessThanOrEqual(28);
          const needed = await runIn(ROOT, 'readelf', '-d', path);
          const libraries = [...needed.output.matchAll(/NEEDED.*\[(.*)\]/g)].map(([, name]) => name!);
          const ofTensorFlow = /^libtensorflow_(cc|framework)\.so\.2$/;
          expect(libraries.filter((name) => ofTensorFlow.test(name)).length).toBe(file.includes('binding') ? 2 : 0);
          const ofC = /^(lib(m|c|pthread|dl)\.so\.\d|ld-linux-.*\.so\.\d)$/;
          expect(libraries.filter((name) => !ofTensorFlow.test(name) && !ofC.test(name))).toEqual([]);
        }
        const bytes = ['tfjs_embeddings.node', 'tfjs_binding.node'].map(
          (file) => statSync(join(made.folder, file)).size,
        );
        expect(bytes[0]! + bytes[1]!).toBeLessThan(10e6);
      },
      timeToPrebuild(1),
    );
  }
});
