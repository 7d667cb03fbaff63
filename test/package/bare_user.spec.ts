// runner: packages
/** People who have Node and nothing else: no compiler, no Python, no files of their own. Each package manager installs. */
import { spawn, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack, writePackage } from '../../custom-ops/prebuild/package.mjs';
import { TARGETS, TENSORFLOW_TARGETS } from '../../custom-ops/prebuild/targets.mjs';
import { platformHere } from '../../src/backends/native/prebuilt_addon.js';
import { outcomeOf, ROOT, runIn, type Outcome } from '../helpers/project.js';
import { archiveOf, prebuilt, timeToPrebuild } from '../prebuild/packages.js';
import { readmeModel, withoutTfjsNode } from './page_programs.js';
import { Registry } from './registry.js';

const TFJS = '@tensorflow/tfjs@4.22.0';
const HERE = platformHere();
/** What says how this machine reaches registries. */
const NETWORK = /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|npm_config_cafile|npm_config_cache|https?_proxy|no_proxy)$/i;
const MINUTES = 60_000;

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

function said(program: string, ...args: string[]): string {
  return spawnSync(program, args, { encoding: 'utf8' }).stdout.trim();
}

/** A home of its own, and a PATH with Node, its npm and a shell. */
class BareUser {
  readonly home = mkdtempSync(join(tmpdir(), 'bare user '));
  private readonly npm = realpathSync(said('which', 'npm'));
  private readonly env: NodeJS.ProcessEnv;

  constructor(private readonly registry: string) {
    const bin = join(this.home, 'bin');
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, 'node'));
    for (const program of ['sh', 'env']) symlinkSync(realpathSync(said('which', program)), join(bin, program));
    this.env = {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => NETWORK.test(name))),
      // Else each test would fetch tfjs again.
      npm_config_cache: said('npm', 'config', 'get', 'cache'),
      HOME: this.home,
      PATH: bin,
    };
  }

  /** An empty project; returns its folder. */
  project(name: string): string {
    const folder = join(this.home, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', private: true }));
    return folder;
  }

  run(folder: string, ...args: string[]): Promise<Outcome> {
    return outcomeOf(spawn(join(this.home, 'bin', 'node'), args, { cwd: folder, env: this.env }));
  }

  async runWell(folder: string, ...args: string[]): Promise<Outcome> {
    const outcome = await this.run(folder, ...args);
    if (outcome.code !== 0) throw new Error(`${args.join(' ')}: ${outcome.output}${outcome.errors}`);
    return outcome;
  }

  /** Runs npm with the registry of this machine. */
  npmRun(folder: string, ...args: string[]): Promise<Outcome> {
    return this.runWell(folder, this.npm, ...args, '--registry', this.registry, '--no-audit', '--no-fund');
  }
}

