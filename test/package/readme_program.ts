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

/** The first block, then each later one in a scope of its own, where the names of the first are known. */
export function readmeProgram(): string {
  const [first, ...later] = blocks();
  return [first, ...later.map((code) => `{\n${code}}`)].join('\n');
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
