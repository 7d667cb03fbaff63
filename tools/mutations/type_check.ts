/** Whether a changed source still compiles. */
import { join } from 'node:path';
import ts from 'typescript';

/** What is not used is a matter of style: a change may well leave it so. */
const RELAXED = { noUnusedLocals: false, noUnusedParameters: false, allowUnreachableCode: true, incremental: false };

export class TypeCheck {
  private readonly service: ts.LanguageService;
  private changed: { path: string; text: string } | null = null;
  private version = 0;

  constructor(private readonly root: string) {
    const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
    const { options, fileNames } = ts.parseJsonConfigFileContent(
      { ...(config.config as object), include: ['src'] },
      ts.sys,
      root,
    );
    const textOf = (path: string): string | undefined =>
      this.changed?.path === path ? this.changed.text : ts.sys.readFile(path);
    const { tsBuildInfoFile: _, ...kept } = options;
    const host: ts.LanguageServiceHost = {
      getCompilationSettings: () => ({ ...kept, ...RELAXED }),
      getScriptFileNames: () => fileNames,
      getScriptVersion: (path) => (this.changed?.path === path ? String(this.version) : '0'),
      getScriptSnapshot: (path) => {
        const text = textOf(path);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => root,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      fileExists: ts.sys.fileExists,
      readFile: ts.sys.readFile,
      readDirectory: ts.sys.readDirectory,
      directoryExists: ts.sys.directoryExists,
      getDirectories: ts.sys.getDirectories,
    };
    this.service = ts.createLanguageService(host);
  }

  /** What the compiler says of a source with another text; null: nothing. */
  complaint(source: string, text: string): string | null {
    if (!source.endsWith('.ts')) return null;
    const path = join(this.root, source);
    this.changed = { path, text };
    this.version++;
    try {
      const [first] = [...this.service.getSyntacticDiagnostics(path), ...this.service.getSemanticDiagnostics(path)];
      return first === undefined ? null : ts.flattenDiagnosticMessageText(first.messageText, ' ');
    } finally {
      this.changed = null;
    }
  }
}
