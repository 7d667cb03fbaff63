/** `TFJS_DIR`: specs run with another build of TensorFlow.js, here a copy of the installed one that says another version. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WITH_SOURCES } from '../helpers/programs.js';
import { ROOT } from '../helpers/project.js';

const VERSION = '4.22.99';
const PACKAGES = [
  'tfjs',
  'tfjs-core',
  'tfjs-layers',
  'tfjs-data',
  'tfjs-converter',
  'tfjs-backend-cpu',
  'tfjs-backend-webgl',
];
describe('TFJS_DIR', () => {
  let folder: string;
  const run = (dir: string): string => {
    const args = [...WITH_SOURCES, 'test/run.ts', 'test/runner/tfjs_build'];
    const env = { ...process.env, TFJS_DIR: dir, NODE_OPTIONS: '' };
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', env });
    return stdout + stderr;
  };

  beforeAll(() => {
    mkdirSync(join(ROOT, 'test', '.cache'), { recursive: true });
    folder = mkdtempSync(join(ROOT, 'test', '.cache', 'tfjs-'));
    for (const name of PACKAGES) {
      const [from, to] = [join(ROOT, 'node_modules', '@tensorflow', name), join(folder, 'build', '@tensorflow', name)];
      mkdirSync(join(to, 'dist'), { recursive: true });
      const files = readdirSync(join(from, 'dist')).filter((file) => file.endsWith('.node.js'));
      expect(files.length).withContext(name).toBeGreaterThan(0);
      for (const file of ['package.json', ...files.map((each) => `dist/${each}`)]) {
        cpSync(join(from, file), join(to, file));
        const text = readFileSync(join(to, file), 'utf8');
        writeFileSync(join(to, file), text.replaceAll(/(['"])4\.22\.0\1/g, `$1${VERSION}$1`));
      }
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('puts its packages in place of the installed ones, everywhere', () => {
    const output = run(join(folder, 'build'));
    expect(output).toContain(`TensorFlow.js ${VERSION} of `);
    expect(output).withContext(output).toContain('2 passed, 0 failed');
  }, 120_000);

  it('must hold TensorFlow.js', () => {
    expect(run(folder)).toContain(`TFJS_DIR: expected a folder with @tensorflow/tfjs, received ${folder}`);
  }, 60_000);
});
