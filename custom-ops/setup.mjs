#!/usr/bin/env node
/** Makes everything that a clone or an installed package needs. Uses built-in modules of Node only. */
import { setup } from './setup/program.mjs';

process.exitCode = await setup(process.argv.slice(2));
