/**
 * Numbers that Python wrote as floats: `1.0` of a file is no whole number, and makes floats of a tensor of whole numbers
 * that it meets. JavaScript reads both as 1, so such numbers of calls are marked before they are read.
 */
import { isDeeperThan } from '../../../io/depth.js';
import { isRecord } from '../../../base/options.js';

const MARK = '__float__';
/** Texts, which are passed over, and numbers. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|-?Infinity|NaN/g;
/** What Python writes of floats that JSON lacks. */
const BEYOND = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g;
/** Deeper than any model that is read. */
const DEEPEST = 1000;

/** A number that JavaScript reads as the float; NaN is null. */
function readable(token: string): string {
  if (token.endsWith('Infinity')) return token.startsWith('-') ? '-1e999' : '1e999';
  return token === 'NaN' ? 'null' : token;
}

function mark(given: string): string {
  const token = readable(given);
  return !token.startsWith('"') && /[.eE]/.test(token) && Number.isInteger(Number(token))
    ? `{"${MARK}":${token}}`
    : token;
}

function isMarked(value: Readonly<Record<string, unknown>>): boolean {
  return typeof value[MARK] === 'number' && Object.keys(value).length === 1;
}

/** The same value without marks, but for those in calls where these are to stay. */
function unmarked(value: unknown, staysInCalls: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => unmarked(each, staysInCalls));
  if (!isRecord(value)) return value;
  if (isMarked(value)) return value[MARK];
  const entries = Object.entries(value).map(([key, each]) => {
    return [key, staysInCalls && key === 'inbound_nodes' ? each : unmarked(each, staysInCalls)] as const;
  });
  return Object.fromEntries(entries);
}

/** Reads a model in JSON; numbers in calls that are written as floats stay marked. */
export function parseMarked(text: string): unknown {
  const plain = (): unknown => JSON.parse(/Infinity|NaN/.test(text) ? text.replace(BEYOND, readable) : text);
  if (!text.includes('"inbound_nodes"')) return plain();
  const value: unknown = JSON.parse(text.replace(TOKENS, mark));
  return isDeeperThan(value, DEEPEST) ? plain() : unmarked(value, true);
}

/** What a call holds, with marked numbers as tensors of floats, or as numbers like any other. */
export function withFloats(value: unknown, areTensors: boolean): unknown {
  if (!areTensors) return unmarked(value, false);
  if (Array.isArray(value)) return value.map((each) => withFloats(each, true));
  if (!isRecord(value)) return value;
  if (isMarked(value)) return { class_name: '__tensor__', config: { value: value[MARK], dtype: 'float32' } };
  // Tensors that are written whole say their dtype.
  if (typeof value['class_name'] === 'string') return unmarked(value, false);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withFloats(each, true)]));
}
