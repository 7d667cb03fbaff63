/** Which addon runs: the one of the platform's package, held against what the package says, or the one of set-up. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writePackage } from '../../../custom-ops/prebuild/package.mjs';
import { TARGETS } from '../../../custom-ops/prebuild/targets.mjs';
import { addonPath } from '../../../src/backends/native/addon.js';
import { addonsHere, builtAddonPath } from '../../../src/backends/native/addons_here.js';
import { platformHere, prebuiltAddon } from '../../../src/backends/native/prebuilt_addon.js';
import { Project } from '../../helpers/project.js';

const HERE = platformHere();
const NAME = `tfjs-embeddings-${HERE}`;

describe('the addons of an installed package', () => {
  let project: Project;
  let root: string;

  beforeEach(() => {
    project = new Project();
    root = project.install();
  });
  afterEach(() => project.remove());

  /** Installs the package of this platform, with the addon that is built here; returns the path of the addon in it. */
  function installPrebuilt(): string {
    const target = TARGETS.find(({ name }) => name === HERE)!;
    return join(writePackage(target, { addon: addonPath() }, dirname(root)), 'tfjs_embeddings.node');
  }

  /** Copies what set-up has built here into the package. */
  function installBuilt(tensorflow: string | null): string {
    const path = builtAddonPath(root);
    mkdirSync(dirname(path), { recursive: true });
    copyFileSync(addonPath(), path);
    writeFileSync(`${path}.json`, JSON.stringify({ tensorflow }));
    return path;
  }

  function change(path: string, text: string, by: string): void {
    writeFileSync(path, readFileSync(path, 'utf8').replace(text, by));
  }

  const sources = (): string[] => addonsHere(root).found.map(({ source }) => source);

  it('are none where no package is installed and set-up has built none', () => {
    const { found, faults, lacking } = addonsHere(root);
    expect([found, faults]).toEqual([[], []]);
    expect(lacking).toBe(`${NAME} is not installed, and \`npx tfjs-embeddings setup\` has built none`);
  });

  it("are the one of this platform's package first, then the one that set-up has built without TensorFlow", () => {
    const path = installPrebuilt();
    expect(addonsHere(root).found).toEqual([{ path, source: `prebuilt ${HERE}` }]);
    installBuilt(null);
    expect(sources()).toEqual([`prebuilt ${HERE}`, 'built']);
  });

  it("are the one with TensorFlow's ops first, which no package has", () => {
    installPrebuilt();
    installBuilt('2.21.0');
    expect(sources()).toEqual(['built', `prebuilt ${HERE}`]);
  });

  it('are in a clone the built one alone', () => {
    installPrebuilt();
    const path = installBuilt(null);
    mkdirSync(join(root, 'src'));
    writeFileSync(join(root, 'package-lock.json'), '{}');
    expect(addonsHere(root).found).toEqual([{ path, source: 'built' }]);
    rmSync(path);
    expect(addonsHere(root).found).toEqual([]);
    expect(addonsHere(root).lacking).toBe(`${path} is missing: npx tfjs-embeddings setup`);
  });

  it('are found by a program that the package was bundled into', () => {
    const path = installPrebuilt();
    project.write('package.json', '{"name": "program", "version": "7.0.0"}');
    expect(addonsHere(project.path).found).toEqual([{ path, source: `prebuilt ${HERE}` }]);
    rmSync(root, { recursive: true });
    expect(addonsHere(project.path).found).toEqual([]);
    expect(addonsHere(project.path).faults[0]).toContain('the version of tfjs-embeddings is not known');
  });

  it('are not those of another version', () => {
    const path = installPrebuilt();
    change(join(dirname(path), 'package.json'), '"version": "', '"version": "9.');
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    const { found, faults } = addonsHere(root);
    expect(found).toEqual([]);
    expect(faults).toEqual([`${NAME} is version 9.${version}, tfjs-embeddings is ${version}`]);
  });

  it('are not those that were cut off', () => {
    const path = installPrebuilt();
    const { length } = readFileSync(path);
    truncateSync(path, 5000);
    installBuilt(null);
    expect(addonsHere(root).faults).toEqual([`${path} is damaged: expected ${length} bytes, received 5000`]);
    expect(sources()).toEqual(['built']);
  });

  it('are not those in which a bit is another one', () => {
    const path = installPrebuilt();
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1]! ^= 4;
    writeFileSync(path, bytes);
    const { found, faults } = addonsHere(root);
    expect(found).toEqual([]);
    expect(faults.length).toBe(1);
    expect(faults[0]).toMatch(/is damaged: expected the SHA-256 [0-9a-f]{64}, received [0-9a-f]{64}$/);
  });

  it('are not those of a package that lacks its addon, or says nothing of it', () => {
    const path = installPrebuilt();
    rmSync(path);
    expect(addonsHere(root).faults[0]).toMatch(new RegExp(`^${NAME} is damaged: ENOENT`));
    change(join(dirname(path), 'package.json'), '"addon"', '"other"');
    expect(addonsHere(root).faults[0]).toContain(`${NAME} is damaged: `);
    writeFileSync(join(dirname(path), 'package.json'), '{"name":');
    expect(addonsHere(root).faults[0]).toContain(`${NAME} is damaged: `);
  });

  it('are none where there is no package for the platform', () => {
    const found = prebuiltAddon(join(root, 'package.json'), '0.1.0', 'freebsd-x64');
    expect(found).toEqual({ platform: 'freebsd-x64', lacking: 'there is no package for freebsd-x64', isFault: false });
  });

  const LOOKUP = `
    import * as tf from '@tensorflow/tfjs';
    import * as emb from 'tfjs-embeddings/node';
    await emb.ready();
    await tf.setBackend('cpu');
    emb.embeddingLookup(tf.zeros([3, 2]), [[0, 1]], { combiner: 'sum' });
    const { addon, kernels } = emb.backendInfo();
    console.log(JSON.stringify([addon, kernels.EmbeddingBag.implementation]));`;

  it('run, and backendInfo says which one does', async () => {
    project.link('@tensorflow/tfjs');
    installPrebuilt();
    const { output, errors } = await project.runModule(LOOKUP);
    expect(JSON.parse(output)).toEqual([`prebuilt ${HERE}`, 'native']);
    expect(errors).not.toContain('tfjs-embeddings: ');
  }, 60_000);

  it('that are damaged are told once, and WebAssembly runs', async () => {
    project.link('@tensorflow/tfjs');
    truncateSync(installPrebuilt(), 5000);
    const { code, output, errors } = await project.runModule(LOOKUP);
    expect(code).toBe(0);
    const [addon, implementation] = JSON.parse(output) as string[];
    expect(addon).toMatch(/^WebAssembly: .*tfjs_embeddings\.node is damaged/);
    expect(implementation).toBe('wasm');
    expect(errors.match(/is damaged: expected \d+ bytes, received 5000/g)?.length)
      .withContext(errors)
      .toBe(1);
  }, 60_000);

  it('that lack a function of this version are told, and WebAssembly runs', async () => {
    project.link('@tensorflow/tfjs');
    // As if it were of a version in which this function has another name.
    const other = join(project.path, 'other.node');
    copyFileSync(addonPath(), other);
    const bytes = readFileSync(other);
    bytes.write('embeddingBaq\0', bytes.indexOf('embeddingBag\0'));
    writeFileSync(other, bytes);
    writePackage(
      TARGETS.find(({ name }) => name === HERE)!,
      { addon: other },
      dirname(root),
    );
    const { output, errors } = await project.runModule(LOOKUP);
    expect(JSON.parse(output)).toEqual([jasmine.stringMatching(/^WebAssembly: .*it has no embeddingBag$/), 'wasm']);
    expect(errors).toContain('it was built from other sources');
  }, 60_000);
});
