/** What the entries of a build declare, as reports of api-extractor. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { withoutNamespaces } from './bundled_namespaces.mjs';

/** Beside the sources, so that types of dependencies are found. */
const CACHE = fileURLToPath(new URL('../.cache/', import.meta.url));
const SILENT = { default: { logLevel: 'none' } };

/**
 * @param {string} dist - The folder with the declarations of the entries, of this or of another build.
 * @returns {Map<string, string>} The report of each entry, by its name.
 */
export function reportsOf(dist) {
  mkdirSync(CACHE, { recursive: true });
  const root = mkdtempSync(join(CACHE, 'api-'));
  try {
    return extracted(root, copied(dist, root));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Copies declarations; returns the names of the entries. */
function copied(dist, root) {
  const names = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.d.ts'));
  const entries = names.filter((name) => !/[\\/]/.test(name)).map((name) => name.slice(0, -'.d.ts'.length));
  if (entries.length === 0) throw new Error(`${dist} holds no declarations: npm run bundle makes them`);
  writeFileSync(
    join(root, 'package.json'),
    JSON.stringify({ name: 'tfjs-embeddings', version: '0.0.0', type: 'module' }),
  );
  for (const name of names) {
    const folder = join(root, dirname(name));
    mkdirSync(folder, { recursive: true });
    const modules = withoutNamespaces(basename(name, '.d.ts'), readFileSync(join(dist, name), 'utf8'));
    for (const { name: module, text } of modules) writeFileSync(join(folder, `${module}.d.ts`), text);
  }
  return entries.sort();
}

function configOf(root, entry, entries) {
  const compilerOptions = {
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    target: 'ES2022',
    lib: ['ES2022', 'DOM'],
    types: ['node'],
    skipLibCheck: true,
  };
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: join(root, `${entry}.d.ts`),
      compiler: { overrideTsconfig: { compilerOptions, files: entries.map((each) => `${each}.d.ts`) } },
      apiReport: {
        enabled: true,
        includeForgottenExports: true,
        reportFileName: entry,
        reportFolder: join(root, 'reports'),
        reportTempFolder: join(root, 'reports'),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
      messages: {
        compilerMessageReporting: SILENT,
        extractorMessageReporting: SILENT,
        tsdocMessageReporting: SILENT,
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
  });
}

function extracted(root, entries) {
  mkdirSync(join(root, 'reports'));
  const configs = entries.map((entry) => configOf(root, entry, entries));
  const compilerState = CompilerState.create(configs[0], {
    additionalEntryPoints: configs.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath),
  });
  const quiet = (message) => (message.handled = true);
  return new Map(
    configs.map((config, i) => {
      const options = { localBuild: true, compilerState, messageCallback: quiet };
      if (!Extractor.invoke(config, options).succeeded) throw new Error(`api-extractor failed on ${entries[i]}`);
      return [entries[i], readFileSync(config.reportFilePath, 'utf8')];
    }),
  );
}
