#!/usr/bin/env node
// @ts-check
/**
 * The declared types of dist beside those of the last release. What breaks must be listed in tools/release/deliberate.json,
 * each with its reason, and the version that CHANGELOG.md announces must be one that may break.
 */
import { fileURLToPath } from 'node:url';
import { announced } from '../../tools/release/changelog.mjs';
import * as api from '../../tools/release/api/comparison.mjs';
import { reportsOf } from '../../tools/release/api/reports.mjs';

const last = api.lastRelease();
const breaks = api.allBreaks(
  api.releasedReports(last),
  reportsOf(fileURLToPath(new URL('../../dist/', import.meta.url))),
);
const { unlisted, unused } = api.withoutListed(breaks, api.deliberate());
const head = announced();
const problem = api.announcementProblem(last, breaks.length > 0, head);

for (const { what, how } of unlisted) console.error(`breaks ${last}: ${what} ${how}`);
if (unlisted.length > 0) console.error('List what is meant in tools/release/deliberate.json, with the reason.');
for (const { what } of unused) console.error(`tools/release/deliberate.json: nothing breaks at ${what}`);
if (problem !== null) {
  console.error(problem);
  for (const { what, how } of breaks) console.error(`  ${what} ${how}`);
}
console.log(
  `declared types: ${breaks.length} breaks of ${last}, ${unlisted.length} not listed, next is ${head.version}`,
);
if (unlisted.length > 0 || unused.length > 0 || problem !== null) process.exitCode = 1;
