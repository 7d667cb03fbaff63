// runner: python
/** README and docs: every block of code and every command runs as printed, in order; what cannot is listed with the reason, or marked so on a page that is. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { addonPath } from '../../src/backends/native/addon.js';
import { PYTHON_TIMEOUT_MS, pythonOfPages, type Python } from '../backends/tensorflow/python_tensorflow.js';
import { skipOrFail } from '../helpers/backends.js';
import { outcomeOf, ROOT, type Outcome } from '../helpers/project.js';

/** What does not run here, and why; README's programs also run in test/package/install.spec.ts, as a user installs them. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm start': 'sets up and trains for a minute: test/models/start.spec.ts runs it on less',
  'npm test': 'runs this',
  'npm install --ignore-scripts @tensorflow/tfjs @tensorflow/tfjs-node tfjs-embeddings': 'downloads',
  'npm install @tensorflow/tfjs tfjs-embeddings': 'downloads',
  'npm pack': 'test/package/clone_lines.spec.ts runs it',
  'npm install @tensorflow/tfjs ../tfjs-embeddings/tfjs-embeddings-0.1.0.tgz':
    'test/package/clone_lines.spec.ts runs it beside the archive',
  'npx tfjs-embeddings setup': 'downloads: test/custom-ops/setup/program.spec.ts runs it without a network',
  'npm start -- --export ./served/wide_and_deep/1': 'trains: test/models/wide_and_deep/export.spec.ts, on less',
  'docker run --rm -p 8501:8501 -v "$PWD/served/click:/models/click" -e MODEL_NAME=click tensorflow/serving':
    'needs Docker and an image',
  [`curl http://localhost:8501/v1/models/click:predict -d '{"inputs": {"user": [[1], [4]], "seen": [[5, 7], [3, -1]]}}'`]:
    'asks the server of the line above',
  'tensorflowjs_converter --input_format=tf_saved_model served/click/1 graph':
    'needs a package of Python: test/formats/saved_model/tools.spec.ts runs the converter',
  'npx tfjs-embeddings server --task ps:0 --listen 10.0.0.1:2222 --memory 128000000000 --network-is-private':
    'serves until it is ended',
  'npx tfjs-embeddings server --check 10.0.0.1:2222': 'asks the server of the line above',
  'npx tfjs-embeddings info --bundle | zip -q function.zip -@ handler.mjs -r click': 'zip need not be there',
  'npx tfjs-embeddings setup --tensorflow ./tensorflow_cpu-2.21.0-cp311-cp311-manylinux_2_27_x86_64.whl':
    'unpacks a wheel that is not here: test/prebuild runs it with a folder',
  'npx tfjs-embeddings setup --compile': 'compiles',
  'npm install --os=linux --cpu=arm64 @tensorflow/tfjs tfjs-embeddings': 'the package is not published here',
  'npm run wheel': 'test/custom-ops/python/wheel.spec.ts runs it, and installs what it builds',
  'pip install custom-ops/build/python/*.whl tensorflow==2.21.*': 'downloads',
  'pip install tensorboard': 'downloads',
  'tensorboard --logdir logs': 'serves until it is ended: test/callbacks reads the files by its readers',
};

/** Pages with blocks that are marked `not run`, and why these are not. */
const PARTLY_RUN: Readonly<Record<string, string>> = {
  'docs/cluster.md': 'programs for servers, and a file for containers',
  'docs/neighbours.md': 'another library: test/ranking/ann/usearch.spec.ts runs it',
};

/** What commands print that run. */
const PRINTED: Readonly<Record<string, RegExp>> = {
  'npx tfjs-embeddings info --json': /"version"/,
  'npx tfjs-embeddings info --bundle': /kernels\.wasm/,
  'saved_model_cli show --dir served/click/1 --all': /inputs\['seen'\]/,
  "saved_model_cli run --dir served/click/1 --tag_set serve --signature_def serving_default --input_exprs 'user=[[1]];seen=[[5, -1]]'":
    /\[\[0\.\d+/,
};

/** Languages of blocks that are no programs of their own: the markup of a page (test/browser/bundle.spec.ts) and drawings. */
const NO_PROGRAMS = ['html', ''];

interface Block {
  readonly language: string;
  readonly code: string;
  /** It stands behind the language that it is not. */
  readonly isRun: boolean;
}

const MODELS = readdirSync(join(ROOT, 'models'), { withFileTypes: true }).filter((each) => each.isDirectory());
const FOLDERS = ['.', 'docs', ...MODELS.map(({ name }) => join('models', name))];
const PAGES = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')
    .map((name) => relative(ROOT, join(ROOT, folder, name))),
);

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^```(\w*)( not run)?\n(.*?)^```$/gms)].map(([, language, mark, code]) => ({
    language: language!,
    code: code!,
    isRun: mark === undefined,
  }));
}

