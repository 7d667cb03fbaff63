/** The JavaScript of README.md as one program. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../helpers/project.js';

/** Blocks of JavaScript in the order of the README; those of pages and shells are left out. */
function blocks(): string[] {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  return [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code!);
}

/** The first block: imports and a model. */
export function readmeModel(): string {
  return blocks()[0]!;
}

/** All blocks in order, as printed, as one module. */
export function readmeProgram(): string {
  return blocks().join('\n');
}

/** The same for people without tfjs-node. */
export function withoutTfjsNode(program: string): string {
  return program.replace("'@tensorflow/tfjs-node'", "'@tensorflow/tfjs'");
}

/** The same as a CommonJS script. */
export function asScript(program: string): string {
  const body = program.replace(/^import \* as (\w+) from ('[^']+');/gm, 'const $1 = require($2);');
  return `(async () => {\n${body}\n})();`;
}
