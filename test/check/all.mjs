#!/usr/bin/env node
// @ts-check
/**
 * Every part of the check, or those that are named: `npm run check -- oxlint tsc`. A few run at a time, and each says what
 * it has to say when it ends. A part that passed and looks at nothing that changed since is not run, but where CI is set.
 * Exits with 1 where one fails.
 */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KEPT, PARTS } from './parts.mjs';
import { readStamp, writeStamp } from '../../custom-ops/setup/stamp.mjs';
import { Tree } from './tree.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PASSED = join(ROOT, KEPT, 'passed.json');
const isKept = !process.env['CI'];

/**
 * @param {string} name
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string>>} [env]
 * @returns {Promise<{ readonly passed: boolean, readonly seconds: number }>}
 */
function check(name, args, env) {
  const begun = Date.now();
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  /** @type {Buffer[]} */
  const said = [];
  child.stdout.on('data', (chunk) => said.push(chunk));
  child.stderr.on('data', (chunk) => said.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.stdout.write(Buffer.concat(said));
      if (code !== 0) console.log(`${name}: FAILED with ${signal ?? code}`);
      resolve({ passed: code === 0, seconds: (Date.now() - begun) / 1000 });
    });
  });
}

const begun = Date.now();
const named = process.argv.slice(2);
const stranger = named.find((name) => !Object.hasOwn(PARTS, name));
if (stranger !== undefined) {
  console.error(`There is no part named ${stranger}: ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}
const parts = Object.entries(PARTS).filter(([name]) => named.length === 0 || named.includes(name));
if (isKept) mkdirSync(join(ROOT, KEPT), { recursive: true });
const tree = new Tree(ROOT);
// Before they run: a file that changes meanwhile was perhaps not looked at.
const queue = parts.map(([name, part]) => ({ name, part, stamp: tree.stampOf(part) }));
const passed = /** @type {Record<string, string>} */ ((isKept ? readStamp(PASSED) : null) ?? {});
/** @type {Map<string, string>} */
const ends = new Map();
let failed = 0;

async function lane() {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { name, part, stamp } = next;
    if (passed[name] === stamp) {
      ends.set(name, 'unchanged');
      continue;
    }
    delete passed[name];
    const end = await check(name, part.args(ROOT, isKept), part.env);
    ends.set(name, `${end.passed ? 'passed' : 'FAILED'} ${end.seconds.toFixed(1)} s`);
    if (end.passed) passed[name] = stamp;
    else failed++;
    if (isKept) writeStamp(PASSED, passed);
  }
}
await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, lane));
console.log(parts.map(([name]) => `${name} ${ends.get(name)}`).join(', '));
console.log(`check: ${failed} of ${parts.length} failed, ${((Date.now() - begun) / 1000).toFixed(1)} s`);
if (failed > 0) process.exitCode = 1;