/** The commands of a block, without comments, each on one line. */
function commandsOf({ code }: Block): string[] {
  const lines = code.replace(/\\\n\s*/g, '').split('\n');
  return lines.map((line) => line.replace(/ {2,}#.*$/, '').trim()).filter((line) => line !== '');
}

function run(program: string, args: readonly string[], folder: string, env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  return outcomeOf(spawn(program, args, { cwd: folder, env: { ...process.env, ...env } }));
}

/** Commands as a user has them: ours where npm links it, TensorFlow's as pip writes it. */
function linkCommands(folder: string): void {
  const bin = join(folder, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync(ROOT, join(folder, 'node_modules', 'tfjs-embeddings'), 'dir');
  symlinkSync(join(ROOT, 'custom-ops', 'cli.mjs'), join(bin, 'tfjs-embeddings'));
  const code = 'from tensorflow.python.tools.saved_model_cli import main; main()';
  writeFileSync(join(bin, 'saved_model_cli'), `#!/bin/sh\nexec python3 -c '${code}' "$@"\n`);
  chmodSync(join(bin, 'saved_model_cli'), 0o755);
  chmodSync(join(ROOT, 'custom-ops', 'cli.mjs'), 0o755);
}

describe('the pages of the project', () => {
  // Within the project, whose packages and own name are found from here.
  const CACHE = join(ROOT, 'test', '.cache');
  let python: Python | string;
  const folders: string[] = [];

  beforeAll(() => {
    python = pythonOfPages(addonPath());
  }, PYTHON_TIMEOUT_MS);

  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  it('hold programs, commands, markup and drawings, and all commands are known here', () => {
    const blocks = PAGES.flatMap(blocksOf);
    const languages = new Set(blocks.filter(({ isRun }) => isRun).map(({ language }) => language));
    expect([...languages].sort()).toEqual(['js', 'sh', 'python', ...NO_PROGRAMS].sort());
    const commands = blocks.filter(({ language }) => language === 'sh').flatMap(commandsOf);
    const known = new Set([...Object.keys(NOT_RUN), ...Object.keys(PRINTED)]);
    expect(new Set(commands)).toEqual(known);
  });

  it('hold blocks that are not run on known pages only, which say so', () => {
    const marked = PAGES.filter((page) => blocksOf(page).some(({ isRun }) => !isRun));
    expect(marked).toEqual(Object.keys(PARTLY_RUN));
    for (const page of marked) expect(readFileSync(join(ROOT, page), 'utf8')).toContain('marked `not run`');
  });

  for (const page of PAGES.filter((each) => blocksOf(each).some(({ language }) => !NO_PROGRAMS.includes(language)))) {
    it(
      `run as printed, block after block: ${page}`,
      async () => {
        if (typeof python === 'string') return skipOrFail(python);
        mkdirSync(CACHE, { recursive: true });
        const folder = mkdtempSync(join(CACHE, 'page-'));
        folders.push(folder);
        linkCommands(folder);
        const blocks = blocksOf(page).filter(({ isRun }) => isRun);
        const of = (wanted: string): Block[] => blocks.filter(({ language }) => language === wanted);
        // What commands and Python read is written by the programs before them.
        writeFileSync(
          join(folder, 'page.mjs'),
          of('js')
            .map(({ code }) => code)
            .join('\n'),
        );
        const program = await run(process.execPath, ['page.mjs'], folder);
        expect(program.code).withContext(`${program.output}\n${program.errors}`).toBe(0);
        const usesTfjsNode = of('js').some(({ code }) => code.includes("from '@tensorflow/tfjs-node'"));
        if (usesTfjsNode) expect(program.output + program.errors).not.toContain('install our node backend');
        const path = [join(folder, 'node_modules', '.bin'), dirname(process.execPath), process.env['PATH']];
        const env = { ...python.env, PATH: path.join(delimiter), npm_config_offline: 'true' };
        const script = run(
          'python3',
          [
            '-c',
            of('python')
              .map(({ code }) => code)
              .join('\n'),
          ],
          folder,
          env,
        );
        const commands = of('sh')
          .flatMap(commandsOf)
          .filter((command) => command in PRINTED);
        for (const command of commands) {
          const { code, output, errors } = await run('sh', ['-c', command], folder, env);
          expect(code).withContext(`${command}\n${output}\n${errors}`).toBe(0);
          expect(output).withContext(command).toMatch(PRINTED[command]!);
        }
        const { code, errors } = await script;
        expect(code).withContext(errors).toBe(0);
      },
      PYTHON_TIMEOUT_MS,
    );
  }
});
