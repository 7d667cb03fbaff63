// @ts-check
/** Runs a program in TypeScript of this clone, in a process of its own. */
import { spawn } from 'node:child_process';

const REGISTER = new URL('register.mjs', import.meta.url).href;

/**
 * Resolves to its exit code. What would end this process goes on to it.
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<number>}
 */
export function runTypescript(program, args) {
  const child = spawn(process.execPath, ['--import', REGISTER, program, ...args], { stdio: 'inherit' });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => void child.kill(signal));
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
