/** What is answered before anything is installed or built. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { emptyFolder } from '../custom-ops/setup/set_up_module.js';
import { WITH_DIST } from '../helpers/programs.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('npm start in a bare clone', () => {
  const folder = emptyFolder();
  beforeEach(() => {
    for (const name of ['models', 'custom-ops', 'package.json', 'package-lock.json']) {
      const filter = (path: string): boolean => path !== join(ROOT, 'custom-ops', 'build');
      cpSync(join(ROOT, name), join(folder.path, name), { recursive: true, filter });
    }
    for (const name of ['wasm', 'emulator/devices']) {
      mkdirSync(join(folder.path, 'src', 'backends', name), { recursive: true });
    }
  });

  interface Answer {
    readonly status: number | null;
    readonly stdout: string;
    readonly stderr: string;
  }
  const run = (command: string, ...args: string[]): Answer => {
    // Under CI=true set-up would end with what is missing here. Without compilers it makes nothing that nobody asks for.
    const env = { ...process.env, CI: '', CC: '/nowhere/cc', CXX: '/nowhere/c++', PYTHON: '/nowhere/python' };
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder.path, encoding: 'utf8', env });
    return { status, stdout, stderr };
  };
  const start = (model: string, ...args: string[]): Answer =>
    run(process.execPath, join('models', 'start.mjs'), model, ...args);
  /** Neither set-up nor anything else has touched the clone. */
  const expectUntouched = (): void => {
    expect(readdirSync(folder.path).sort()).toEqual([
      'custom-ops',
      'models',
      'package-lock.json',
      'package.json',
      'src',
    ]);
    expect(existsSync(join(folder.path, 'custom-ops', 'build'))).toBeFalse();
  };

  it('lists the options with exit code 0', () => {
    const { status, stdout, stderr } = run('npm', 'start', '--silent', '--', '--help');
    expect([status, stderr.replace(/^npm warn.*\n/gm, '')]).toEqual([0, '']);
    const options = 'data test label positive separator backend epochs batch seed save json help devices report';
    for (const option of options.split(' ')) expect(stdout).toContain(`--${option} `);
    expectUntouched();
  });

  for (const [model, usage] of [
    ['wide_and_deep', 'npm start -- [options]'],
    ['synthetic', 'node models/start.mjs synthetic [options]'],
    ['matrix_factorization', 'node models/start.mjs matrix_factorization [options]'],
    ['two_tower', 'node models/start.mjs two_tower [options]'],
    ['dlrm', 'node models/start.mjs dlrm [options]'],
    ['sasrec', 'node models/start.mjs sasrec [options]'],
    ['demo', 'npm run demo -- [options]'],
    ['personal', 'node models/start.mjs personal [options]'],
    ['online', 'node models/start.mjs online [options]'],
  ] as const) {
    it(`lists the options of ${model}, whatever else is asked for`, () => {
      for (const args of [['--help'], ['-h'], ['--epochs', 'many', '--help']]) {
        const { status, stdout, stderr } = start(model, ...args);
        expect([status, stderr]).toEqual([0, '']);
        expect(stdout).toContain(usage);
      }
      expectUntouched();
    });

    it(`names a wrong option of ${model} in one line, with exit code 2`, () => {
      const wrong = [
        ['--sdeed', '1'],
        ['--batch'],
        ['--batch', '0'],
        ['--strategy', 'best'],
        ['--report', ''],
        ['more'],
      ];
      for (const args of wrong) {
        const given = model === 'wide_and_deep' ? ['--backend', 'tpu-emulator', ...args] : args;
        const { status, stdout, stderr } = start(model, ...given);
        expect([status, stdout]).withContext(args.join(' ')).toEqual([2, '']);
        expect(stderr).toMatch(/^error: [^\n]+\n$/);
      }
      expectUntouched();
    });
  }

  it('names files that cannot be what they are given for', () => {
    const data = join(folder.path, 'models', 'start.mjs');
    const wrong: [string[], string][] = [
      [['--data', 'none.csv'], '--data must be the name of a file, not "none.csv": there is no such file'],
      [['--data', 'models'], '--data must be the name of a file, not "models": that is a folder'],
      [['--data', data, '--test', ''], '--test must be the name of a file, not "": there is no such file'],
      [['--save', data], `--save must be the name of a folder, not "${data}": that is a file`],
    ];
    for (const [args, text] of wrong) {
      expect(start('wide_and_deep', ...args)).toEqual({ status: 2, stdout: '', stderr: `error: ${text}\n` });
    }
    expectUntouched();
  });

  it('knows the models', () => {
    for (const name of ['', 'other', 'constructor', '--help']) {
      const { status, stderr } = start(name);
      expect([status, stderr]).toEqual([
        2,
        `error: expected one of wide_and_deep, matrix_factorization, two_tower, dlrm, sasrec, synthetic, tpu_embedding, demo, personal, per_layer, online, not "${name}"\n`,
      ]);
    }
    expectUntouched();
  });

  it('sets up before it runs, and says what it lacks', () => {
    // A lock file with nothing in it, and no loader of TypeScript.
    writeFileSync(join(folder.path, 'package-lock.json'), '{"lockfileVersion": 3, "packages": {}}');
    writeFileSync(join(folder.path, 'package.json'), '{"type": "module"}');
    const { status, stderr } = start('wide_and_deep', '--epochs', '1');
    expect(stderr).toContain('npm ci, install scripts disabled');
    // Without a compiler WebAssembly would compute.
    expect(stderr).toContain('needs the npm package @yowasp/clang');
    expect(stderr).toMatch(/Cannot find package '(esbuild|@tensorflow\/tfjs)'|tsconfig\.json/);
    expect(status).toBe(1);
  });

  /** Names in the table of what was made and what is missing. */
  const partsIn = (stderr: string): string[] =>
    Array.from(stderr.matchAll(/^([\w-]+) +(?:missing|built) /gm), ([, name]) => name!);

  for (const [what, args, parts] of [
    ['cpu alone', ['wide_and_deep'], ['dependencies', 'addon', 'WebAssembly']],
    [
      'TensorFlow',
      ['dlrm', '--backend', 'tensorflow'],
      ['dependencies', 'TensorFlow', 'tfjs-node', 'addon', 'WebAssembly'],
    ],
    ['devices', ['wide_and_deep', '--backend', 'tpu-emulator'], ['dependencies', 'addon', 'WebAssembly', 'workers']],
    ['a page', ['demo'], ['dependencies', 'addon', 'WebAssembly', 'workers']],
  ] as const) {
    it(`sets up no more than ${what} needs`, () => {
      writeFileSync(join(folder.path, 'package-lock.json'), '{"lockfileVersion": 3, "packages": {}}');
      writeFileSync(join(folder.path, 'package.json'), '{"type": "module"}');
      const [model, ...options] = args;
      const { status, stderr } = start(model, ...options);
      expect(partsIn(stderr))
        .withContext(stderr)
        .toEqual([...parts]);
      expect(status).toBe(1);
    });
  }
});

