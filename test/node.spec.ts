/** What people are told who lack the native kernels, by programs of their own. */
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { skipOrFail } from './helpers/backends.js';
import { Project, ROOT } from './helpers/project.js';

const TFJS_NODE = '@tensorflow/tfjs-node';

/** Looks up twice on the backend in use, and prints which kernels run. */
const LOOKUPS = `
  const table = tf.zeros([3, 2]);
  emb.embeddingLookup(table, [[0, 1]], { combiner: 'sum' });
  emb.embeddingLookup(table, [[0, 1]], { combiner: 'sum' });
  console.log(tf.getBackend(), emb.backendInfo().kernels.EmbeddingBag.implementation);
`;

/** The lines that this package warned with. */
function warnings(errors: string): string[] {
  return errors.split('\n').filter((line) => line.startsWith('tfjs-embeddings: '));
}

describe('tfjs-node', () => {
  let project: Project;

  beforeEach(() => {
    project = new Project();
    project.link('@tensorflow/tfjs');
  });

  afterEach(() => project.remove());

  /** Links the built tfjs-node; skips the spec where there is none. */
  function linkTfjsNode(): void {
    if (!existsSync(join(ROOT, 'node_modules', TFJS_NODE, 'lib'))) skipOrFail('tfjs-node is not built');
    project.link(TFJS_NODE);
  }

  it('with the entry for any runtime: a warning names the import that brings the kernels, once', async () => {
    linkTfjsNode();
    project.install();
    const program = `
      import * as tf from '${TFJS_NODE}';
      import * as emb from 'tfjs-embeddings';
      ${LOOKUPS}`;
    const { code, output, errors } = await project.runModule(program);
    expect(code).withContext(errors).toBe(0);
    expect(output).toContain('tensorflow generic');
    const said = warnings(errors);
    expect(said.length).withContext(errors).toBe(1);
    expect(said[0]).toContain("import 'tfjs-embeddings/node'");
    expect(said[0]).toContain('npx tfjs-embeddings setup');
  }, 60_000);

  it('with the entry for Node before set-up: a warning names the command, once', async () => {
    linkTfjsNode();
    project.install();
    const program = `
      const emb = require('tfjs-embeddings/node');
      const tf = require('${TFJS_NODE}');
      ${LOOKUPS}`;
    const { code, output, errors } = await project.run('-e', program);
    expect(code).withContext(errors).toBe(0);
    expect(output).toContain('tensorflow generic');
    const said = warnings(errors);
    expect(said.length).withContext(errors).toBe(1);
    expect(said[0]).toContain('npx tfjs-embeddings setup');
    expect(said[0]).not.toContain('import');
  }, 60_000);

  it('with the entry for Node after set-up: no warning, in whatever order they are imported', async () => {
    if (!existsSync(join(ROOT, 'custom-ops/build/tfjs_embeddings.node'))) skipOrFail('the addon is not built');
    linkTfjsNode();
    cpSync(
      join(ROOT, 'custom-ops/build/tfjs_embeddings.node'),
      join(project.install(), 'custom-ops/build/tfjs_embeddings.node'),
    );
    const imports = [`import * as tf from '${TFJS_NODE}';`, "import * as emb from 'tfjs-embeddings/node';"];
    for (const order of [imports, [...imports].reverse()]) {
      const { code, output, errors } = await project.runModule(`${order.join('\n')}\n${LOOKUPS}`);
      expect(code).withContext(errors).toBe(0);
      expect(output).toContain('tensorflow tensorflow');
      expect(warnings(errors)).toEqual([]);
    }
  }, 60_000);

  it('that was never built: a warning names the command before tfjs-node fails', async () => {
    const folder = join(project.path, 'node_modules', TFJS_NODE);
    cpSync(join(ROOT, 'node_modules', TFJS_NODE), folder, {
      recursive: true,
      filter: (path) => !/tfjs-node\/(deps|lib|src|binding)$/.test(path),
    });
    project.link('@mapbox', 'google-protobuf', '@tensorflow/tfjs-core', 'tslib', 'progress');
    project.install();
    const program = `
      import 'tfjs-embeddings/node';
      await import('${TFJS_NODE}');`;
    const { code, errors } = await project.runModule(program);
    expect(code).toBe(1);
    const said = warnings(errors);
    expect(said.length).withContext(errors).toBe(1);
    expect(said[0]).toContain(`${TFJS_NODE} is installed`);
    expect(said[0]).toContain('npx tfjs-embeddings setup');
    expect(errors.indexOf('tfjs_binding.node')).withContext(errors).toBeGreaterThan(errors.indexOf(said[0]!));
    rmSync(folder, { recursive: true });
    const without = await project.runModule("import 'tfjs-embeddings/node';");
    expect(without.code).withContext(without.errors).toBe(0);
    expect(warnings(without.errors)).toEqual([]);
  }, 60_000);
});
