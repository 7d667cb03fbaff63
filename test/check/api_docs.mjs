/** Checks the site of `npm run docs`: its links, and in the reference a description of each parameter and each result. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { Application, ReflectionKind, ReflectionType, TSConfigReader, TypeDocReader } from 'typedoc';
import { checkSite } from './site_links.mjs';

// Errors of types are for the check of types to tell.
const app = await Application.bootstrapWithPlugins({ skipErrorChecking: true }, [
  new TypeDocReader(),
  new TSConfigReader(),
]);
// The program of the reference has no tests, which would take three times as long to read.
const { options } = app;
const ofSources = options.getFileNames().filter((name) => name.includes('/src/') || name.includes(`${sep}src${sep}`));
options.setCompilerOptions(ofSources, options.getCompilerOptions(), options.getProjectReferences());
const project = await app.convert();
if (project === undefined) process.exit(1);
app.validate(project);

/** Methods that a class of tfjs declares are described there. */
const isOurs = (signature) =>
  signature.inheritedFrom === undefined &&
  (signature.overwrites === undefined || signature.overwrites.reflection !== undefined);

function missing(signature) {
  const lacks = (signature.parameters ?? []).filter(({ comment }) => comment === undefined);
  const tags = lacks.map(({ name }) => `@param ${name}`);
  const { type, kind, comment } = signature;
  const gives = kind === ReflectionKind.CallSignature && type?.toString() !== 'void';
  if (gives && comment?.getTag('@returns') === undefined) tags.push('@returns');
  return tags;
}

/** Signatures of functions, methods and constructors, and of functions in objects. The first of overloads speaks for all. */
function signaturesOf(reflection) {
  if (reflection.signatures !== undefined) return reflection.signatures.slice(0, 1);
  return reflection.type instanceof ReflectionType ? (reflection.type.declaration.signatures ?? []).slice(0, 1) : [];
}

const complaints = new Set();
function visit(reflection) {
  if (reflection.inheritedFrom !== undefined) return;
  for (const signature of signaturesOf(reflection).filter(isOurs)) {
    const tags = missing(signature);
    if (tags.length > 0) complaints.add(`${reflection.getFullName()} lacks ${tags.join(', ')}`);
  }
  const held = reflection.type instanceof ReflectionType ? (reflection.type.declaration.children ?? []) : [];
  // Functions in the objects of the index are its namespaces; those in options are the caller's own.
  const isNamespace = reflection.kindOf(ReflectionKind.Variable);
  for (const child of [...(reflection.children ?? []), ...(isNamespace ? held : [])]) visit(child);
}
visit(project);

const folder = mkdtempSync(join(tmpdir(), 'site-'));
try {
  await app.generateDocs(project, folder);
  for (const complaint of checkSite(folder).complaints) complaints.add(complaint);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

for (const complaint of complaints) console.error(complaint);
if (complaints.size > 0 || app.logger.hasErrors() || app.logger.hasWarnings()) process.exit(1);
console.log('The reference describes every parameter and every result, and the links of the site lead somewhere.');
