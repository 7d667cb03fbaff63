/**
 * Runs the specs: `npm test`, or `npm test -- lookup/ "names the position"` for the spec files or specs that hold a text.
 * `npm run test:long` (--long) leaves nothing out: test/forms/long_form.json names what `npm test` does without.
 * `npm test -- --changed [REVISION]` runs what is nearest to a change (of the working tree, else the last commit), for a minute.
 * Files are run in several processes, the longest first, and a few in this one; specs of a file in the order written. What
 * specs draw at random is the same in every run: TFJS_EMBEDDINGS_TEST_SEED gives other draws. Prints one line per file,
 * then failures in full, the slowest files, and the count.
 *
 * TFJS_DIR: a folder with another build of TensorFlow.js, which all processes use in place of the installed one.
 * TFJS_EMBEDDINGS_TEST_PROCESSES: how many processes, else one more than there are cores, as some specs wait.
 * TFJS_EMBEDDINGS_TEST_RECORD=1 writes down how long files took, which is the order of later runs.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { platformHere } from '../src/backends/native/prebuilt_addon.js';
import { changedFiles, isRevision, specsFor } from './changes/changed_specs.js';
import { ImportGraph } from './changes/import_graph.js';
import { PassedSpecs } from './changes/passed_specs.js';
import { LONG_FORM, inForm, oneIn, takeForm } from './forms/forms.js';
import { WITH_SOURCES } from './helpers/programs.js';
import { FileRunner } from './runner/file_runner.js';
import { runInPool } from './runner/pool.js';
import {
  ROOT,
  choose,
  longestFirst,
  needsOf,
  recordSeconds,
  recordedSeconds,
  specFiles,
  type Need,
  type SpecFile,
} from './runner/spec_files.js';
import { SpecReporter } from './runner/spec_reporter.js';
import { tfjsFolder } from './runner/tfjs_dir.mjs';

/** So few are run in this process, unless they have servers: another one has to load the package first, too. */
const FEW = 8;
/** Nothing is left out. */
const LONG = '--long';
/** What is near to a change. */
const CHANGED = '--changed';
/** Of spec files, by what they took when that was recorded; the package has to be loaded too. */
const CHANGED_SECONDS = 35;
/** Specs that start programs with what is built in `dist`; two helpers that many import say how. */
const USES_BUNDLES = /\bWITH_DIST\b|\bnew Project\(|'dist\b|'[./]*\/dist\//;
/** Tells a process that it was started with the packages of this folder. */
const USED = 'TFJS_EMBEDDINGS_TFJS_DIR';
/** Silence of a process until the file that it runs counts as hung; specs that wait have their own limits. */
const SILENCE_MS = 1_200_000;

const programAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const INSTALL_PYTHON = [...WITH_SOURCES, programAt('backends/tensorflow/install_python.ts')];
const MAKE_PACKAGES = [programAt('../custom-ops/prebuild/main.mjs'), '--missing'];
const OF_THIS_PLATFORM = ['--only', platformHere()];

/** Runs a program beside the first specs. Those that need what it makes say why where it cannot be had. */
function started(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  // Specs have limits of time, this has none.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  process.once('exit', () => child.kill());
  return new Promise((resolve, reject) => child.on('close', () => resolve()).on('error', reject));
}

/** Starts this program anew with the packages of TFJS_DIR; what it starts inherits them. */
function runWith(folder: string): Promise<number> {
  const preload = new URL('runner/tfjs_dir.mjs', import.meta.url).href;
  const NODE_OPTIONS = `${process.env['NODE_OPTIONS'] ?? ''} --import=${preload}`;
  const { version } = JSON.parse(readFileSync(join(folder, '@tensorflow', 'tfjs', 'package.json'), 'utf8')) as {
    version: string;
  };
  console.log(`TensorFlow.js ${version} of ${folder}`);
  const args = [...process.execArgv, ...process.argv.slice(1)];
  const child = spawn(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, NODE_OPTIONS, [USED]: folder },
  });
  return new Promise((resolve, reject) => child.on('close', (code) => resolve(code ?? 1)).on('error', reject));
}

interface Picked {
  /** null: all that there are. */
  readonly files: readonly SpecFile[] | null;
  /** How many are not run because they passed already. */
  readonly unchanged: number;
}

const WHOLE: Picked = { files: null, unchanged: 0 };

