#!/usr/bin/env node
// @ts-check
/** Every check, a few at a time; each says what it has to say when it ends. Exits with 1 where one fails. */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const module = (/** @type {string} */ path) => join(ROOT, 'node_modules', path);

/** The longest first. */
const CHECKS = {
  eslint: [module('eslint/bin/eslint.js'), '--cache', '--cache-location', 'node_modules/.cache/eslint', '.'],
  prettier: [module('prettier/bin/prettier.cjs'), '--check', '--cache', '.'],
  'API docs': ['test/check/api_docs.mjs'],
  tsc: [module('typescript/bin/tsc'), '--noEmit'],
  'declared types': ['test/check/api.mjs'],
  imports: ['test/check/imports.mjs'],
  words: ['test/check/words.mjs'],
};

/**
 * @param {string} name
 * @param {readonly string[]} args
 * @returns {Promise<boolean>} whether it passed
 */
function check(name, args) {
  const begun = Date.now();
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  /** @type {Buffer[]} */
  const said = [];
  child.stdout.on('data', (chunk) => said.push(chunk));
  child.stderr.on('data', (chunk) => said.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.stdout.write(Buffer.concat(said));
      const how = code === 0 ? 'passed' : `FAILED with ${signal ?? code}`;
      console.log(`${name}: ${how} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
      resolve(code === 0);
    });
  });
}

const queue = Object.entries(CHECKS);
let failed = 0;
async function lane() {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) if (!(await check(...next))) failed++;
}
await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, lane));
if (failed > 0) process.exitCode = 1;
