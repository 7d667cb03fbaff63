/**
 * What of one report another one breaks. Whatever a caller may have written must go on to compile: names and members that
 * are gone, other types, and parameters or fields of arguments that are asked for anew are breaks. What is added is none,
 * nor is an argument that takes more than before.
 */
import ts from 'typescript';
import { declaredBy, inheritedType, textOf } from './declared.mjs';

/** Types that callers make: more members of a union, or a field that need no longer be there, break nothing. */
const GIVEN = /(Args|Options|Config|Settings|Input|Limits)$/;

/**
 * @param {string} before - The report of a release.
 * @param {string} after - The report of what is to follow.
 * @returns {{ what: string, how: string }[]} What breaks, by the path of the name.
 */
export function breaksOf(before, after) {
  const [old, now] = [declaredBy(before), declaredBy(after)];
  const breaks = [];
  for (const [name, nodes] of old.exported) {
    const found = now.exported.get(name);
    if (found === undefined) breaks.push({ what: name, how: 'is gone' });
    else breaks.push(...declarationBreaks(name, nodes, found));
  }
  for (const [name, kinds] of old.mentioned) {
    // Nobody can name them: one that is gone shows where it was mentioned.
    const found = now.mentioned.get(name) ?? now.exported.get(name)?.map((node) => [node]) ?? [];
    if (found.length === 0) continue;
    for (const nodes of kinds) {
      const [fewest] = found
        .map((each) => declarationBreaks(name, nodes, each).filter(({ what }) => !isConstructor(name, what)))
        .sort((a, b) => a.length - b.length);
      breaks.push(...fewest);
    }
  }
  return breaks;
}

/** Nobody can make an object of a class that has no name. */
const isConstructor = (name, what) => what.startsWith(`${name}.constructor`);

/** A name may declare several things: overloads, or a class and an interface. */
function declarationBreaks(name, before, after) {
  const functions = before.filter(ts.isFunctionDeclaration);
  const breaks = callBreaks(name, functions, after.filter(ts.isFunctionDeclaration));
  for (const node of before.filter((each) => !ts.isFunctionDeclaration(each))) {
    const found = after.find(({ kind }) => kind === node.kind);
    if (found === undefined) breaks.push({ what: name, how: 'is another kind of declaration' });
    else if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node))
      breaks.push(...ownBreaks(name, node, found));
    else if (ts.isTypeAliasDeclaration(node)) breaks.push(...aliasBreaks(name, node, found));
    else breaks.push(...variableBreaks(name, node, found));
  }
  return breaks;
}

function variableBreaks(name, before, after) {
  const [old, now] = [before, after].map(({ declarationList }) => declarationList.declarations[0].type);
  return typeBreaks(name, old, now, false);
}

function aliasBreaks(name, before, after) {
  const parameters = parameterListBreaks(name, before, after);
  return [...parameters, ...typeBreaks(name, before.type, after.type, true)];
}

/** Of classes and interfaces: type parameters, what they extend, members. */
function ownBreaks(name, before, after) {
  const breaks = parameterListBreaks(name, before, after);
  const parents = (node) =>
    (node.heritageClauses ?? [])
      .filter(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
      .flatMap(({ types }) => types.map(textOf));
  const lost = parents(before).filter((parent) => !parents(after).includes(parent));
  if (lost.length > 0) breaks.push({ what: name, how: `no longer extends ${lost.join(', ')}` });
  return [...breaks, ...memberBreaks(name, before, after)];
}

const INNER = [ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword];

/** What is for the classes of this package alone. */
const isInner = (member) =>
  member.modifiers?.some(({ kind }) => INNER.includes(kind)) === true ||
  (member.name !== undefined && ts.isPrivateIdentifier(member.name));

/** Members by name; those of a class itself beside those of its objects. */
function membersByName(members) {
  const byName = new Map();
  for (const member of members.filter((each) => !isInner(each))) {
    const isStatic = member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword) === true;
    const own = member.name?.getText() ?? ts.SyntaxKind[member.kind].replace(/Declaration|Signature/, '').toLowerCase();
    const name = isStatic ? `static ${own}` : own;
    byName.set(name, [...(byName.get(name) ?? []), member]);
  }
  return byName;
}

/** Of classes, interfaces and types that are written out. */
function memberBreaks(name, before, after) {
  const [old, now] = [membersByName(before.members), membersByName(after.members)];
  const isGiven = GIVEN.test(name);
  const breaks = [];
  for (const [member, nodes] of old) {
    const path = `${name}.${member}`;
    const found = now.get(member);
    if (found === undefined) breaks.push(...inheritedBreaks(path, member, before, after));
    else if (isCall(nodes[0]) && isCall(found[0])) breaks.push(...callBreaks(path, nodes, found));
    else breaks.push(...fieldBreaks(path, nodes, found, isGiven));
  }
  if (ts.isClassDeclaration(before) || !isGiven) return breaks;
  for (const [member, [node]] of now) {
    if (!old.has(member) && node.questionToken === undefined) {
      breaks.push({ what: `${name}.${member}`, how: 'must be given and is new' });
    }
  }
  return breaks;
}

