/** Models run on the backend that was named, or say that it is not there. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { WITH_SOURCES } from '../helpers/programs.js';
import { ROOT } from '../helpers/project.js';
import { learnableCsv, scratchFolder } from './wide_and_deep/program.js';

describe('models where tfjs-node is not installed', () => {
  const folder = scratchFolder();
  const data = folder.write('data.csv', learnableCsv(30));
  const byDefault = jasmine.DEFAULT_TIMEOUT_INTERVAL;
  beforeAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = 120_000)); // each run is a process
  afterAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = byDefault));
  afterAll(() => folder.remove());

  const without =
    'data:text/javascript,import { register } from "node:module";' +
    'register("data:text/javascript,export async function resolve(name, context, next) {' +
    `if (name === '@tensorflow/tfjs-node') throw new Error('not installed'); return next(name, context); }");`;
  const run = (model: string, ...args: string[]) => {
    const program = join(ROOT, 'models', model, 'main.ts');
    return spawnSync(process.execPath, [...WITH_SOURCES, '--import', without, program, ...args], {
      encoding: 'utf8',
    });
  };

  it('refuse the host tensorflow', () => {
    const { status, stderr } = run('synthetic', '--host', 'tensorflow', '--devices', '1', '--steps', '1');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: the host tensorflow is not there: not installed /m);
  });

  it('refuse the backend tensorflow', () => {
    const { status, stderr } = run('wide_and_deep', '--data', data, '--backend', 'tensorflow');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: the backend tensorflow is not there: not installed /m);
  });

  it('say that cpu runs where none was named, and nothing of a faster backend', () => {
    const { status, stdout, stderr } = run('wide_and_deep', '--data', data, '--epochs', '1', '--json');
    expect(status).withContext(stderr).toBe(0);
    expect(stderr).toContain('TensorFlow is not there (not installed): the backend is cpu');
    expect(stdout).toContain('"backend":"cpu"');
    expect(stdout + stderr).not.toContain('install our node backend');
  });
});
