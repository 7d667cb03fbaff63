/** A report of api-extractor as names and what they declare. */
import ts from 'typescript';

const printer = ts.createPrinter({ removeComments: true });

/**
 * @param {ts.Node} node
 * @returns {string} Its text on one line. Numbers that tell types of one name apart depend on their order and are left out.
 */
export function textOf(node) {
  const file = node.getSourceFile();
  return printer
    .printNode(ts.EmitHint.Unspecified, node, file)
    .replace(/(\w)\$\d+\b/g, '$1')
    .replace(/\b([A-Za-z]\w*?)_\d+\b/g, '$1')
    .replace(/\s+/g, ' ');
}

const OPTIONS = { target: ts.ScriptTarget.ES2022, lib: ['lib.es2022.d.ts'], types: [], noResolve: true };
const host = ts.createCompilerHost(OPTIONS, true);
/** @type {Map<string, ts.SourceFile>} */
const libraries = new Map();
/** @type {WeakMap<ts.SourceFile, ts.TypeChecker>} */
const checkers = new WeakMap();

/** What knows the members that types of a report have from others; packages are left out. */
function checkerOf(file) {
  const known = checkers.get(file);
  if (known !== undefined) return known;
  const getSourceFile = (path, ...rest) => {
    if (path === file.fileName) return file;
    if (!libraries.has(path)) libraries.set(path, host.getSourceFile(path, ...rest));
    return libraries.get(path);
  };
  const checker = ts.createProgram([file.fileName], OPTIONS, { ...host, getSourceFile }).getTypeChecker();
  checkers.set(file, checker);
  return checker;
}

/**
 * @param {ts.Node} node - A class or an interface.
 * @param {string} member - The name of a member that it has from a type that it is made of.
 * @returns {string | null} The type of the member; null: there is none.
 */
export function inheritedType(node, member) {
  const checker = checkerOf(node.getSourceFile());
  const symbol = checker.getTypeAtLocation(node.name).getProperty(member);
  if (symbol === undefined) return null;
  return checker.typeToString(checker.getTypeOfSymbolAtLocation(symbol, node), node, ts.TypeFormatFlags.NoTruncation);
}

/**
 * What a report declares: `exported` by public name, those of namespaces with their namespace, and `mentioned`, types that
 * no entry exports but that exported ones name, by name; several may have the same one.
 *
 * @typedef {{ exported: Map<string, ts.Node[]>, mentioned: Map<string, ts.Node[][]> }} Declared
 * @param {string} report
 * @returns {Declared}
 */
export function declaredBy(report) {
  const code = /```ts\n([^]*)```/.exec(report);
  if (code === null) throw new Error('a report of api-extractor holds declarations in a block of code');
  const file = ts.createSourceFile('report.d.ts', code[1], ts.ScriptTarget.Latest, true);
  const locals = new Map();
  const namespaces = new Map();
  const names = new Map();
  for (const node of file.statements) {
    if (ts.isExportDeclaration(node)) {
      for (const each of node.exportClause.elements) names.set(each.name.text, (each.propertyName ?? each.name).text);
    } else if (ts.isModuleDeclaration(node)) {
      namespaces.set(
        node.name.text,
        node.body.statements.flatMap(({ exportClause }) => [...exportClause.elements]),
      );
    } else if (!ts.isImportDeclaration(node)) {
      const name = nameOf(node);
      locals.set(name, [...(locals.get(name) ?? []), node]);
      if (node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) names.set(name, name);
    }
  }
  const exported = new Map();
  const put = (name, local) => {
    const members = namespaces.get(local);
    if (members === undefined) exported.set(name, locals.get(local));
    else for (const each of members) put(`${name}.${each.name.text}`, (each.propertyName ?? each.name).text);
  };
  for (const [name, local] of names) put(name, local);
  const known = new Set([...exported.values()].flat());
  const mentioned = new Map();
  for (const [name, nodes] of locals) {
    if (known.has(nodes[0])) continue;
    const plain = name.replace(/_\d+$/, '');
    mentioned.set(plain, [...(mentioned.get(plain) ?? []), nodes]);
  }
  return { exported, mentioned };
}

function nameOf(node) {
  const named = ts.isVariableStatement(node) ? node.declarationList.declarations[0] : node;
  return named.name.getText();
}
