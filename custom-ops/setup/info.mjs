/** The command `info`: versions, where things are, which parts are there, which files to ship. Changes nothing. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { filesToShip } from '../bundle/files_to_ship.mjs';
import { goThroughParts } from './parts.mjs';
import { addon, packageFolder, root } from './places.mjs';
import { addonsHere } from '../prebuild/addons_here.mjs';
import { tableOf } from './table.mjs';

const HELP = `Usage: tfjs-embeddings info [--json] [--bundle]

Versions, where the op library is, which parts are there and why.

  --json         the same for programs
  --bundle       the files that training, saving and loading on \`cpu\` need here, one a line, from the current folder
`;

/** Prints what is there, for people or as JSON; resolves to the exit code. */
export async function info(args) {
  const unknown = args.find((arg) => !['--json', '--bundle', '--help', '-h'].includes(arg));
  if (unknown !== undefined) {
    process.stderr.write(`info: unknown argument ${unknown}\n\n${HELP}`);
    return 2;
  }
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(HELP);
    return 0;
  }
  const isJson = args.includes('--json');
  if (args.includes('--bundle')) return bundle(isJson);
  const facts = await gather();
  if (isJson) process.stdout.write(`${JSON.stringify(facts)}\n`);
  else process.stdout.write(`${forPeople(facts)}\n`);
  return 0;
}

/** The list goes to standard output alone, so that `zip -@` and `tar -T -` take it. */
async function bundle(isJson) {
  let found;
  try {
    found = await filesToShip();
  } catch (error) {
    process.stderr.write(`info: ${error.message}\n`);
    return 1;
  }
  const { files, bytes, implementation } = found;
  if (isJson) process.stdout.write(`${JSON.stringify(found)}\n`);
  else process.stdout.write(`${files.map(({ path }) => path).join('\n')}\n`);
  process.stderr.write(`${files.length} files, ${(bytes / 1e6).toFixed(1)} MB, ${implementation} kernels\n`);
  return 0;
}

async function gather() {
  const parts = await goThroughParts({ log: () => {}, make: false });
  return {
    version: versionIn(root),
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    tfjs: versionOf('@tensorflow/tfjs'),
    tfjsNode: versionOf('@tensorflow/tfjs-node'),
    opLibraryPath: existsSync(addon) ? addon : null,
    ...(await addonInfo()),
    parts: Object.fromEntries(parts.map(({ name, state, why }) => [name, { state, why }])),
  };
}

/** Which addon runs and what it says of this machine, or why none does: as `backendInfo()` tells it. */
async function addonInfo() {
  const { found, faults, lacking } = await addonsHere();
  const reasons = [...faults];
  for (const { path, source } of found) {
    try {
      const { instructionSet, getThreads } = createRequire(import.meta.url)(path);
      return { addon: source, instructionSet: instructionSet(), threads: getThreads() };
    } catch (error) {
      reasons.push(`${path} cannot be loaded: ${error.message}`);
    }
  }
  const why = reasons.length > 0 ? reasons.join('; ') : lacking;
  return { addon: `WebAssembly: ${why}`, instructionSet: null, threads: null };
}

function versionOf(name) {
  const folder = packageFolder(name);
  return folder === null ? null : versionIn(folder);
}

function versionIn(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
}

function forPeople({ parts, ...facts }) {
  const lines = Object.entries(facts).map(([key, value]) => `${key.padEnd(14)}  ${value ?? 'none'}`);
  const rows = Object.entries(parts).map(([name, { state, why }]) => ({ name, state, why }));
  return `${lines.join('\n')}\n\n${tableOf(rows)}`;
}
