/** Two copies of the package in one process take each other's objects. */
import { join } from 'node:path';
import { Project, ROOT } from '../helpers/project.js';

const DIST = join(ROOT, 'dist');
const PROGRAM = join(ROOT, 'test', 'package', 'copies_program.mjs');

describe('copies of the package in one process', () => {
  let project: Project;

  beforeAll(() => {
    project = new Project();
    project.link('@tensorflow');
  });

  afterAll(() => project.remove());

  /** Expects that the copies at two addresses take what the other made. */
  async function expectExchange(first: string, second: string): Promise<void> {
    const { code, output, errors } = await project.run(PROGRAM, first, second);
    expect(code).withContext(errors).toBe(0);
    expect(JSON.parse(output.trim().split('\n').at(-1)!)).toEqual([]);
  }

  it('ESM and CommonJS take what the other made', async () => {
    await expectExchange(`import:${DIST}/index.mjs`, `require:${DIST}/index.cjs`);
  }, 60_000);

  it('CommonJS and ESM of the Node entry take what the other made', async () => {
    await expectExchange(`require:${DIST}/node.cjs`, `import:${DIST}/node.mjs`);
  }, 60_000);

  it('two versions in two folders take what the other made', async () => {
    const [old, young] = [project.install('old', '0.0.9'), project.install('young', '9.9.9')];
    await expectExchange(`import:${old}/dist/node.mjs`, `import:${young}/dist/index.mjs`);
  }, 60_000);
});