/** Of a member that was declared here and may come from elsewhere now. */
function inheritedBreaks(path, member, before, after) {
  const [was, is] = [before, after].map((node) => (node.name === undefined ? null : inheritedType(node, member)));
  if (is === null) return [{ what: path, how: 'is gone' }];
  return is === was ? [] : [{ what: path, how: `was ${was}, is ${is}` }];
}

const isCall = (node) =>
  ts.isMethodDeclaration(node) ||
  ts.isMethodSignature(node) ||
  ts.isConstructorDeclaration(node) ||
  ts.isCallSignatureDeclaration(node) ||
  ts.isConstructSignatureDeclaration(node);

/** Of a field, a getter or a setter. */
function fieldBreaks(path, before, after, isGiven) {
  const breaks = [];
  const [old, now] = [before[0], after[0]];
  const isOptional = (node) => node.questionToken !== undefined;
  if (isGiven && isOptional(old) && !isOptional(now)) breaks.push({ what: path, how: 'must be given' });
  if (!isGiven && !isOptional(old) && isOptional(now)) breaks.push({ what: path, how: 'may be absent' });
  if (!isReadOnly(before) && isReadOnly(after) && !isGiven) breaks.push({ what: path, how: 'is read-only' });
  return [...breaks, ...typeBreaks(path, valueType(old), valueType(now), isGiven)];
}

const isReadOnly = ([node, ...rest]) =>
  node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ReadonlyKeyword) === true ||
  (ts.isGetAccessor(node) && rest.length === 0);

/** The type of a field, of what a getter returns or of what a setter takes. */
const valueType = (node) => (ts.isSetAccessor(node) ? node.parameters[0].type : node.type);

/** Each overload must be taken by one that is there now. */
function callBreaks(name, before, after) {
  const breaks = [];
  for (const old of before) {
    const [fewest] = after.map((now) => signatureBreaks(name, old, now)).sort((a, b) => a.length - b.length);
    if (fewest === undefined) breaks.push({ what: name, how: 'is no function any more' });
    else breaks.push(...fewest);
  }
  return breaks;
}

function signatureBreaks(name, old, now) {
  const breaks = parameterListBreaks(name, old, now);
  const isNeeded = (parameter) =>
    parameter.questionToken === undefined &&
    parameter.initializer === undefined &&
    parameter.dotDotDotToken === undefined;
  old.parameters.forEach((parameter, i) => {
    const what = `${name}(${parameter.name.getText()})`;
    const found = now.parameters[i];
    if (found === undefined) breaks.push({ what, how: 'is no parameter any more' });
    else {
      if (!isNeeded(parameter) && isNeeded(found)) breaks.push({ what, how: 'must be given' });
      breaks.push(...typeBreaks(what, parameter.type, found.type, true));
    }
  });
  for (const parameter of now.parameters.slice(old.parameters.length)) {
    const what = `${name}(${parameter.name.getText()})`;
    if (isNeeded(parameter)) breaks.push({ what, how: 'must be given and is new' });
  }
  if (old.type === undefined && now.type === undefined) return breaks;
  return [...breaks, ...typeBreaks(`${name} returns`, old.type, now.type, false)];
}

/** Type parameters: those that are new need a default. */
function parameterListBreaks(name, before, after) {
  const [old, now] = [before, after].map(({ typeParameters = [] }) => typeParameters);
  const isKept = old.every((each, i) => now[i] !== undefined && textOf(each) === textOf(now[i]));
  // An overload that infers more from its arguments asks for no more.
  const infers =
    !ts.isTypeAliasDeclaration(before) && !ts.isInterfaceDeclaration(before) && !ts.isClassDeclaration(before);
  const isOptional = now.slice(old.length).every((each) => infers || each.default !== undefined);
  return isKept && isOptional ? [] : [{ what: `${name}<>`, how: 'has other type parameters' }];
}

/** The members of a union, or the type itself, by text. */
function partsOf(type) {
  if (type === undefined) return ['any'];
  if (ts.isParenthesizedTypeNode(type)) return partsOf(type.type);
  return ts.isUnionTypeNode(type) ? type.types.flatMap(partsOf) : [textOf(type)];
}

/** Of two types at the same place; `isGiven`: callers make it, so that it may take more. */
function typeBreaks(what, before, after, isGiven) {
  if (before !== undefined && after !== undefined && ts.isTypeLiteralNode(before) && ts.isTypeLiteralNode(after)) {
    return memberBreaks(what, before, after);
  }
  const [old, now] = [partsOf(before), partsOf(after)];
  const covers = (more, fewer) => fewer.every((part) => more.includes(part));
  if (covers(now, old) && (isGiven || covers(old, now))) return [];
  if (!isGiven && covers(old, now)) return [];
  return [{ what, how: `was ${old.join(' | ')}, is ${now.join(' | ')}` }];
}
