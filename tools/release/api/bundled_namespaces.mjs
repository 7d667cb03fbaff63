/**
 * Namespaces of bundled declarations as modules. The bundler writes `export * as weights from …` as a namespace of aliases,
 * in which api-extractor finds nothing; a module that is imported whole it reads.
 */
import ts from 'typescript';

/**
 * @typedef {{ readonly name: string, readonly text: string }} Module
 * @param {string} name - The file without folder and `.d.ts`.
 * @param {string} text - Its declarations.
 * @returns {Module[]} The file itself, then a module for each of its namespaces.
 */
export function withoutNamespaces(name, text) {
  const file = ts.createSourceFile(`${name}.d.ts`, text, ts.ScriptTarget.Latest, true);
  const namespaces = file.statements.filter(isOfAliases);
  if (namespaces.length === 0) return [{ name, text }];
  const originals = aliasesOf(file);
  const modules = [];
  const [imports, exports, cuts] = [[], [], []];
  namespaces.forEach((namespace, number) => {
    const module = `${name}.namespace${number}`;
    const members = namespace.body.statements.flatMap(({ exportClause }) => [...exportClause.elements]);
    const lines = members.map(({ propertyName, name: { text: as } }) => {
      const local = (propertyName ?? { text: as }).text;
      const passed = `namespace${number}_${as}`;
      exports.push(`export { ${originals.get(local) ?? local} as ${passed} };`);
      return `export { ${passed} as ${as} } from './${name}.whole.js';`;
    });
    imports.push(`import * as ${namespace.name.text} from './${module}.js';`);
    cuts.push([namespace.getStart(), namespace.end]);
    modules.push({ name: module, text: lines.join('\n') });
  });
  let rest = text;
  for (const [from, to] of cuts.reverse()) rest = rest.slice(0, from) + rest.slice(to);
  // The file itself exports what it did; what is passed on to namespaces comes from a module beside it.
  const whole = { name: `${name}.whole`, text: [...imports, rest, ...exports].join('\n') };
  return [{ name, text: exportsOf(file, whole.name) }, whole, ...modules];
}

/**
 * @param {ts.SourceFile} file
 * @param {string} from - The module that declares what it declares.
 */
function exportsOf(file, from) {
  const lines = file.statements.filter(ts.isExportDeclaration).map((node) => {
    if (node.moduleSpecifier !== undefined) return node.getText();
    const elements = node.exportClause.elements.map(({ name: { text } }) => text);
    return `export { ${elements.join(', ')} } from './${from}.js';`;
  });
  return lines.join('\n');
}

/** @param {ts.Statement} node */
function isOfAliases(node) {
  const isBlock = ts.isModuleDeclaration(node) && node.body !== undefined && ts.isModuleBlock(node.body);
  return isBlock && node.body.statements.length > 0 && node.body.statements.every(ts.isExportDeclaration);
}

/**
 * What `declare const index_load: typeof load` and `type index_Args<T> = Args<T>` stand for, by alias.
 *
 * @param {ts.SourceFile} file
 */
function aliasesOf(file) {
  const originals = new Map();
  for (const node of file.statements) {
    if (ts.isVariableStatement(node)) {
      const [{ name, type }] = node.declarationList.declarations;
      if (type !== undefined && ts.isTypeQueryNode(type)) originals.set(name.getText(), type.exprName.getText());
    } else if (ts.isTypeAliasDeclaration(node) && ts.isTypeReferenceNode(node.type)) {
      const original = node.type.typeName.getText();
      if (node.name.text.endsWith(`_${original}`)) originals.set(node.name.text, original);
    }
  }
  return originals;
}