describe('a user who has Node alone', () => {
  let registry: Registry;
  let user: BareUser;

  beforeAll(async () => {
    const [own] = await prebuilt(HERE);
    const archives = mkdtempSync(join(tmpdir(), 'archives-'));
    const packed = await runIn(ROOT, 'npm', 'pack', '--ignore-scripts', '--silent', '--pack-destination', archives);
    // Packages of other platforms stand in lock files, and what they hold is never loaded here.
    const others = [...TARGETS, ...TENSORFLOW_TARGETS].filter(({ name }) => name !== HERE);
    const parts = { addon: own!.addon, binding: own!.addon, tfjsNode: '4.22.0', tensorflow: '2.21.0' };
    const ofOthers = others.map((target) => pack(writePackage(target, parts, archives), archives));
    registry = await Registry.start([
      ...[join(archives, packed.output.trim()), archiveOf(own!, version)],
      ...(await Promise.all(ofOthers)),
    ]);
    rmSync(archives, { recursive: true });
    user = new BareUser(registry.url);
  }, timeToPrebuild(1));

  afterAll(async () => {
    rmSync(user.home, { recursive: true, force: true });
    await registry.stop();
  });

  /** Runs the README's model on `cpu`; returns which addon and which kernels did it, and what was said of it. */
  async function trained(folder: string): Promise<[addon: string, implementation: string, errors: string]> {
    const told = `const { addon, kernels } = emb.backendInfo();
      console.log('\\n' + JSON.stringify([addon, kernels.EmbeddingBag.implementation]));`;
    writeFileSync(join(folder, 'model.mjs'), `${withoutTfjsNode(readmeModel())}\n${told}`);
    const { output, errors } = await user.runWell(folder, 'model.mjs');
    // Four visits, so four predictions.
    expect(output).toMatch(/Tensor\s+\[(\[\d[^\]]*\],?\s*){4}\]/);
    const [addon, implementation] = JSON.parse(output.trimEnd().split('\n').at(-1)!) as [string, string];
    return [addon, implementation, errors];
  }

  const NATIVE = [`prebuilt ${HERE}`, 'native'] as const;
  const cli = (folder: string): string => join(folder, 'node_modules', 'tfjs-embeddings', 'custom-ops', 'cli.mjs');

  it(
    'trains natively after npm install, and set-up asks for no compiler',
    async () => {
      const folder = user.project('by-npm');
      await user.npmRun(folder, 'install', TFJS, 'tfjs-embeddings');
      const ours = readdirSync(join(folder, 'node_modules')).filter((name) => name.startsWith('tfjs-embeddings'));
      const forTensorFlow = TENSORFLOW_TARGETS.filter(({ name }) => name === `tensorflow-${HERE}`);
      const fitting = [HERE, ...forTensorFlow.map(({ name }) => name)].map((name) => `tfjs-embeddings-${name}`);
      expect(ours).toEqual(['tfjs-embeddings', ...fitting]);
      expect((await trained(folder)).slice(0, 2)).toEqual([...NATIVE]);
      const info = await user.runWell(folder, cli(folder), 'info', '--json');
      expect(JSON.parse(info.output)).toEqual(jasmine.objectContaining({ addon: NATIVE[0], opLibraryPath: null }));
      const setup = await user.runWell(folder, cli(folder), 'setup');
      expect(setup.output).toMatch(new RegExp(`^addon +present +prebuilt ${HERE}$`, 'm'));
      expect((await trained(folder)).slice(0, 2)).toEqual([...NATIVE]);
    },
    5 * MINUTES,
  );

  it(
    'trains in WebAssembly without optional packages, and is told why',
    async () => {
      const folder = user.project('without-optional');
      await user.npmRun(folder, 'install', '--omit=optional', TFJS, 'tfjs-embeddings');
      const [addon, implementation] = await trained(folder);
      expect(implementation).toBe('wasm');
      const why = `tfjs-embeddings-${HERE} is not installed`;
      expect(addon).toMatch(new RegExp(`^WebAssembly: ${why}`));
      const info = await user.runWell(folder, cli(folder), 'info');
      expect(info.output).toMatch(new RegExp(`^addon +WebAssembly: ${why}`, 'm'));
    },
    5 * MINUTES,
  );

  it(
    'trains natively by a lock file that was made on another platform',
    async () => {
      const folder = user.project('locked-elsewhere');
      const there = ['--os=darwin', '--cpu=arm64', '--package-lock-only'];
      await user.npmRun(folder, 'install', ...there, TFJS, 'tfjs-embeddings');
      await user.npmRun(folder, 'ci');
      expect((await trained(folder)).slice(0, 2)).toEqual([...NATIVE]);
    },
    5 * MINUTES,
  );

  for (const [manager, release, program, args] of [
    ['pnpm', 9, 'pnpm/bin/pnpm.cjs', ['add', '--ignore-scripts', '--store-dir', 'store']],
    ['yarn', 1, 'yarn/bin/yarn.js', ['add', '--ignore-scripts', '--non-interactive', '--cache-folder', 'cache']],
  ] as const) {
    it(
      `trains natively after ${manager} add`,
      async () => {
        const tools = user.project(`tools-${manager}`);
        await user.npmRun(tools, 'install', `${manager}@${release}`);
        const folder = user.project(`by-${manager}`);
        writeFileSync(join(folder, '.npmrc'), `registry=${registry.url}\n`);
        writeFileSync(join(folder, '.yarnrc'), `registry "${registry.url}"\n`);
        await user.runWell(folder, join(tools, 'node_modules', program), ...args, TFJS, 'tfjs-embeddings');
        expect((await trained(folder)).slice(0, 2)).toEqual([...NATIVE]);
      },
      8 * MINUTES,
    );
  }
});
