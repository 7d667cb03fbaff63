/** The command `info`: versions, where things are, which parts are there. Changes nothing. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { goThroughParts } from './parts.mjs';
import { addon, packageFolder, root } from './places.mjs';
import { tableOf } from './table.mjs';

/** Prints what is there, for people or as JSON; resolves to the exit code. */
export async function info(args) {
  const unknown = args.find((arg) => arg !== '--json');
  if (unknown !== undefined) {
    process.stderr.write(`info: unknown argument ${unknown}\n`);
    return 2;
  }
  const facts = await gather();
  if (args.includes('--json')) process.stdout.write(`${JSON.stringify(facts)}\n`);
  else process.stdout.write(`${forPeople(facts)}\n`);
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
    ...addonInfo(),
    parts: Object.fromEntries(parts.map(({ name, state, why }) => [name, { state, why }])),
  };
}

/** What the addon says of this machine; null where there is no addon or it cannot be loaded here. */
function addonInfo() {
  try {
    const { instructionSet, getThreads } = createRequire(import.meta.url)(addon);
    return { instructionSet: instructionSet(), threads: getThreads() };
  } catch {
    return { instructionSet: null, threads: null };
  }
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
