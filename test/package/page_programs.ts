/** The JavaScript of README.md and of docs, a program for each page. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../helpers/project.js';

/** Blocks of JavaScript in the order of the page; those of markup and shells are left out. */
function blocksOf(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code!);
}

/** The first program of the README: imports and a model. */
export function readmeModel(): string {
  return blocksOf('README.md')[0]!;
}

/** The name of each page that has programs, and all its blocks in order, as printed, as one module. */
export function pagePrograms(): Map<string, string> {
  const docs = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  const pages = ['README.md', ...docs.sort().map((name) => `docs/${name}`)];
  const programs = pages.map((page): [string, string] => [
    page.replace(/^docs\/|\.md$/g, '').toLowerCase(),
    blocksOf(page).join('\n'),
  ]);
  return new Map(programs.filter(([, program]) => program !== ''));
}

/** The same for people without tfjs-node. */
export function withoutTfjsNode(program: string): string {
  return program.replace("'@tensorflow/tfjs-node'", "'@tensorflow/tfjs'");
}

/** The same as a CommonJS script, whose export is a promise. */
export function asScript(program: string): string {
  const body = program
    .replace(/^import \* as (\w+) from ('[^']+');/gm, 'const $1 = require($2);')
    .replace(/^import (\{[^}]+\}) from ('[^']+');/gm, 'const $1 = require($2);');
  return `module.exports = (async () => {\n${body}\n})();`;
}
