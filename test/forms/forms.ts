/**
 * The two forms of the suite: `npm test`, and `npm run test:long`, which leaves nothing out. What only the long form runs
 * stands in test/forms/long_form.json, with the reason.
 */
import { readFileSync } from 'node:fs';
import type { SpecFile } from '../runner/spec_files.js';

export interface LongForm {
  /** Spec files that `npm test` leaves out unless they are named; why, and what it runs of the kind. */
  readonly files: Readonly<Record<string, string>>;
  /** Specs that it leaves out of other files, by a part of their names; why, and what it runs of the kind. */
  readonly specs: Readonly<Record<string, { readonly names: readonly string[]; readonly why: string }>>;
  /** Files with many specs of a kind, of which it runs one in so many; why. */
  readonly sampled: Readonly<Record<string, { readonly oneIn: number; readonly why: string }>>;
  /** Sizes of specs that draw cases, by the environment variable that gives another size. */
  readonly draws: Readonly<Record<string, { readonly short: number; readonly long: number; readonly of: string }>>;
}

/** Tells the processes of a run which form it has. */
const FORM = 'TFJS_EMBEDDINGS_TEST_FORM';

export const LONG_FORM = JSON.parse(readFileSync(new URL('long_form.json', import.meta.url), 'utf8')) as LongForm;

/** What a form has of some spec files, and how many it leaves out. */
export function inForm(
  files: readonly SpecFile[],
  isShort: boolean,
  { files: longOnly }: Pick<LongForm, 'files'> = LONG_FORM,
): { readonly files: readonly SpecFile[]; readonly leftOut: number } {
  const kept = isShort ? files.filter(({ name }) => !Object.hasOwn(longOnly, name)) : files;
  return { files: kept, leftOut: files.length - kept.length };
}

/** A whole number that looks drawn (the last steps of MurmurHash3). */
function drawn(place: number): number {
  let x = Math.imul(place ^ (place >>> 16) ^ 0x9e3779b9, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Of how many specs of a file the short form runs one. */
export function oneIn(file: string, { sampled }: Pick<LongForm, 'sampled'> = LONG_FORM): number {
  return Object.hasOwn(sampled, file) ? sampled[file]!.oneIn : 1;
}

/** Whether the short form runs a spec of this file, by its name and by how many are before it. */
export function shortFormOf(
  file: string,
  { specs, sampled }: Pick<LongForm, 'specs' | 'sampled'> = LONG_FORM,
): (name: string, place: number) => boolean {
  const leftOut = Object.hasOwn(specs, file) ? specs[file]!.names : [];
  const each = oneIn(file, { sampled });
  // One of each group of neighbours, drawn, so that no loop that makes the specs keeps in step with them.
  const isSampled = (place: number): boolean => place % each === drawn(Math.floor(place / each)) % each;
  return (name, place) => isSampled(place) && !leftOut.some((text) => name.includes(text));
}

/** Makes this process, and those that it starts, draw as many cases as the form has. */
export function takeForm(isLong: boolean): void {
  process.env[FORM] = isLong ? 'long' : 'short';
}

/** How many cases a spec draws: what the environment variable says, else what its line in test/forms/long_form.json has. */
export function casesOf(name: string, env: NodeJS.ProcessEnv = process.env, { draws }: LongForm = LONG_FORM): number {
  const sizes = Object.hasOwn(draws, name) ? draws[name] : undefined;
  if (sizes === undefined) throw new Error(`test/forms/long_form.json has no line for ${name}`);
  const given = env[name];
  if (given === undefined || given === '') return env[FORM] === 'long' ? sizes.long : sizes.short;
  const count = Number(given);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new Error(`${name} must be a positive whole number, not "${given}"`);
}
