/** Runs other programs, keeps what they said for the case that they fail, and tells the lock about them. */
import { spawn, spawnSync } from 'node:child_process';

let watch = () => {};

/** Process ids of programs that run now. */
const running = new Set();

/** Sets who is told the process ids of the programs that run, whenever these are others. */
export function watchChildren(listener) {
  watch = listener;
}

/**
 * Runs a program to its end. Resolves to its output (both streams); rejects with an Error whose message names the
 * program and how it ended, whose `output` holds what it said, and whose `signal` names what ended it, if that was one.
 *
 * `show`: 'nothing' | 'all' (output goes to our standard error as it comes). `onText` sees each piece of output.
 */
export function run(program, args, { cwd, env, show = 'nothing', onText = () => {}, shell = false } = {}) {
  return new Promise((resolve, reject) => {
    const inherit = show === 'all';
    const child = spawn(program, args, {
      cwd,
      shell,
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, ...env },
      stdio: ['ignore', inherit ? 2 : 'pipe', inherit ? 2 : 'pipe'],
      windowsHide: true,
    });
    const ended = () => {
      running.delete(child.pid);
      watch([...running]);
    };
    if (child.pid !== undefined) running.add(child.pid);
    watch([...running]);
    let output = '';
    const collect = (data) => {
      const text = data.toString();
      output = (output + text).slice(-200_000);
      onText(text);
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.on('error', (error) => {
      ended();
      reject(
        Object.assign(new Error(`${program}: ${error.code === 'ENOENT' ? 'not found' : error.message}`), { output }),
      );
    });
    child.on('close', (code, signal) => {
      ended();
      if (code === 0) return resolve(output);
      const end = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
      reject(Object.assign(new Error(`${program} ${end}`), { output, signal }));
    });
  });
}

/** The first line that a program prints, or null where it cannot be run. For quick questions such as `--version`. */
export function firstLine(program, args) {
  const { status, stdout, error } = spawnSync(program, args, { encoding: 'utf8', windowsHide: true });
  if (error !== undefined || status !== 0) return null;
  return stdout.split('\n', 1)[0].trim();
}

/** What a failed program said that tells most: its lines with "error" in them, else the last one; no stack frames. */
export function gist(error) {
  const lines = (error.output ?? '').split('\n').map((line) => line.trim());
  const words = lines.filter((line) => line !== '' && !/^at /.test(line) && !/complete log|Run "npm help/.test(line));
  const telling = words.filter((line) => /error|Missing:/i.test(line) && !/^warning/i.test(line));
  const said = (telling.length > 0 ? telling.slice(0, 2) : words.slice(-1)).join(' / ').slice(0, 300);
  return said === '' ? error.message : `${error.message}: ${said}`;
}