describe('programs of models in a clone that is set up', () => {
  it('end when npm start is ended', async () => {
    const args = [join(ROOT, 'models', 'start.mjs'), 'wide_and_deep', '--backend', 'cpu', '--epochs', '10000'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    let stdout = '';
    child.stdout.on('data', (text: string) => (stdout += text));
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    // The pipe is closed when nobody can write to it any more.
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code).toBe(1);
    expect(stdout).toContain('rows to train on');
  });

  for (const model of ['wide_and_deep', 'synthetic']) {
    it(`answer options before anything is loaded: ${model}`, () => {
      const program = join(ROOT, 'models', model, 'main.ts');
      // Nothing may need the package itself.
      const stop =
        'data:text/javascript,import { register } from "node:module";' +
        'register("data:text/javascript,export async function resolve(name, context, next) {' +
        'if (/tfjs/.test(name)) throw new Error(name); return next(name, context); }");';
      const run = (...args: string[]): ReturnType<typeof spawnSync> =>
        spawnSync(process.execPath, [...WITH_DIST, '--import', stop, program, ...args], { encoding: 'utf8' });
      const [help, wrong, right] = [run('--help'), run('--batch', 'x'), run()];
      expect([help.status, help.stderr]).toEqual([0, '']);
      expect([wrong.status, wrong.stderr]).toEqual([
        2,
        `error: --batch must be a whole number from 1 to 1000000, not "x"\n`,
      ]);
      expect(right.status).toBe(1);
      expect(right.stderr).toMatch(/Error: (tfjs-embeddings|@tensorflow)/);
    });
  }
});
