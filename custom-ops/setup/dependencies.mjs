/** The part "dependencies": npm packages as package-lock.json wants them, without running install scripts. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gist, run } from './command.mjs';
import { build, isClone, packageFolder, root } from './places.mjs';
import { readStamp } from './stamp.mjs';
import { removeWhole } from './unfinished.mjs';

const PERIOD_MS = 3000;
/** There while npm works. */
const BEGUN = join(build, 'npm.begun');
/** What npm writes last. */
const INSTALLED = join(root, 'node_modules', '.package-lock.json');

/** Finds out whether node_modules agrees with the lock file; `make` brings them into agreement. */
export function findDependencies({ log }) {
  if (!isClone) {
    if (packageFolder('@tensorflow/tfjs') !== null) return { state: 'present', why: "in the project's node_modules" };
    return { state: 'missing', why: 'npm install @tensorflow/tfjs' };
  }
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = wasEndedEarly() ? null : (readStamp(INSTALLED)?.packages ?? null);
  const why = difference(wanted, installed);
  if (why === null) return { state: 'present', why: `${Object.keys(wanted).length - 1} packages as locked` };
  return { state: 'missing', why, make: () => install(wanted, installed === null, log) };
}

/** Whether an npm of an earlier set-up was killed, which may leave halves of packages that npm takes for whole. */
function wasEndedEarly() {
  const [begun, installed] = [BEGUN, INSTALLED].map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs);
  return begun !== undefined && (installed === undefined || installed <= begun);
}

/** Forgets an npm that outlived its set-up and came to its end. */
export function sweepDependencies() {
  if (!wasEndedEarly()) removeWhole(BEGUN);
}

/** Why installed packages are not the wanted ones, or null. Optional ones are for other platforms: they may lack. */
export function difference(wanted, installed, exists = (path) => existsSync(join(root, path))) {
  if (installed === null) return 'not installed';
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue;
    const there = installed[path];
    if (there === undefined || !exists(path)) {
      if (!entry.optional) return `${path} is not installed`;
    } else if (there.version !== entry.version || there.integrity !== entry.integrity) {
      return `${path} is ${there.version}, not ${entry.version}`;
    }
  }
  return null;
}

async function install(wanted, fromNothing, log) {
  const paths = Object.entries(wanted).flatMap(([path, entry]) => (path === '' || entry.optional ? [] : [path]));
  const timer = setInterval(() => {
    const count = paths.filter((path) => existsSync(join(root, path, 'package.json'))).length;
    log(`  ${count} of ${paths.length} packages`);
  }, PERIOD_MS);
  try {
    // `npm ci` starts by removing node_modules; where packages are there, `npm install` only changes what differs.
    if (fromNothing) await npm(['ci'], log).catch(() => npm(['install', '--no-save'], log));
    else await npm(['install', '--no-save'], log);
  } catch (error) {
    return { state: 'missing', why: gist(error) };
  } finally {
    clearInterval(timer);
  }
  return { state: 'built', why: `${paths.length} packages installed` };
}

async function npm(how, log) {
  log(`npm ${how.join(' ')}, install scripts disabled`);
  const [program, first, shell] = npmProgram();
  writeFileSync(BEGUN, '');
  let signal = null;
  try {
    await run(program, [...first, ...how, '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: root, shell });
  } catch (error) {
    log(error.output.trim());
    ({ signal } = error);
    throw error;
  } finally {
    // An npm that fails puts back what it took away; one that is killed does not.
    if (!signal) removeWhole(BEGUN);
  }
}

/** How to run npm: the very one that runs us, else the one on the path (on Windows a batch file, hence a shell). */
function npmProgram() {
  const own = process.env.npm_execpath;
  if (own !== undefined && basename(own) === 'npm-cli.js') return [process.execPath, [own], false];
  return ['npm', [], process.platform === 'win32'];
}
