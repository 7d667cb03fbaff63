/** The package as npm packs it, installed in empty projects of four kinds: the programs of the README run there. */
import { build } from 'esbuild';
import { join } from 'node:path';
import { Project, type Outcome } from '../helpers/project.js';
import { asScript, readmeModel, readmeProgram, withoutTfjsNode } from './readme_program.js';

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

  it('runs all of the README as an ES module', async () => {
    project.write('readme.mjs', withoutTfjsNode(readmeProgram()));
    const output = expectRun(await project.run('readme.mjs'));
    expect(output).toContain('TPU v5p');
  }, 120_000);

  it('runs all of the README as a CommonJS script', async () => {
    project.write('readme.cjs', asScript(withoutTfjsNode(readmeProgram())));
    expectRun(await project.run('readme.cjs'));
  }, 120_000);

  it("compiles under strict as Node's modules, and runs", async () => {
    project.write('package.json', '{"type": "module"}');
    project.write('node16.ts', withoutTfjsNode(readmeModel()));
    await compile('node16', { module: 'node16', moduleResolution: 'node16' });
    expectRun(await project.run('node16.js'));
  }, 120_000);

  it("compiles under strict as a bundler's input, is bundled, and runs", async () => {
    project.write('bundler.ts', withoutTfjsNode(readmeModel()).replace("'tfjs-embeddings/node'", "'tfjs-embeddings'"));
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
