/**
 * Tells the texts of messages, which are not mutated: what errors and warnings say in prose changes no result, and a spec
 * that repeats it word by word would only hinder whoever writes it better. Stryker empties such strings.
 *
 * Counted as such are strings and templates with words in them, and plain separators such as `', '`, which stand in an
 * error that is made (by `new`, or by helpers named `refuse`, `fail` and `…Error`), in a warning, in `described(…)`, or in a
 * constant that holds such a text by its name: in capitals, `expected`, `note` and the like. Everything else in the same
 * places is mutated: conditions, numbers, names of arguments and fields (single words), values that are shown. So are
 * texts that are results: plans, complaints about plans, reports.
 */
import ts from 'typescript';

const ERRORS = /(Error|Fault)$/;
const SPEAKERS = new Set([
  'described',
  'broken',
  'damaged',
  'warn',
  'warnOnce',
  'reading',
  'refuse',
  'fail',
  'refuseRecording',
]);
const CONSTANTS = /^([A-Z][A-Z_0-9]*|expected|note|message|refuse|most|known)$/;
const JOINING = new Set([ts.SyntaxKind.PlusToken, ts.SyntaxKind.QuestionQuestionToken]);

function isWordy(node: ts.Node): boolean {
  const parts = ts.isTemplateExpression(node)
    ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)]
    : [(node as ts.StringLiteralLike).text];
  return parts.some((text) => /[a-z]{2}\S* |[^\S\n][a-z]{2}/i.test(text));
}

function isSeparator(node: ts.Node): boolean {
  return ts.isStringLiteral(node) && /^[\s,;:.x]+$/.test(node.text);
}

/** Whether a value goes into a message: through templates, sums, choices and lists that are joined. */
function isSpoken(node: ts.Node): boolean {
  for (let [inner, outer] = [node, node.parent]; outer !== undefined; [inner, outer] = [outer, outer.parent]) {
    if (ts.isNewExpression(outer)) return ERRORS.test(outer.expression.getText());
    if (ts.isVariableDeclaration(outer)) return CONSTANTS.test(outer.name.getText());
    if (ts.isConditionalExpression(outer) && outer.condition === inner) return false;
    if (ts.isBinaryExpression(outer) && !JOINING.has(outer.operatorToken.kind)) return false;
    if (ts.isElementAccessExpression(outer) || ts.isStatement(outer) || ts.isFunctionLike(outer)) return false;
    if (ts.isCallExpression(outer) && outer.expression !== inner) {
      const name = ts.isPropertyAccessExpression(outer.expression) ? outer.expression.name : outer.expression;
      if (SPEAKERS.has(name.getText()) || ERRORS.test(name.getText())) return true;
    }
  }
  return false;
}

/** Makes the test for a file: whether the string from one place to another is the text of a message. */
export function messagesOf(source: string): (from: number, to: number) => boolean {
  const tree = ts.createSourceFile('source.ts', source, ts.ScriptTarget.ES2022, true);
  const places = new Set<string>();
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
    if (isText && (isWordy(node) || isSeparator(node)) && isSpoken(node)) {
      places.add(`${node.getStart()} ${node.getEnd()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return (from, to) => places.has(`${from} ${to}`);
}
