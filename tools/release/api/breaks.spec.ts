/** What breaks a release and what does not, on small reports. */
import { breaksOf } from './breaks.mjs';
import { allBreaks, announcementProblem, compareVersions, leastVersion, withoutListed } from './comparison.mjs';

const report = (code: string): string => `## API Report File\n\n\`\`\`ts\n${code}\n\`\`\`\n`;

/** The places that break, of a declaration that becomes another one. */
const broken = (before: string, after: string): string[] =>
  breaksOf(report(before), report(after)).map(({ what }) => what);

describe('what breaks a release', () => {
  const BREAKS: readonly (readonly [why: string, before: string, after: string, what: string])[] = [
    ['a name that is gone', 'export function f(): void;', 'export function g(): void;', 'f'],
    ['another kind of name', 'export function f(): void;', 'export const f: number;', 'f'],
    [
      'a parameter that is gone',
      'export function f(a: number, b?: string): void;',
      'export function f(a: number): void;',
      'f(b)',
    ],
    [
      'a new parameter',
      'export function f(a: number): void;',
      'export function f(a: number, b: string): void;',
      'f(b)',
    ],
    [
      'a parameter that must be given',
      'export function f(a?: number): void;',
      'export function f(a: number): void;',
      'f(a)',
    ],
    [
      'a parameter that takes less',
      'export function f(a: number | null): void;',
      'export function f(a: number): void;',
      'f(a)',
    ],
    ['a result that may be more', 'export function f(): number;', 'export function f(): number | null;', 'f returns'],
    [
      'an overload that is gone',
      'export function f(a: 1): 1;\nexport function f(a: 2): 2;',
      'export function f(a: 1): 1;',
      'f(a)',
    ],
    ['a member that is gone', 'export class C { m(): void; n: number; }', 'export class C { n: number; }', 'C.m'],
    [
      'a static member that is gone',
      'export class C { static n: number; }',
      'export class C { n: number; }',
      'C.static n',
    ],
    ['a member of another type', 'export interface I { n: number; }', 'export interface I { n: string; }', 'I.n'],
    ['a field that is read-only', 'export class C { n: number; }', 'export class C { readonly n: number; }', 'C.n'],
    ['a field that may be absent', 'export interface I { n: number; }', 'export interface I { n?: number; }', 'I.n'],
    [
      'a new field of arguments',
      'export interface FArgs { a: number; }',
      'export interface FArgs { a: number; b: number; }',
      'FArgs.b',
    ],
    [
      'a field of arguments that must be given',
      'export interface FArgs { a?: number; }',
      'export interface FArgs { a: number; }',
      'FArgs.a',
    ],
    ['a parent that is gone', 'export class C extends A<1> { }', 'export class C { }', 'C'],
    ['fewer members of a union', "export type T = 'a' | 'b';", "export type T = 'a';", 'T'],
    ['a type parameter without a default', 'export interface I { }', 'export interface I<T> { }', 'I<>'],
    [
      'a member of a namespace',
      'function f(): void;\ndeclare namespace n { export { f } }\nexport { n }',
      'declare namespace n { export { } }\nexport { n }',
      'n.f',
    ],
    [
      'a member of a type that is mentioned',
      'interface I { a: number; b: number; }\nexport const i: I;',
      'interface I { a: number; }\nexport const i: I;',
      'I.b',
    ],
    [
      'a member that comes from elsewhere with another type',
      'export interface I { a: number; }',
      'interface J { a: string; }\nexport interface I extends J { }',
      'I.a',
    ],
  ];
  for (const [why, before, after, what] of BREAKS) {
    it(why, () => expect(broken(before, after)).toContain(what));
  }

  const ADDITIONS: readonly (readonly [why: string, before: string, after: string])[] = [
    ['a new name', 'export function f(): void;', 'export function f(): void;\nexport const g: number;'],
    [
      'a parameter that may be left out',
      'export function f(a: number): void;',
      'export function f(a: number, b?: string): void;',
    ],
    [
      'a parameter that takes more',
      'export function f(a: number): void;',
      'export function f(a: string | number): void;',
    ],
    ['another name of a parameter', 'export function f(a: number): void;', 'export function f(b: number): void;'],
    ['a result that is surer', 'export function f(): number | null;', 'export function f(): number;'],
    ['a new overload', 'export function f(a: 1): 1;', 'export function f(a: 2): 2;\nexport function f(a: 1): 1;'],
    ['a new member', 'export class C { n: number; }', 'export class C { n: number; m(): void; }'],
    [
      'a new field of arguments that may be left out',
      'export interface FArgs { a: 1; }',
      'export interface FArgs { a: 1; b?: 2; }',
    ],
    ['a field of what is read', 'export interface I { n: number; }', 'export interface I { m: number; n: number; }'],
    ['more members of a union', "export type T = 'a';", "export type T = 'b' | 'a';"],
    ['a type parameter with a default', 'export interface I { }', 'export interface I<T = 1> { }'],
    ['a protected member that is gone', 'export class C { protected m(): void; }', 'export class C { }'],
    [
      'a member that comes from elsewhere now',
      'export interface I { a: number; }',
      'interface J { a: number; }\nexport interface I extends J { }',
    ],
    ['a type that is mentioned nowhere any more', 'interface I { }\nexport const i: 1;', 'export const i: 1;'],
    [
      'the order of types of one name',
      'type T_2 = 1;\ntype T = 2;\nexport const a: T_2;',
      'type T = 1;\ntype T_2 = 2;\nexport const a: T;',
    ],
  ];
  for (const [why, before, after] of ADDITIONS) {
    it(`not ${why}`, () => expect(broken(before, after)).toEqual([]));
  }
});

