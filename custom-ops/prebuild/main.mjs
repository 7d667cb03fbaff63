#!/usr/bin/env node
/** Compiles the addon for other platforms and makes their packages. */
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildNative } from '../build_native.mjs';
import { gist } from '../setup/command.mjs';
import { takeLock } from '../setup/lock.mjs';
import { build, nodeApiHeaders, root } from '../setup/places.mjs';
import { hashOf, readStamp, writeStamp } from '../setup/stamp.mjs';
import { tableOf } from '../setup/table.mjs';
import { unfinished } from '../setup/unfinished.mjs';
import { ADDON, pack, packageName, sharedFields, writePackage } from './package.mjs';
import { FLAGS, LINKS, TARGETS, TENSORFLOW_TARGETS, targetsNamed } from './targets.mjs';
import { buildTensorflowParts } from './tensorflow.mjs';
import { workshop, zig, zigEnvironment } from './zig.mjs';

const HELP = `Usage: npm run prebuild [-- --only NAME … --missing]

Compiles the native kernels for each platform with zig, which is fetched through pip, and packs them:
custom-ops/build/packages/tfjs-embeddings-NAME is a package's folder, beside it lies what npm packs of it.

  --only NAME    this platform alone; may be given again
  --missing      only what is not there, or was made of other sources

Names: ${TARGETS.map(({ name }) => name).join(', ')};
${TENSORFLOW_TARGETS.map(({ name }) => name).join(', ')}, which hold what setup takes for tfjs-node
`;

/** What a package is made of. */
const SOURCES = [
  ...['kernels', join('hosts', 'node'), join('hosts', 'shared'), 'build_native.mjs'],
  ...['targets.mjs', 'zig.mjs', 'package.mjs'].map((name) => join('prebuild', name)),
  join('..', 'docs', 'licenses.md'),
];
/** What those of TensorFlow's parts are made of besides. */
const TENSORFLOW_SOURCES = [
  join('hosts', 'tensorflow'),
  join('prebuild', 'tensorflow.mjs'),
  join('setup', 'tfjs_node.mjs'),
];

const packages = join(build, 'packages');
const stampOf = (target) => join(packages, `${packageName(target)}.json`);

function inputs({ withTensorFlow }) {
  const names = withTensorFlow ? [...SOURCES, ...TENSORFLOW_SOURCES] : SOURCES;
  return hashOf(JSON.stringify(sharedFields()), ...names.map((name) => ({ path: join(root, 'custom-ops', name) })));
}

function isThere(target) {
  return existsSync(join(packages, packageName(target))) && readStamp(stampOf(target))?.inputs === inputs(target);
}

/** Compiles and packs one target; returns a row for the table. */
async function prebuild(target, command, log) {
  const begun = Date.now();
  const scratch = unfinished(join(workshop, target.name));
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  Object.assign(process.env, zigEnvironment(join(scratch, 'cache')));
  try {
    const how = {
      cc: [command, 'cc', '-target', target.zig],
      cxx: null,
      napiInclude: nodeApiHeaders(),
      tensorflowInclude: null,
      out: join(scratch, ADDON),
      log,
      target,
      flags: FLAGS,
      links: [...LINKS, ...target.links],
    };
    const parts = target.withTensorFlow ? await buildTensorflowParts(how) : { addon: await buildNative(how) };
    rmSync(stampOf(target), { force: true }); // it never stands beside a package that is not its own
    const archive = await pack(writePackage(target, parts, packages), packages);
    writeStamp(stampOf(target), { inputs: inputs(target) });
    const sizes = [parts.addon, archive].map((path) => `${(statSync(path).size / 1e6).toFixed(2)} MB`);
    const seconds = ((Date.now() - begun) / 1000).toFixed(0);
    return { name: packageName(target), state: 'built', why: `${sizes[0]}, packed ${sizes[1]}, in ${seconds} s` };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function main(args) {
  const options = { only: { type: 'string', multiple: true }, missing: { type: 'boolean' }, help: { type: 'boolean' } };
  const { values } = parseArgs({ args, options });
  if (values.help === true) return void process.stdout.write(HELP);
  const targets = targetsNamed(values.only ?? []);
  const log = (text) => process.stderr.write(`prebuild: ${text}\n`);
  mkdirSync(packages, { recursive: true });
  const wanted = () => targets.filter((target) => values.missing !== true || !isThere(target));
  if (wanted().length === 0) return;
  const lock = await takeLock(join(build, 'prebuild.lock'), log);
  try {
    const command = await zig(log);
    const rows = [];
    for (const target of wanted()) {
      log(`compiling for ${target.name}`);
      rows.push(await prebuild(target, command, log));
    }
    if (rows.length > 0) process.stdout.write(`${tableOf(rows)}\n`);
  } finally {
    lock.release();
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`prebuild: ${gist(error)}\n`);
  process.exitCode = 1;
}