/** Spec files for what changed since a revision, and for it alone; says for which, and what is left out. */
function pickChanged(revision: string | null, graph: ImportGraph, passed: PassedSpecs | null): Picked {
  const { since, files } = changedFiles(ROOT, revision);
  const { files: shortForm } = inForm(specFiles(), true);
  const ofBundles = graph.importersOfText(USES_BUNDLES, /^(test\/(?!helpers\/pro)|tools\/)/);
  const own = shortForm.filter(({ name }) => !ofBundles.has(name));
  const unchanged = new Set(own.filter(({ name }) => passed?.isUnchanged(name)));
  // Not more than half of the cores' time: programs that specs start take theirs too.
  const seconds = (CHANGED_SECONDS * availableParallelism()) / 2;
  const rest = own.filter((spec) => !unchanged.has(spec));
  const picked = specsFor(files, rest, graph, recordedSeconds(), seconds, oneIn);
  console.log(`${files.length} files changed since ${since}: ${someOf(files)}`);
  if (unchanged.size > 0) {
    console.log(
      `${unchanged.size} spec files unchanged since they passed: ${someOf([...unchanged].map(({ name }) => name))}`,
    );
  }
  const left = picked.leftOut.length;
  console.log(
    `${picked.files.length} spec files run, ${left} more have to do with it and are left out, as are those of bundles`,
  );
  return { files: picked.files, unchanged: unchanged.size };
}

const someOf = (names: readonly string[]): string => `${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''}`;

async function main(args: readonly string[]): Promise<number> {
  const isLong = args.includes(LONG);
  takeForm(isLong);
  const words = args.filter((arg) => arg !== LONG);
  const isChanged = words[0] === CHANGED;
  const revision = isChanged && words[1] !== undefined && isRevision(ROOT, words[1]) ? words[1] : null;
  const patterns = words.slice((isChanged ? 1 : 0) + (revision === null ? 0 : 1));
  const folder = tfjsFolder();
  if (folder !== null && process.env[USED] !== folder) return runWith(folder);
  const graph = isChanged ? ImportGraph.of(ROOT) : null;
  // In CI nothing is left out for what a run before it found, nor is anything kept; nor with a build that may change.
  const passed = graph !== null && folder === null && !process.env['CI'] ? new PassedSpecs(ROOT, graph) : null;
  const { files: changed, unchanged } = graph === null ? WHOLE : pickChanged(revision, graph, passed);
  if (changed?.length === 0 && unchanged > 0) return 0;
  const reporter = new SpecReporter((text) => process.stdout.write(text));
  const { files: chosen, texts } = choose(changed ?? specFiles(), patterns);
  // What was asked for by name is run whole.
  const isShort = !isLong && patterns.length === 0;
  const { files, leftOut } = inForm(chosen, isShort && changed === null);
  const stamps = new Map(texts.length > 0 ? [] : files.map(({ name }) => [name, passed?.stampOf(name) ?? '']));
  const processes = Number(process.env['TFJS_EMBEDDINGS_TEST_PROCESSES'] ?? availableParallelism() + 1);
  if (files.length <= FEW && !files.some((each) => needsOf(each).has('servers'))) {
    let file = '';
    const runner = new FileRunner({ texts, isShort }, (message) => reporter.hear(file, message));
    for (const each of files) {
      file = each.name;
      reporter.hear(file, { kind: 'taken' });
      await runner.run(each);
    }
    passed?.record(stamps, reporter.passed);
    return reporter.end();
  }
  const isNeeded = (need: Need): boolean => files.some((file) => needsOf(file).has(need));
  await runInPool({
    files: longestFirst(files, recordedSeconds()),
    texts,
    isShort,
    processes,
    silence: SILENCE_MS,
    waits: {
      ...(isNeeded('python') && { python: started(INSTALL_PYTHON) }),
      ...(isNeeded('packages') && { packages: started([...MAKE_PACKAGES, ...(isShort ? OF_THIS_PLATFORM : [])]) }),
    },
    hear: ({ name }, message) => reporter.hear(name, message),
  });
  if (leftOut > 0) {
    const draws = Object.keys(LONG_FORM.draws).length;
    console.log(`npm run test:long runs ${leftOut} spec files more, and more cases of ${draws} kinds`);
  }
  passed?.record(stamps, reporter.passed);
  const code = reporter.end();
  if (process.env['TFJS_EMBEDDINGS_TEST_RECORD'] === '1') recordSeconds(reporter.seconds);
  return code;
}

const code = await main(process.argv.slice(2));
// Written out before exit: a pipe may still hold the last lines.
process.stdout.write('', () => process.exit(code));