describe('the comparison with a release', () => {
  const entries = (tpu: string): Map<string, string> => {
    const whole = `${tpu.replace('export ', '')}\ndeclare namespace tpu { export { f } }\nexport { tpu }`;
    return new Map([
      ['node', report(whole)],
      ['tpu', report(tpu)],
    ]);
  };

  it('tells a name of a namespace and of its own entry once', () => {
    const found = allBreaks(entries('export function f(a: 1): void;'), entries('export function f(a: 2): void;'));
    expect(found).toEqual([{ what: 'tpu.f(a)', how: 'was 1, is 2' }]);
  });

  it('misses an entry', () => {
    const before = entries('export function f(): void;');
    const after = new Map([...before].filter(([entry]) => entry !== 'tpu'));
    expect(allBreaks(before, after)).toEqual([{ what: 'entry tpu', how: 'is gone' }]);
  });

  it('takes listed names with what lies below them, and tells entries that fit none', () => {
    const breaks = ['A.b', 'A(c)', 'Ab'].map((what) => ({ what, how: 'is gone' }));
    const list = ['A', 'B'].map((what) => ({ what, reason: 'meant' }));
    const { unlisted, unused } = withoutListed(breaks, list);
    expect(unlisted.map(({ what }) => what)).toEqual(['Ab']);
    expect(unused.map(({ what }) => what)).toEqual(['B']);
  });

  it('holds the head of the changelog against what breaks', () => {
    const due = (breaks: boolean, version: string, isReleased = false): string | null =>
      announcementProblem('0.1.0', breaks, { version, isReleased });
    expect(due(true, '0.2.0')).toBeNull();
    expect(due(true, '1.0.0')).toBeNull();
    expect(due(false, '0.1.1')).toBeNull();
    expect(due(true, '0.1.1')).toBe('CHANGELOG.md announces 0.1.1: 0.2.0 at least is due after 0.1.0');
    expect(due(false, '0.1.0')).toBe('CHANGELOG.md announces 0.1.0: 0.1.1 at least is due after 0.1.0');
    expect(due(false, '0.1.0', true)).toBeNull();
    expect(due(true, '0.1.0', true)).toBe('CHANGELOG.md announces no version after 0.1.0: 0.2.0 at least is due');
    expect(due(false, '0.2.0', true)).toContain('is not the last release');
  });

  it('asks for another major number where something breaks, of 0.x for another minor one', () => {
    expect(leastVersion('0.1.3', true)).toBe('0.2.0');
    expect(leastVersion('0.1.3', false)).toBe('0.1.4');
    expect(leastVersion('1.4.2', true)).toBe('2.0.0');
    expect(leastVersion('1.4.2', false)).toBe('1.4.3');
    expect(compareVersions('0.10.0', '0.9.9')).toBeGreaterThan(0);
    expect(compareVersions('1.2.3', '1.2.3')).toBe(0);
  });
});
