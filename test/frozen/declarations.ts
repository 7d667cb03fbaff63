/** The types that each entry of `dist` declares, by name, without comments. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Frozen, Groups } from './record.js';

const ENTRIES = ['index', 'index.node', 'node', 'ops', 'preprocessing', 'report', 'tpu'];

const printer = ts.createPrinter({ removeComments: true });

/** A declaration's text; the bundler tells names of different files apart by a number that depends on their order. */
function textOf(node: ts.Node): string {
  const text = printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile());
  return text
    .replace(/\$\d+\b/g, '')
    .replace(/^(export )?(declare )?/, '')
    .replace(/\s+/g, ' ');
}

function hashOf(texts: readonly string[]): string {
  return createHash('sha256')
    .update([...texts].sort().join('\n'))
    .digest('hex')
    .slice(0, 12);
}

/** Public names of a module by what they declare; those of namespaces with their namespace. */
function exportedNames(
  checker: ts.TypeChecker,
  module: ts.Symbol,
  seen: Set<ts.Node>,
  prefix = '',
): [string, string][] {
  return checker.getExportsOfModule(module).flatMap((symbol): [string, string][] => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const declarations = target.declarations ?? [];
    const name = `${prefix}${symbol.name}`;
    const isNamespace = declarations.every((each) => ts.isModuleDeclaration(each) || ts.isSourceFile(each));
    if (isNamespace) return exportedNames(checker, target, seen, `${name}.`);
    const nodes = declarations.map((each) => (ts.isVariableDeclaration(each) ? each.parent.parent : each));
    for (const node of nodes) seen.add(node);
    return [[name, hashOf(nodes.map(textOf))]];
  });
}

/** Declarations of the package that no entry exports but that exported ones mention. */
function otherNames(program: ts.Program, folder: string, seen: ReadonlySet<ts.Node>): Record<string, string> {
  const texts = new Map<string, string[]>();
  for (const file of program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(folder))) {
    for (const node of file.statements) {
      if (
        seen.has(node) ||
        ts.isImportDeclaration(node) ||
        ts.isExportDeclaration(node) ||
        ts.isModuleDeclaration(node)
      )
        continue;
      const named = ts.isVariableStatement(node) ? node.declarationList.declarations[0]! : (node as { name?: ts.Node });
      const name = named.name?.getText(file).replace(/\$\d+$/, '');
      if (name !== undefined) texts.set(name, [...(texts.get(name) ?? []), textOf(node)]);
    }
  }
  return Object.fromEntries([...texts].sort().map(([name, found]) => [name, hashOf(found)]));
}

/** Hashes of declarations by entry. Throws where an entry is not there. */
export function declarations(root: string): Frozen {
  const folder = join(root, 'dist');
  const paths = ENTRIES.map((entry) => join(folder, `${entry}.d.ts`));
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) throw new Error(`${missing} is not there: npm run build makes it`);
  const program = ts.createProgram(paths, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  const seen = new Set<ts.Node>();
  const groups: Record<string, Groups> = {};
  ENTRIES.forEach((entry, i) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(paths[i]!)!);
    if (module === undefined) throw new Error(`${paths[i]} exports nothing`);
    groups[`types of ${entry}`] = { names: Object.fromEntries(exportedNames(checker, module, seen).sort()) };
  });
  groups['types that are not exported'] = { names: otherNames(program, folder, seen) };
  return groups;
}
