import { runBothWays } from './both_ways.js';
import { compareRuns } from './compare.js';
import type { SpecLine } from './spec_run.js';
import { coreSpecs } from './tfjs_core.js';

const runs = (statuses: Record<string, string>): Map<string, SpecLine> =>
  new Map(Object.entries(statuses).map(([name, status]) => [name, { name, status, message: `${name} ${status}` }]));

describe('compareRuns', () => {
  it('tells what differs, and what is meant to', () => {
    const before = runs({ a: 'passed', b: 'passed', c: 'failed', d: 'passed', e: 'failed', f: 'pending' });
    const after = runs({ a: 'passed', b: 'failed', c: 'passed', e: 'failed', f: 'pending', g: 'passed' });
    const meant = [
      { suite: 'x', spec: 'c', gained: 'c failed', reason: 'gains' },
      { suite: 'x', spec: 'b', gained: 'b passed', reason: 'b is no gain' },
      { suite: 'y', spec: 'd', reason: 'of another suite' },
    ];
    const report = compareRuns('x on cpu', before, after, meant);
    expect(report.failures.map(({ name }) => name)).toEqual(['b', 'd', 'g']);
    expect(report.deliberate).toEqual({ c: 'gains' });
    expect([report.cases, report.passed]).toEqual([7, 1]);
    expect(report.notRun.map(({ what }) => what)).toEqual(['e', 'f']);
  });
});

describe('specs of tfjs-core', () => {
  it('run the same with the package: a sample on cpu', async () => {
    const names = ['ops/gather_test', 'ops/argmax_test', 'ops/arg_max_test', 'gradients_test', 'variable_test'];
    const specs = Object.fromEntries(Object.entries(coreSpecs()).filter(([name]) => names.includes(name)));
    const [report] = await runBothWays(
      'tfjs-core',
      { specs, checkout: null },
      { backends: ['cpu'], texts: [] },
      () => {},
    );
    expect(report!.failures).toEqual([]);
    expect(report!.passed).toBeGreaterThan(50);
  });
});
