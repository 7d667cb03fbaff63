/** Programs of this folder as one file each, for a Node that cannot run the sources. */
import { build } from 'esbuild';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../helpers/project.js';

/** Modules look for files from here, wherever the bundle lies. */
const PLACE = pathToFileURL(join(ROOT, 'test', 'helpers', 'bundle.ts')).href;

/** Bundles a program with all that it imports into `folder`; resolves to the path. */
export async function bundled(program: string, folder: string): Promise<string> {
  const outfile = join(folder, `${program}.mjs`);
  await build({
    entryPoints: [join(ROOT, 'test', 'prebuild', `${program}.ts`)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    define: { 'import.meta.url': JSON.stringify(PLACE) },
    // tfjs asks for modules of Node as CommonJS does.
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(${JSON.stringify(PLACE)});`,
    },
    logLevel: 'silent',
  });
  return outfile;
}
