#!/usr/bin/env node
/** Compiles the addon for other platforms and makes their packages. */
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildNative } from '../build_native.mjs';
import { build, nodeApiHeaders } from '../setup/places.mjs';
import { tableOf } from '../setup/table.mjs';
import { unfinished } from '../setup/unfinished.mjs';
import { ADDON, pack, packageName, writePackage } from './package.mjs';
import { FLAGS, LINKS, TARGETS, targetsNamed } from './targets.mjs';
import { zig, zigEnvironment } from './zig.mjs';

const HELP = `Usage: npm run prebuild [-- --only NAME …]

Compiles the native kernels for each platform with zig, which is fetched through pip, and packs them:
custom-ops/build/packages/tfjs-embeddings-NAME is a package's folder, beside it lies what npm packs of it.

  --only NAME    this platform alone; may be given again

Names: ${TARGETS.map(({ name }) => name).join(', ')}
`;

/** Compiles and packs one target; returns a row for the table. */
async function prebuild(target, command, packages, log) {
  const begun = Date.now();
  const scratch = unfinished(join(build, `prebuild-${target.name}`));
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  Object.assign(process.env, zigEnvironment(join(scratch, 'cache')));
  try {
    const addon = await buildNative({
      cc: [command, 'cc', '-target', target.zig],
      cxx: null,
      napiInclude: nodeApiHeaders(),
      tensorflowInclude: null,
      out: join(scratch, ADDON),
      log,
      target,
      flags: FLAGS,
      links: [...LINKS, ...target.links],
    });
    const archive = await pack(writePackage(target, addon, packages), packages);
    const sizes = [addon, archive].map((path) => `${(statSync(path).size / 1e6).toFixed(2)} MB`);
    const seconds = ((Date.now() - begun) / 1000).toFixed(0);
    return { name: packageName(target), state: 'built', why: `${sizes[0]}, packed ${sizes[1]}, in ${seconds} s` };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function main(args) {
  const { values } = parseArgs({
    args,
    options: { only: { type: 'string', multiple: true }, help: { type: 'boolean' } },
  });
  if (values.help === true) return void process.stdout.write(HELP);
  const targets = targetsNamed(values.only ?? []);
  const log = (text) => process.stderr.write(`prebuild: ${text}\n`);
  const command = await zig(log);
  const packages = join(build, 'packages');
  mkdirSync(packages, { recursive: true });
  const rows = [];
  for (const target of targets) {
    log(`compiling for ${target.name}`);
    rows.push(await prebuild(target, command, packages, log));
  }
  process.stdout.write(`${tableOf(rows)}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`prebuild: ${error.message}\n`);
  process.exitCode = 1;
}
