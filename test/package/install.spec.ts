/** The package as npm packs it, installed in empty projects of four kinds: the programs of README and docs run there. */
import { build } from 'esbuild';
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { linksOf } from '../docs/markdown_links.js';
import { Project, type Outcome } from '../helpers/project.js';
import { asScript, pagePrograms, readmeModel, withoutTfjsNode } from './page_programs.js';

const STRICT = { strict: true, noUncheckedIndexedAccess: true, skipLibCheck: true, target: 'ES2022', types: [] };

describe('the packed package', () => {
  let project: Project;

  beforeAll(async () => {
    project = new Project();
    await project.installPacked();
    project.link('@tensorflow/tfjs', 'typescript');
  });

  afterAll(() => project.remove());

  /** Expects that a program of the README ran to its end; returns what it printed. */
  function expectRun({ code, output, errors }: Outcome): string {
    expect(code).withContext(`${output}\n${errors}`).toBe(0);
    // Four visits, so four predictions.
    expect(output).toMatch(/Tensor\s+\[(\[\d[^\]]*\],?\s*){4}\]/);
    return output;
  }

  async function compile(name: string, options: object): Promise<void> {
    project.write(
      `${name}.json`,
      JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files: [`${name}.ts`] }),
    );
    const { code, output } = await project.run('node_modules/typescript/bin/tsc', '-p', `${name}.json`);
    expect(code).withContext(output).toBe(0);
  }

  /** Writes the programs of all pages, and one that runs them one after the other in one process, on `cpu` each. */
  function writePrograms(extension: string, form: (program: string) => string, load: (name: string) => string): void {
    // Disk tables need the addon, which is built where the package is set up, and files of ONNX what runs them.
    const programs = [...pagePrograms()].filter(([page]) => !['disk_tables', 'onnx'].includes(page));
    expect(programs.map(([page]) => page)).toEqual(jasmine.arrayContaining(['readme', 'devices', 'serving']));
    for (const [page, program] of programs) project.write(`${page}.${extension}`, form(withoutTfjsNode(program)));
    // Each page as in a process of its own: on `cpu`, with no devices of the page before it.
    const start = `await tf.setBackend('cpu');\nif ('tpu-emulator' in tf.engine().registry) tf.removeBackend('tpu-emulator');`;
    const runs = programs.map(([page]) => `${start}\n${load(`./${page}.${extension}`)}`);
    const all = `import * as tf from '@tensorflow/tfjs';\n${runs.join('\n')}\nconsole.log('all pages ran');`;
    project.write(`pages.${extension}`, form(all));
    // What the run of the other form wrote.
    rmSync(join(project.path, 'served'), { recursive: true, force: true });
  }

  it('runs the programs of all pages as ES modules', async () => {
    writePrograms(
      'mjs',
      (program) => program,
      (name) => `await import('${name}');`,
    );
    const output = expectRun(await project.run('pages.mjs'));
    expect(output).toContain('TPU v5p');
    expect(output).toContain('all pages ran');
  }, 240_000);

  it('runs the programs of all pages as CommonJS scripts', async () => {
    writePrograms('cjs', asScript, (name) => `await require('${name}');`);
    const output = expectRun(await project.run('pages.cjs'));
    expect(output).toContain('all pages ran');
  }, 240_000);

  it('holds every file that README and docs link to', () => {
    const packed = join(project.path, 'node_modules', 'tfjs-embeddings');
    const pages = ['README.md', ...readdirSync(join(packed, 'docs')).map((name) => `docs/${name}`)];
    const texts = pages.filter((name) => name.endsWith('.md'));
    expect(texts.length).toBeGreaterThan(12);
    const missing = texts.flatMap((page) =>
      linksOf(readFileSync(join(packed, page), 'utf8'))
        .map(({ path }) => path)
        .filter((path) => path !== '' && !existsSync(join(packed, dirname(page), path)))
        .map((path) => `${page}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it("compiles under strict as Node's modules, and runs", async () => {
    project.write('package.json', '{"type": "module"}');
    project.write('node16.ts', withoutTfjsNode(readmeModel()));
    await compile('node16', { module: 'node16', moduleResolution: 'node16' });
    expectRun(await project.run('node16.js'));
  }, 120_000);

  it("compiles under strict as a bundler's input, is bundled, and runs", async () => {
    // A page has no files: the model goes to memory and back.
    const inMemory = withoutTfjsNode(readmeModel())
      .replace("'tfjs-embeddings/node'", "'tfjs-embeddings'")
      .replace("'file://./model'", '{ save: async (artifacts) => Object.assign(kept, artifacts) as never }')
      .replace("'file://./model/model.json'", '{ load: async () => kept }')
      .replace('await model.save', 'const kept = {} as tf.io.ModelArtifacts;\nawait model.save');
    project.write('bundler.ts', inMemory);
    await compile('bundler', { module: 'esnext', moduleResolution: 'bundler', noEmit: true });
    await build({
      absWorkingDir: project.path,
      entryPoints: ['bundler.ts'],
      outfile: join(project.path, 'bundle.mjs'),
      bundle: true,
      format: 'esm',
      platform: 'node',
      // tfjs asks for modules of Node as CommonJS does.
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      logLevel: 'silent',
    });
    expectRun(await project.run('bundle.mjs'));
  }, 120_000);
});
