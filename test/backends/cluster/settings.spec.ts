/** Addresses of servers, as arguments and from the environment. */
import { readClusterSettings } from '../../../src/backends/cluster/settings.js';
import { ArgumentTypeError, ValueError } from '../../../src/base/errors.js';

describe('The settings of a cluster', () => {
  let before: string | undefined;
  beforeEach(() => (before = process.env['TF_CONFIG']));
  afterEach(() => {
    if (before === undefined) delete process.env['TF_CONFIG'];
    else process.env['TF_CONFIG'] = before;
  });

  it('take names, addresses of both kinds and ports', () => {
    const { ps } = readClusterSettings({ ps: ['ps-0.ctr:1', '10.0.0.1:65535', '[fe80::1]:2222'] });
    expect(ps).toEqual([
      { host: 'ps-0.ctr', port: 1 },
      { host: '10.0.0.1', port: 65535 },
      { host: 'fe80::1', port: 2222 },
    ]);
  });

  for (const wrong of ['h:0', 'h:65536', 'h:123456', 'h', ':1', 'fe80::1:22', '[h]:1', 'h:1/x', 'grpc://h:1', 'h :1']) {
    it(`refuse ${wrong}`, () => {
      expect(() => readClusterSettings({ ps: ['a:1', wrong] })).toThrowError(ValueError, /ps\[1\]/);
    });
  }

  it('refuse one address twice', () => {
    expect(() => readClusterSettings({ ps: ['a:1', 'b:1', 'a:1'] })).toThrowError(ValueError, /ps\[2\].*another/);
  });

  it('come from TF_CONFIG where none are given', () => {
    process.env['TF_CONFIG'] = JSON.stringify({ cluster: { ps: ['a:1'], table_servers: ['b:2'] } });
    expect(readClusterSettings({}).ps).toEqual([{ host: 'a', port: 1 }]);
    expect(readClusterSettings({ job: 'table_servers' }).ps).toEqual([{ host: 'b', port: 2 }]);
    expect(readClusterSettings({ ps: ['c:3'] }).ps).toEqual([{ host: 'c', port: 3 }]);
    expect(() => readClusterSettings({ job: 'worker' })).toThrowError(ValueError, /TF_CONFIG/);
    process.env['TF_CONFIG'] = '{';
    expect(() => readClusterSettings({})).toThrowError(ValueError, /TF_CONFIG/);
    delete process.env['TF_CONFIG'];
    expect(() => readClusterSettings({})).toThrowError(ArgumentTypeError, /no environment variable TF_CONFIG/);
  });

  it('take names that TensorFlow takes', () => {
    for (const name of ['a', '0', 'ctr-1.b']) expect(readClusterSettings({ ps: ['a:1'], name }).name).toBe(name);
    for (const name of ['', '-a', 'a/b', 'a b', 'ä']) {
      expect(() => readClusterSettings({ ps: ['a:1'], name })).toThrowError(ValueError, /name/);
    }
  });
});
