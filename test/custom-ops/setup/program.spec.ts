/** Whole set-ups in a checkout of their own, which fail and are killed. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ScratchCheckout, endOf, statesIn } from './scratch_checkout.js';
import { setUpModule } from './set_up_module.js';
import { smallWheel, type LibraryNames } from './small_wheel.js';

describe('a set-up', () => {
  let checkout: ScratchCheckout;
  beforeEach(() => (checkout = ScratchCheckout.make({ built: true })));
  afterEach(() => checkout.remove());

  /** A program in the place of another. `body` is JavaScript; `args` are its arguments. */
  function program(name: string, body: string): string {
    const folder = checkout.path('programs');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{}'); // else they would be modules
    const path = join(folder, name);
    const head = "const { writeFileSync, appendFileSync } = require('node:fs');\nconst args = process.argv.slice(2);";
    writeFileSync(path, `#!${process.execPath}\n${head}\n${body}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  /** A Python whose pip downloads as `body` says. */
  const python = (body: string): string =>
    program('python', `if (args[1] !== 'pip' || args[2] === '--version') console.log('1'); else { ${body} }`);
  const IN_DEST = "const dest = args[args.indexOf('--dest') + 1];";

  function removeTensorflow(): void {
    for (const name of readdirSync(checkout.build)) {
      if (name.startsWith('tensorflow-')) rmSync(checkout.inBuild(name));
    }
  }

  /** What a program does that writes down its process id and then never ends. */
  const hangs = (): string =>
    `writeFileSync(${JSON.stringify(pidFile())}, String(process.pid)); setInterval(() => {}, 1e3);`;
  const pidFile = (): string => checkout.path('pid');
  /** The process id that the program wrote down; 0 until it has. */
  const programId = (): number => (existsSync(pidFile()) ? Number(readFileSync(pidFile(), 'utf8')) : 0);
  const endProgram = (): void => {
    // 0 would be this whole group of processes.
    expect(programId()).toBeGreaterThan(1);
    if (programId() > 1) process.kill(programId(), 'SIGKILL');
  };

  /** Kills a set-up once it runs a program that hangs. */
  async function killInProgram(env: NodeJS.ProcessEnv): Promise<void> {
    const child = checkout.start(env);
    const end = endOf(child);
    while (programId() === 0 && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(child.kill('SIGKILL')).toBeTrue();
    if (programId() > 0) return;
    fail((await end).stderr);
  }

  it('finds everything where a checkout was copied', async () => {
    const end = await checkout.setUp({ CI: 'true' });
    expect(end.code).withContext(end.stdout).toBe(0);
    expect(new Set(Object.values(statesIn(end)))).toEqual(new Set(['present']));
    expect(Object.keys(statesIn(end)).length).toBe(7);
    expect(checkout.leftovers()).toEqual([]);
  });

  it('removes what killed ones have left, also where there is nothing to make', async () => {
    const binding = join(checkout.tfjsNode, 'lib', readdirSync(join(checkout.tfjsNode, 'lib'))[0]!);
    const folders = ['download/pip', 'tensorflow-2.21.0.partial/lib', 'objects-77.partial'].map((name) =>
      checkout.inBuild(name),
    );
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    const files = [
      ...['download/tensorflow.whl', 'tensorflow-2.21.0.partial/lib/a.so', 'objects-77.partial/a.o'],
      ...['tfjs_embeddings.node.partial', 'tfjs_embeddings.node.json.partial', 'kernels.wasm.partial'],
    ].map((name) => checkout.inBuild(name));
    files.push(join(binding, 'tfjs_binding.node.partial'), join(checkout.tfjsNode, 'deps', 'lib', 'a.so.partial'));
    files.push(checkout.path('dist', '.stamp.json.partial'));
    files.push(checkout.path('src', 'backends', 'wasm', 'kernels_wasm.ts.partial'));
    for (const file of files) writeFileSync(file, '{');
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    writeFileSync(checkout.inBuild('setup.lock'), JSON.stringify({ pid }));
    writeFileSync(checkout.inBuild(`setup.lock.${pid}`), '');
    const earlier = (Date.now() - 60_000) / 1000;
    spawnSync('touch', ['-d', `@${earlier}`, checkout.inBuild('setup.lock')]);
    expect(checkout.leftovers().length).toBe(12);
    const end = await checkout.setUp();
    expect(end.code).withContext(end.stderr).toBe(0);
    expect(new Set(Object.values(statesIn(end)))).toEqual(new Set(['present']));
    expect(checkout.leftovers()).toEqual([]);
  });

  it('leaves nothing of a download that failed', async () => {
    removeTensorflow();
    const half = `${IN_DEST} writeFileSync(dest + '/half.whl', 'x'); writeFileSync(dest + '/pip/cache', 'x');`;
    const end = await checkout.setUp({
      PYTHON: python(`${half} console.error('ERROR: no network'); process.exit(1);`),
    });
    expect(statesIn(end)['TensorFlow']).toBe('missing');
    expect(end.stdout).toContain('ERROR: no network');
    expect(checkout.leftovers()).toEqual([]);
  });

  it('leaves nothing of a wheel that is none', async () => {
    removeTensorflow();
    const end = await checkout.setUp({ PYTHON: python(`${IN_DEST} writeFileSync(dest + '/whole.whl', 'x');`) });
    expect(end.stdout).toContain('not a zip file');
    expect(checkout.leftovers()).toEqual([]);
  });

  it('waits for the pip of one that was killed, and leaves nothing of its download', async () => {
    removeTensorflow();
    await killInProgram({ PYTHON: python(`${IN_DEST} writeFileSync(dest + '/half.whl', 'x'); ${hangs()}`) });
    expect(checkout.leftovers().sort()).toEqual(['download', 'setup.lock']);
    const next = checkout.start({ PYTHON: python("console.error('ERROR: no network'); process.exit(1);") });
    const end = endOf(next);
    let said = '';
    await new Promise<void>((resolve) =>
      next.stderr!.on('data', (text: string) => {
        said += text;
        if (said.includes('still runs: waiting for it')) resolve();
      }),
    );
    endProgram();
    expect((await end).code).toBe(0);
    expect(checkout.leftovers()).toEqual([]);
  });

  it('uses the wheel that a killed one has fetched, and leaves nothing of it', async () => {
    removeTensorflow();
    const { libraryNames } = await setUpModule<{ libraryNames(): LibraryNames }>('tensorflow.mjs');
    mkdirSync(checkout.inBuild('download'));
    writeFileSync(checkout.inBuild('download', 'tensorflow.whl'), smallWheel(libraryNames()));
    const noNetwork = python('process.exit(1);');
    const end = await checkout.setUp({ PYTHON: noNetwork, CXX: '/nowhere/c++', CC: '/nowhere/cc' });
    expect(statesIn(end)['TensorFlow']).toBe('built');
    expect(checkout.leftovers()).toEqual([]);
  });

  it('leaves nothing of a compilation that failed, and keeps what was there', async () => {
    appendFileSync(checkout.path('custom-ops', 'build_native.mjs'), '\n');
    const before = statSync(checkout.inBuild('tfjs_embeddings.node')).mtimeMs;
    const half =
      "if (args[0] === '--version') console.log('cc 1'); else { writeFileSync(args.at(-1), 'x'); process.exit(1); }";
    const compiler = program('cc', half);
    const end = await checkout.setUp({ CC: compiler });
    expect(statesIn(end)['addon']).toBe('missing');
    expect(statSync(checkout.inBuild('tfjs_embeddings.node')).mtimeMs).toBe(before);
    expect(checkout.leftovers()).toEqual([]);
  });

  it('starts npm anew where it was killed, and only there', async () => {
    const installed = checkout.path('node_modules', '.package-lock.json');
    const wanted = readFileSync(checkout.path('package-lock.json'), 'utf8');
    const calls = checkout.path('calls');
    const npm = (then: string): NodeJS.ProcessEnv => {
      const body = `appendFileSync(${JSON.stringify(calls)}, args[0] + '\\n'); ${then}`;
      return { npm_execpath: program('npm-cli.js', body) };
    };
    const finishes = `writeFileSync(${JSON.stringify(installed)}, ${JSON.stringify(wanted)});`;
    // Somewhere another version is installed.
    writeFileSync(installed, wanted.replace('"version": "4.22.0"', '"version": "4.21.0"'));
    await killInProgram(npm(hangs()));
    endProgram();
    expect(checkout.leftovers().sort()).toEqual(['npm.begun', 'setup.lock']);
    // npm says that all is there, but what it has of it are halves.
    writeFileSync(installed, wanted);
    const earlier = new Date(statSync(checkout.inBuild('npm.begun')).mtimeMs - 1000);
    utimesSync(installed, earlier, earlier);
    const end = await checkout.setUp(npm(finishes));
    expect(statesIn(end)['dependencies']).toBe('built');
    expect(readFileSync(calls, 'utf8')).toBe('install\nci\n');
    expect(checkout.leftovers()).toEqual([]);
    expect(statesIn(await checkout.setUp(npm(finishes)))['dependencies']).toBe('present');
  });

  it('says in one line where there can be no lock', async () => {
    if (process.platform === 'win32') return pending('needs a shell with limits');
    const { status, stderr } = spawnSync('bash', ['-c', `ulimit -f 0; exec node custom-ops/setup.mjs`], {
      cwd: checkout.root,
      encoding: 'utf8',
    });
    expect(stderr).toMatch(/^set-up: EFBIG: [^\n]*\n$/);
    expect(status).toBe(1);
    expect(checkout.leftovers()).toEqual([]);
  });
});
