/** The types that npm publishes: pages and examples compile under strict, and mistakes do not. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../helpers/project.js';
import { pagePrograms } from './page_programs.js';

const dist = join(ROOT, 'dist/');

const STRICT: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  resolveJsonModule: true,
  allowJs: true,
  // TensorFlow.js' own types do not compile without.
  skipLibCheck: true,
};

/** How the two kinds of users find the types. Files of this package find it as a user does: by its `exports`. */
const RESOLUTIONS: Record<string, ts.CompilerOptions> = {
  node16: { ...STRICT, module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 },
  bundler: { ...STRICT, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
};

/**
 * Pages whose JavaScript needs casts in TypeScript: `apply` of tfjs returns tensors of either kind, and a Blob takes no
 * bytes whose memory may be shared.
 */
const WITHOUT_TYPES = ['serving', 'onnx', 'data', 'preprocessing', 'retrieval', 'neighbours'];

/** Files that were read before: most of them are libraries, which all programs share. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** A program of files, some of which exist in `texts` only. */
function programOf(files: string[], options: ts.CompilerOptions, texts: Record<string, string> = {}): ts.Program {
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => texts[path] !== undefined || fileExists(path);
  host.readFile = (path) => texts[path] ?? readFile(path);
  host.getSourceFile = (path, how, ...rest) => {
    const key = `${path} ${JSON.stringify(how)}`;
    if (!parsed.has(key)) parsed.set(key, getSourceFile(path, how, ...rest));
    return parsed.get(key);
  };
  const program = ts.createProgram([...Object.keys(texts), ...files], options, host);
  const sources = program.getSourceFiles().map(({ fileName }) => fileName);
  expect(sources.some((path) => path.startsWith(dist)))
    .withContext('uses the built types')
    .toBeTrue();
  expect(sources.filter((path) => path.startsWith(join(ROOT, 'src/')))).toEqual([]);
  return program;
}

function textOf(diagnostic: ts.Diagnostic): string {
  const host = {
    getCurrentDirectory: () => ROOT,
    getCanonicalFileName: (name: string) => name,
    getNewLine: () => '\n',
  };
  return ts.formatDiagnostic(diagnostic, host);
}

/** The TypeScript files below a folder. */
function sourcesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.m?ts$/.test(name))
    .map((name) => join(ROOT, folder, name));
}

describe('the built types', () => {
  for (const [name, options] of Object.entries(RESOLUTIONS)) {
    it(`take the programs of README and docs, examples and good uses, and refuse mistakes (${name})`, () => {
      const typed = [...pagePrograms()].filter(([page]) => !WITHOUT_TYPES.includes(page));
      const pages = typed.map(([page, program]) => [join(ROOT, `page_${page}.ts`), program]);
      const files = [join(ROOT, 'test/package/type_cases.ts'), ...['models', 'docs'].flatMap(sourcesIn)];
      const program = programOf(files, options, Object.fromEntries(pages) as Record<string, string>);
      expect(ts.getPreEmitDiagnostics(program).map(textOf)).toEqual([]);
    }, 120_000);
  }

  it('hold no errors of their own', () => {
    const options = { ...RESOLUTIONS['node16']!, skipLibCheck: false };
    const program = programOf([join(dist, 'node.d.ts'), join(dist, 'node.d.cts')], options);
    const own = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(dist));
    expect(own.flatMap((file) => program.getSemanticDiagnostics(file)).map(textOf)).toEqual([]);
  }, 120_000);
});
