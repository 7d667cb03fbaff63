#!/usr/bin/env node
/** The command `tfjs-embeddings`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from './inspect.mjs';
import { server } from './server/server.mjs';
import { info } from './setup/info.mjs';
import { root } from './setup/places.mjs';
import { setup } from './setup/program.mjs';

const HELP = `Usage: tfjs-embeddings <command>

  setup           makes what native speed needs (setup --help)
  info            versions, where the op library is, which parts are there, which files to ship (info --help)
  inspect         what a file of a model or of weights holds, and whether it loads (inspect --help)
  server          a parameter server for tables, and whether one lives (server --help)
  --version       the version of this package
`;

const [command, ...args] = process.argv.slice(2);
if (command === 'setup') process.exitCode = await setup(args);
else if (command === 'info') process.exitCode = await info(args);
else if (command === 'inspect') process.exitCode = await inspect(args);
else if (command === 'server') process.exitCode = await server(args);
else if (command === '--version' || command === '-v') {
  process.stdout.write(`${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version}\n`);
} else {
  const asked = command === '--help' || command === '-h' || command === 'help';
  (asked ? process.stdout : process.stderr).write(
    command === undefined || asked ? HELP : `unknown: ${command}\n\n${HELP}`,
  );
  process.exitCode = asked ? 0 : 2;
}
